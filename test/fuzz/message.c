/*
 * message.c
 *		libFuzzer driver of what the worker reads from cudal1-measure: a line is progress or a result only if it is a
 *		JSON object in UTF-8 that says so. `make sanitize` builds and runs it.
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *line = malloc(size + 1);
	Cudal1Message message;
	json_t	   *document;

	memcpy(line, data, size);
	line[size] = '\0';
	message = cudal1_message_read(line, size);
	HOLDS(memcmp(line, data, size) == 0);
	if (message.type != CUDAL1_MESSAGE_INVALID)
	{
		/* jansson refuses what is too deep or too large a number; what it accepts must say the same */
		document = json_loadb(line, size, 0, NULL);
		if (document)
		{
			const char *said = json_string_value(json_object_get(document, "type"));

			HOLDS(said && strcmp(said, message.type == CUDAL1_MESSAGE_RESULT ? "result" : "progress") == 0);
		}
		json_decref(document);
	}
	else
		HOLDS(!message.waiting && !message.cancelled);
	free(line);
	free_pieces();
	return 0;
}
