/*
 * answer.c
 *		What a model's server sends reads the same however the network cuts it into pieces: each
 *		body of test/data/endpoints.jsonl, whole and in pieces of 1, 2, 7 and 64 bytes.
 */
#define _GNU_SOURCE
#include "../../runner/generate/answer.c"
#include "../../runner/common/text.c"
#include "../../src/buffer.c"

#include "tap.h"

static Answer
read_body(const char *data, size_t length, size_t piece)
{
	Answer		answer = {.max_text = 1 << 20, .max_body = 1 << 20, .report = json_object()};

	for (size_t at = 0; at < length; at += piece)
		if (!answer_feed(&answer, data + at, piece < length - at ? piece : length - at))
			break;
	answer_end(&answer, true);
	return answer;
}

static bool
same(const Answer *a, const Answer *b)
{
	return strcmp(a->outcome, b->outcome) == 0 && json_equal(a->report, b->report)
		&& a->text.length == b->text.length
		&& (a->text.length == 0 || memcmp(a->text.data, b->text.data, a->text.length) == 0);
}

int
main(void)
{
	static const size_t pieces[] = {1, 2, 7, 64};
	FILE	   *file = fopen("test/data/endpoints.jsonl", "r");
	char	   *line = NULL;
	size_t		room = 0;
	int			cases = 0;

	while (file && getline(&line, &room, file) > 0)
	{
		json_t	   *one = json_loads(line, 0, NULL);
		json_t	   *steps = json_object_get(one, "send");
		Cudal1Buffer body = {0};
		bool		good = true;
		Answer		whole;

		for (size_t i = 1; i < json_array_size(steps); i++)
		{
			const char *text = json_string_value(json_array_get(steps, i));

			/* a byte above 127 is a character of two bytes there */
			for (; text && *text; text += (*text & 0x80) ? 2 : 1)
			{
				char		high = (char) ((text[0] & 3) << 6 | (text[1] & 0x3f));

				cudal1_buffer_append(&body, *text & 0x80 ? &high : text, 1);
			}
		}
		whole = read_body(body.data, body.length, body.length + 1);
		for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		{
			Answer		cut = read_body(body.data, body.length, pieces[i]);

			good = good && same(&whole, &cut);
		}
		check(good, json_string_value(json_object_get(one, "name")));
		cases++;
		cudal1_buffer_free(&body);
		json_decref(one);
	}
	check(cases > 50, "there are cases");
	return done();
}
