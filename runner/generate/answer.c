/*
 * Reading answers. Servers differ in what they leave out: the closing [DONE], usage, the stream
 * itself where one was asked for. A stream counts as complete when it gave a reason for its end, or
 * said [DONE] after some text and then ended as its connection should (llama-cpp-python's server
 * says [DONE] and hangs up when another request interrupts one); a document when it parses.
 */
#include "generate/answer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

static const char replacement[] = "\xef\xbf\xbd";

void
cudal1_answer_append(Cudal1Buffer *buffer, const char *data, size_t length)
{
	cudal1_buffer_append(buffer, data, length);
	if (buffer->lost)
	{
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
}

/* the code unit of an escape \uXXXX at data, -1 if there is none */
static int
unit(const char *data, size_t left)
{
	char		digits[5] = "";

	if (left < 6 || data[0] != '\\' || data[1] != 'u')
		return -1;
	memcpy(digits, data + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? (int) strtol(digits, NULL, 16) : -1;
}

char *
cudal1_text_repair(const char *data, size_t length, bool escapes, size_t *repaired_length)
{
	Cudal1Buffer out = {0};
	size_t		i = 0;

	cudal1_answer_append(&out, "", 0);
	while (i < length)
	{
		size_t		n = text_character(data + i, length - i);

		if (n == 0 || data[i] == '\0')
		{
			cudal1_answer_append(&out, replacement, 3);
			i++;
		}
		else if (escapes && data[i] == '\\')
		{
			int			first = unit(data + i, length - i);
			int			second = first >= 0xd800
				&& first <= 0xdbff ? unit(data + i + 6, length - i - 6) : -1;

			if (second >= 0xdc00 && second <= 0xdfff)
				n = 12;
			else if (first == 0 || (first >= 0xd800 && first <= 0xdfff))
			{
				cudal1_answer_append(&out, "\\ufffd", 6);
				i += 6;
				continue;
			}
			else
				n = length - i < 2 ? 1 : 2;
			/* what follows a backslash may itself be a NUL, or begin a broken character */
			if (n == 2 && (data[i + 1] == '\0' || (unsigned char) data[i + 1] >= 0x80))
				n = 1;
			cudal1_answer_append(&out, data + i, n);
			i += n;
		}
		else
		{
			cudal1_answer_append(&out, data + i, n);
			i += n;
		}
	}
	*repaired_length = out.length;
	return out.data;
}

void
cudal1_answer_begin(Answer *answer, size_t max_text, size_t max_body)
{
	memset(answer, 0, sizeof(*answer));
	answer->max_text = max_text;
	answer->max_body = max_body;
	answer->prompt_tokens = answer->completion_tokens = -1;
	cudal1_answer_append(&answer->text, "", 0);
}

static bool
fail(Answer *answer, const char *outcome, const char *detail)
{
	if (answer->outcome == NULL)
	{
		answer->outcome = outcome;
		snprintf(answer->detail, sizeof(answer->detail), "%s", detail);
	}
	return false;
}

static bool
take_text(Answer *answer, const json_t *text)
{
	const char *data = json_string_value(text);
	size_t		length = json_string_length(text);

	if (answer->text.length + length > answer->max_text)
	{
		length = answer->max_text - answer->text.length;
		while (length > 0 && ((unsigned char) data[length] & 0xc0) == 0x80)
			length--;
		cudal1_answer_append(&answer->text, data, length);
		/* the model's fault, not the endpoint's: an answer, cut off */
		snprintf(answer->finish_reason, sizeof(answer->finish_reason), "max_answer_bytes");
		return fail(answer, "answered", "the text is longer than the model's max_answer_bytes");
	}
	cudal1_answer_append(&answer->text, data, length);
	return true;
}

static void
take_count(long long *count, const json_t *value)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		*count = json_integer_value(value);
}

/* one completion, or one piece of a stream */
static bool
take_document(Answer *answer, const char *data, size_t length)
{
	json_error_t error;
	size_t		repaired_length;
	char	   *repaired = cudal1_text_repair(data, length, true, &repaired_length);
	json_t	   *document = json_loadb(repaired, repaired_length, 0, &error);
	json_t	   *problem;
	json_t	   *usage;
	json_t	   *choice;
	json_t	   *reason;
	json_t	   *text;
	bool		good = true;

	free(repaired);
	if (!json_is_object(document))
	{
		json_decref(document);
		return fail(answer, "broken", "the body is no JSON of a chat completion");
	}
	problem = json_object_get(document, "error");
	if (problem != NULL && !json_is_null(problem))
	{
		char	   *words = json_dumps(problem, JSON_ENCODE_ANY | JSON_COMPACT);

		(void) fail(answer, "broken", words != NULL ? words : "an error without words");
		free(words);
		json_decref(document);
		return false;
	}
	usage = json_object_get(document, "usage");
	take_count(&answer->prompt_tokens, json_object_get(usage, "prompt_tokens"));
	take_count(&answer->completion_tokens, json_object_get(usage, "completion_tokens"));
	choice = json_array_get(json_object_get(document, "choices"), 0);
	reason = json_object_get(choice, "finish_reason");
	if (json_is_string(reason))
	{
		snprintf(answer->finish_reason, sizeof(answer->finish_reason), "%s",
				 json_string_value(reason));
		answer->finished = true;
	}
	text = json_object_get(json_object_get(choice, answer->events ? "delta" : "message"),
						   "content");
	if (json_is_string(text))
		good = take_text(answer, text);
	else if (!answer->events && !json_is_object(json_object_get(choice, "message")))
		good = fail(answer, "broken", "the body has no choices[0].message");
	json_decref(document);
	return good;
}

static bool
end_event(Answer *answer)
{
	bool		good = true;

	if (answer->event.length > 0)
	{
		if (strcmp(answer->event.data, "[DONE]") == 0)
			answer->done = true;
		else
			good = take_document(answer, answer->event.data, answer->event.length);
	}
	answer->event.length = 0;
	return good;
}

static bool
take_line(void *owner, const char *line, size_t length)
{
	Answer	   *answer = owner;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0)
		return end_event(answer);
	if (length >= 5 && memcmp(line, "data:", 5) == 0)
	{
		line += 5;
		length -= 5;
		if (length > 0 && line[0] == ' ')
		{
			line++;
			length--;
		}
		if (answer->event.length > 0)
			cudal1_answer_append(&answer->event, "\n", 1);
		cudal1_answer_append(&answer->event, line, length);
	}
	/* comments keep a connection alive; other fields mean nothing here */
	return true;
}

