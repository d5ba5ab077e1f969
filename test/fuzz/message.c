/*
 * message.c
 *		libFuzzer driver of what the worker reads from cudal1-measure: a line is progress or a result only if it is a JSON object in
 *		UTF-8 that says so, and what the worker writes itself is one whatever its detail holds. `make sanitize` builds and runs it.
 */
#include "server.h"

/* the server has a function of that name */
#define json_object jansson_object
#include <jansson.h>
#undef json_object

#include "../../bgworker/message.c"

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size least, Size first, Size most)
{
	return parent;
}

void
MemoryContextDelete(MemoryContext context)
{
}

void
FlushErrorState(void)
{
}

void
pg_re_throw(void)
{
	abort();
}

/* as the server's, in characters */
int
pg_mbcliplen(const char *text, int length, int limit)
{
	int			at = 0;

	while (at < length)
	{
		int			n = pg_encoding_mblen(PG_UTF8, text + at);

		if (at + n > limit || at + n > length)
			break;
		at += n;
	}
	return at;
}

void
escape_json(StringInfo out, const char *text)
{
	appendStringInfoCharMacro(out, '"');
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			appendStringInfo(out, "\\%c", *text);
		else if ((unsigned char) *text < ' ')
			appendStringInfo(out, "\\u%04x", *text);
		else
			appendStringInfoCharMacro(out, *text);
	appendStringInfoCharMacro(out, '"');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *line = malloc(size + 1);
	bool		waiting;
	Cudal1MessageType type;
	json_t	   *document;
	char	   *result;

	memcpy(line, data, size);
	line[size] = '\0';
	type = cudal1_message_classify(line, (int) size, &waiting);
	HOLDS(memcmp(line, data, size) == 0);
	if (type != CUDAL1_MESSAGE_INVALID)
	{
		/* jansson refuses what is too deep or too large a number; what it accepts must say the same */
		document = json_loadb(line, size, 0, NULL);
		if (document)
		{
			const char *said = json_string_value(json_object_get(document, "type"));

			HOLDS(said && strcmp(said, type == CUDAL1_MESSAGE_RESULT ? "result" : "progress") == 0);
		}
		json_decref(document);
	}
	else
		HOLDS(!waiting || size > 0);
	if (pg_encoding_verifymbstr(PG_UTF8, line, (int) strlen(line)) == (int) strlen(line))
	{
		result = cudal1_message_result("lost", line);
		document = json_loads(result, 0, NULL);
		HOLDS(document != NULL && strlen(json_string_value(json_object_get(document, "detail"))) <= MAX_DETAIL);
		json_decref(document);
		HOLDS(cudal1_message_classify(result, (int) strlen(result), &waiting) == CUDAL1_MESSAGE_RESULT);
	}
	free(line);
	free_pieces();
	return 0;
}
