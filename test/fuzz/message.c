/*
 * message.c
 *		libFuzzer driver of what worker and agent read from cudal1-measure: any bytes are a line without an overrun, and
 *		a document whose type is progress or result for one parser is so for the other. `make sanitize` builds and runs it.
 */
#include <jansson.h>
#include <stdio.h>

#include "../../src/message.c"

#define HOLDS(condition) \
	do { if (!(condition)) { fprintf(stderr, "does not hold: %s\n", #condition); abort(); } } while (0)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *line = malloc(size + 1);
	Cudal1Message message;
	json_t	   *document;

	memcpy(line, data, size);
	line[size] = '\0';
	message = cudal1_message_read(line, size);
	document = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (message.type != CUDAL1_MESSAGE_INVALID && document)
	{
		const char *said = json_string_value(json_object_get(document, "type"));

		HOLDS(said && strcmp(said, message.type == CUDAL1_MESSAGE_RESULT ? "result" : "progress") == 0);
	}
	json_decref(document);
	free(line);
	return 0;
}