bool
cudal1_answer_feed(Answer *answer, const char *data, size_t length)
{
	bool		over = length > answer->max_body - answer->body_bytes;
	static const char too_long[] = "the body is longer than the model's max_body_bytes";

	/* the first max_body bytes count, however they come in pieces */
	if (over)
		length = answer->max_body - answer->body_bytes;
	answer->body_bytes += length;
	cudal1_answer_append(&answer->raw, data, length);
	if (!answer->events)
		return over ? fail(answer, "oversized", too_long) : true;
	if (!cudal1_buffer_take_lines(&answer->raw, answer, take_line))
		return false;
	if (over && answer->finished)
		return fail(answer, "answered", "the body did not end with the answer");
	return over ? fail(answer, "oversized", too_long) : true;
}

void
cudal1_answer_end(Answer *answer)
{
	if (answer->outcome != NULL)
		return;
	if (!answer->events)
	{
		if (take_document(answer, answer->raw.data == NULL ? "" : answer->raw.data,
						  answer->raw.length))
			answer->outcome = "answered";
		return;
	}
	if (answer->raw.length > 0 && !take_line(answer, answer->raw.data, answer->raw.length))
		return;
	if (!end_event(answer))
		return;
	if (answer->finished || (answer->done && answer->text.length > 0))
		answer->outcome = "answered";
	else
		(void) fail(answer, "broken", "the stream ended before the answer did");
}

void
cudal1_answer_free(Answer *answer)
{
	cudal1_buffer_free(&answer->raw);
	cudal1_buffer_free(&answer->event);
	cudal1_buffer_free(&answer->text);
}
