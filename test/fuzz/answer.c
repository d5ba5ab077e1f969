/*
 * answer.c
 *		libFuzzer driver of what a model's server answers: cut into pieces anyhow it reads the same, within its bounds, and the text is
 *		UTF-8 without NUL. `make sanitize` builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../../runner/generate/answer.h"

#define MAX_TEXT	512
#define MAX_BODY	8192

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition) do { if (!(condition)) { fprintf(stderr, "broken: %s\n", #condition); abort(); } } while (0)

static void
read_answer(Answer *answer, bool events, const char *data, size_t size, size_t piece)
{
	cudal1_answer_begin(answer, MAX_TEXT, MAX_BODY);
	answer->events = events;
	for (size_t at = 0; at < size; at += piece)
		if (!cudal1_answer_feed(answer, data + at, piece < size - at ? piece : size - at))
			break;
	cudal1_answer_end(answer);
	HOLDS(answer->outcome != NULL);
	HOLDS(answer->text.length <= MAX_TEXT + 4);
	if (answer->text.length > 0)
	{
		json_t	   *text = json_stringn(answer->text.data, answer->text.length);

		HOLDS(text != NULL && strlen(answer->text.data) == answer->text.length);
		json_decref(text);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Answer		whole,
				pieces;
	size_t		length;
	char	   *copy;
	char	   *repaired;
	json_t	   *text;

	if (size < 2)
		return 0;
	copy = malloc(size - 1);
	memcpy(copy, data + 1, size - 1);
	read_answer(&whole, data[0] % 2, copy, size - 1, size - 1);
	read_answer(&pieces, data[0] % 2, copy, size - 1, data[0] / 4 + 1);
	HOLDS(strcmp(whole.outcome, pieces.outcome) == 0);
	if (strcmp(whole.outcome, "answered") == 0)
		HOLDS(whole.text.length == pieces.text.length && memcmp(whole.text.data, pieces.text.data, whole.text.length) == 0
			  && strcmp(whole.finish_reason, pieces.finish_reason) == 0);
	cudal1_answer_free(&whole);
	cudal1_answer_free(&pieces);
	repaired = cudal1_text_repair(copy, size - 1, data[0] / 2 % 2, &length);
	text = json_stringn(repaired, length);
	HOLDS(text != NULL && strlen(repaired) == length);
	json_decref(text);
	free(repaired);
	free(copy);
	return 0;
}
