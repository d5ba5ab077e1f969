/*
 * answer.c
 *		libFuzzer driver of what a model's server answers: cut into pieces anyhow it reads the same, within its bounds, and the text is
 *		UTF-8 without NUL. `make sanitize` builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate/generate.h"

#define MAX_TEXT	512
#define MAX_BODY	8192

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition) do { if (!(condition)) { fprintf(stderr, "broken: %s\n", #condition); abort(); } } while (0)

static Answer
read_body(const char *data, size_t size, size_t piece)
{
	Answer		answer = {.max_text = MAX_TEXT, .max_body = MAX_BODY, .report = json_object()};

	for (size_t at = 0; at < size; at += piece)
		if (!answer_feed(&answer, data + at, piece < size - at ? piece : size - at))
			break;
	answer_end(&answer, true);
	HOLDS(answer.outcome != NULL);
	HOLDS(answer.text.length <= MAX_TEXT);
	if (answer.text.length > 0)
	{
		json_t	   *text = json_stringn(answer.text.data, answer.text.length);

		HOLDS(text != NULL && strlen(answer.text.data) == answer.text.length);
		json_decref(text);
	}
	return answer;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *body = (const char *) data + 1;
	Answer		whole,
				pieces;

	if (size < 2)
		return 0;
	whole = read_body(body, size - 1, size);
	pieces = read_body(body, size - 1, data[0] / 4 + 1);
	HOLDS(strcmp(whole.outcome, pieces.outcome) == 0 && json_equal(whole.report, pieces.report));
	HOLDS(whole.text.length == pieces.text.length);
	HOLDS(whole.text.length == 0 || memcmp(whole.text.data, pieces.text.data, whole.text.length) == 0);
	answer_free(&whole);
	answer_free(&pieces);
	return 0;
}
