/*
 * answer.c
 *		Reading a model's answer.
 *
 * Servers differ in what they send, whatever they were asked for and whatever type they name: a
 * JSON document, a stream of server-sent events, a document within an event, an event behind a
 * document. So a body is read by its bytes. Lines that begin with "data:", and those of a JSON
 * document without it, are data, and data is JSON values and [DONE]. It is taken as soon as its
 * braces are closed.
 *
 * An answer is complete when a document ended, when a stream gave a reason for its end that the API
 * names, or when it said [DONE] after some text. After [DONE] alone the connection must end as it
 * should, too, because llama-cpp-python's server says [DONE] and hangs up when another request
 * interrupts one.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"
#include "generate/generate.h"

#define BLANKS " \t\n"
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_REASON 64

void
answer_close(Answer *answer, const char *outcome, const char *words)
{
	char		detail[512];

	answer->outcome = outcome;
	text_clean(detail, sizeof(detail), words, strlen(words));
	if (detail[0] != '\0')
		json_object_set_new(answer->report, "detail", json_string(detail));
}

/* whether a value says anything: null, false, 0, "", "null", [], {} and {"message": ""} do not */
static bool
has_content(json_t *value)
{
	const char *text = json_string_value(value);
	const char *name;
	json_t	   *member;

	json_object_foreach(value, name, member)
		if (has_content(member))
			return true;
	return json_is_true(value) || json_number_value(value) != 0 || json_array_size(value) > 0
		|| (text != NULL && text[strspn(text, BLANKS)] != '\0' && strcasecmp(text, "null") != 0
			&& strcasecmp(text, "none") != 0);
}

/* ends an answer by what an endpoint says of an error, which may mean what status 429 does */
static void
fail(Answer *answer, const json_t *document)
{
	/* quotes within a message are escaped, so no message is taken for these */
	static const char *const throttled[] = {"\"error\":\"429", "\"code\":429", "\"code\":\"429",
		"\"code\":529", "\"status\":429", "\"status_code\":429", "\":\"rate_limit",
		"\":\"too_many_requests", "\":\"overloaded_error\"", "\":\"resource_exhausted\""};
	char	   *words = json_dumps(document, JSON_COMPACT);

	answer_close(answer, text_mentions(words, throttled, LENGTH(throttled)) ? "throttled"
				 : "broken", words);
	free(words);
}

/* takes a text, or the parts of one */
static void
take_content(Answer *answer, json_t *content)
{
	const char *data = json_string_value(content);
	size_t		length = json_string_length(content);
	size_t		left = answer->max_text - answer->text.length;
	size_t		i;
	json_t	   *part;

	json_array_foreach(content, i, part)
		if (answer->outcome == NULL)
			take_content(answer, json_object_get(part, "text"));
	if (length > left)
	{
		/* the model's fault, not the endpoint's: an answer, cut off between two characters */
		for (length = left; length > 0 && ((unsigned char) data[length] & 0xc0) == 0x80;)
			length--;
		json_object_set_new(answer->report, "finish_reason", json_string("max_answer_bytes"));
		answer_close(answer, "answered", "the text is longer than the model's max_answer_bytes");
	}
	cudal1_buffer_append(&answer->text, data, length);
}

/* takes one completion, or one piece of a stream */
static void
take_document(Answer *answer, json_t *document)
{
	static const char *const counts[] = {"prompt_tokens", "completion_tokens"};
	static const char *const ends[] = {"stop", "length", "content_filter", "tool_calls",
		"function_call"};
	json_t	   *usage = json_object_get(document, "usage");
	json_t	   *choices = json_object_get(document, "choices");
	json_t	   *choice = json_array_get(choices, 0);
	json_t	   *reason = json_object_get(choice, "finish_reason");
	json_t	   *delta = json_object_get(choice, "delta");
	json_t	   *message = json_object_get(choice, "message");

	if (has_content(json_object_get(document, "error")) || answer->error_event
		|| (choices == NULL && (has_content(json_object_get(document, "message"))
								|| has_content(json_object_get(document, "detail"))
								|| has_content(json_object_get(document, "details")))))
	{
		/* An answer that has finished is not spoilt by an error behind it. */
		if (!answer->finished)
			fail(answer, document);
		return;
	}
	for (size_t i = 0; i < LENGTH(counts); i++)
		if (json_is_integer(json_object_get(usage, counts[i])))
			json_object_set(answer->report, counts[i], json_object_get(usage, counts[i]));
	if (json_is_string(reason) && has_content(reason) && json_string_length(reason) < MAX_REASON)
	{
		json_object_set(answer->report, "finish_reason", reason);
		for (size_t i = 0; i < LENGTH(ends); i++)
			answer->finished |= strcasecmp(json_string_value(reason), ends[i]) == 0;
	}
	if (json_is_object(delta))
		take_content(answer, json_object_get(delta, "content"));
	else if (json_is_object(message))
	{
		answer->finished = true;
		/* some streams end by a message that repeats all their pieces */
		if (answer->text.length == 0)
			take_content(answer, json_object_get(message, "content"));
	}
	answer->complete |= answer->finished;
}

/* takes the JSON values and the [DONE] of data */
static void
take_data(Answer *answer)
{
	size_t		length;
	char	   *data = text_repair(answer->data.data, answer->data.length, true, &length);
	const char *at = data;

	while (answer->outcome == NULL && *(at += strspn(at, BLANKS)) != '\0')
	{
		json_error_t error = {.position = 6};
		json_t	   *value = NULL;

		if (strncmp(at, "data:", 5) == 0)
			error.position = 5;
		else if (strncasecmp(at, "[DONE]", 6) == 0)
			answer->complete |= answer->text.length > 0;
		else if ((value = json_loadb(at, data + length - at, JSON_DISABLE_EOF_CHECK, &error)))
			take_document(answer, value);
		else if (answer->finished)
			break;
		else
			answer_close(answer, strncmp(at, "429", 3) == 0 ? "throttled" : "broken",
				answer->error_event ? at : "the body is no JSON of a chat completion");
		json_decref(value);
		at += error.position;
	}
	free(data);
	answer->data.length = 0;
	answer->depth = 0;
	answer->error_event = answer->quoted = answer->escaped = false;
}

/* takes the line that has ended; a NUL stands behind it */
static void
take_line(Answer *answer)
{
	const char *line = answer->line.data;
	const char *stop = line + answer->line.length;
	bool		is_data;

	answer->line.length = 0;
	/* the mark of a byte order */
	if (strncmp(line, "\xef\xbb\xbf", 3) == 0)
		line += 3;
	line += strspn(line, BLANKS);
	is_data = strncmp(line, "data:", 5) == 0;
	if (is_data)
		line += 5 + strspn(line + 5, BLANKS);
	if (!is_data && strncmp(line, "event:", 6) == 0)
		answer->error_event = strncmp(line + 6 + strspn(line + 6, BLANKS), "error", 5) == 0;
	/* other lines mean nothing: comments, for instance, keep a connection alive */
	else if (is_data || line[0] == '{' || line[0] == '['
			 || (answer->data.length > 0 && line[0] != ':'))
	{
		cudal1_buffer_append(&answer->data, line, stop - line);
		cudal1_buffer_append(&answer->data, "\n", 1);
		for (; line < stop; line++)
		{
			if (answer->escaped || *line == '\\')
				answer->escaped = !answer->escaped && answer->quoted;
			else if (*line == '"')
				answer->quoted = !answer->quoted;
			else if (!answer->quoted)
				answer->depth += (*line == '{' || *line == '[') - (*line == '}' || *line == ']');
		}
		if (answer->depth <= 0)
			take_data(answer);
	}
}

bool
answer_feed(Answer *answer, const char *data, size_t length)
{
	/* the first max_body bytes count, however they come in pieces */
	size_t		left = answer->max_body - answer->body_bytes;
	bool		over = length > left;
	const char *stop = data + (over ? left : length);

	answer->body_bytes += stop - data;
	while (answer->outcome == NULL && data < stop)
	{
		const char *from = data;

		/* a line ends by a newline, a carriage return, or both, which adds an empty line */
		while (data < stop && *data != '\n' && *data != '\r')
			data++;
		cudal1_buffer_append(&answer->line, from, data - from);
		if (data++ < stop)
			take_line(answer);
	}
	if (over && answer->outcome == NULL && answer->complete)
		answer_close(answer, "answered", "the body did not end with the answer");
	else if (over && answer->outcome == NULL)
		answer_close(answer, "oversized", "the body is longer than the model's max_body_bytes");
	return answer->outcome == NULL;
}

void
answer_end(Answer *answer)
{
	const char *reason;

	if (answer->outcome == NULL && answer->line.length > 0)
		take_line(answer);
	if (answer->outcome == NULL)
		take_data(answer);
	if (answer->outcome != NULL)
		return;
	reason = json_string_value(json_object_get(answer->report, "finish_reason"));
	if (!answer->complete)
		answer_close(answer, "broken", "the body ended before a chat completion did");
	else
		answer_close(answer, "answered", answer->text.length == 0 && reason != NULL
					 && strcasecmp(reason, "length") == 0
					 ? "the tokens were used up before the answer began" : "");
}
