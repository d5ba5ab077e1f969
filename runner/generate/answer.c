/*
 * answer.c
 *		Reading a model's answer.
 *
 * Servers differ in what they send, whatever they were asked for and whatever type they name: a
 * JSON document, a stream of server-sent events, a document within an event, an event behind a
 * document. So a body is read by its bytes. Lines that begin with "data:", and those of a JSON
 * document without it, are the data of an event, and that is JSON values and [DONE]. An event ends
 * by an empty line or by the next one's data, once its braces are closed.
 *
 * An answer is complete when a document ended, when a stream gave a reason for its end that the API
 * names, or when it said [DONE] after some text. After [DONE] alone the connection must end as it
 * should, too, because llama-cpp-python's server says [DONE] and hangs up when another request
 * interrupts one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"
#include "generate/generate.h"

#define BLANKS " \t\n"
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

bool
answer_complete(const Answer *answer)
{
	return answer->finished || (answer->done && answer->text.length > 0);
}

static bool
end(Answer *answer, const char *outcome, const char *detail)
{
	answer->outcome = outcome;
	snprintf(answer->detail, sizeof(answer->detail), "%s", detail);
	return false;
}

/* ends an answer by what is wrong; what comes behind all of an answer spoils it no more */
static bool
fail(Answer *answer, const char *outcome, const char *detail)
{
	return answer->finished || end(answer, outcome, detail);
}

/* whether a value says anything: null, false, 0, "", "null", {} and {"message": ""} do not */
static bool
has_content(json_t *value)
{
	const char *text = json_string_value(value);
	const char *name;
	size_t		i;
	json_t	   *member;

	json_object_foreach(value, name, member)
		if (has_content(member))
			return true;
	json_array_foreach(value, i, member)
		if (has_content(member))
			return true;
	return json_is_true(value) || json_number_value(value) != 0
		|| (text != NULL && text[strspn(text, BLANKS)] != '\0' && strcasecmp(text, "null") != 0
			&& strcasecmp(text, "none") != 0);
}

/* ends an answer by an error of the endpoint, which may mean what status 429 does */
static bool
fail_by(Answer *answer, const json_t *document, const json_t *error)
{
	/* quotes within a message are escaped, so no message is taken for these */
	static const char *const throttled[] = {"\"error\":\"429", "\"code\":429", "\"code\":\"429",
		"\"code\":529", "\"status\":429", "\"status_code\":429", "\":\"rate_limit",
		"\":\"too_many_requests", "\":\"overloaded_error\"", "\":\"resource_exhausted\""};
	char	   *words = json_dumps(error, JSON_ENCODE_ANY | JSON_COMPACT);
	char	   *all = json_dumps(document, JSON_COMPACT);
	bool		good = fail(answer, text_mentions(all, throttled, LENGTH(throttled)) ? "throttled"
							: "broken", words);

	free(words);
	free(all);
	return good;
}

static void
take_reason(Answer *answer, json_t *reason)
{
	static const char *const ends[] = {"stop", "length", "content_filter", "tool_calls",
		"function_call"};
	const char *name = json_string_value(reason);

	if (name == NULL || !has_content(reason))
		return;
	snprintf(answer->finish_reason, sizeof(answer->finish_reason), "%s", name);
	for (size_t i = 0; i < LENGTH(ends); i++)
		answer->finished |= strcasecmp(name, ends[i]) == 0;
}

/* takes a text, or the parts of one */
static bool
take_content(Answer *answer, json_t *content)
{
	const char *data = json_string_value(content);
	size_t		left = answer->max_text - answer->text.length;
	size_t		length = json_string_length(content);

	for (size_t i = 0; i < json_array_size(content); i++)
		if (!take_content(answer, json_object_get(json_array_get(content, i), "text")))
			return false;
	if (length <= left)
	{
		cudal1_buffer_append(&answer->text, data, length);
		return true;
	}
	/* the model's fault, not the endpoint's: an answer, cut off between two characters */
	while (left > 0 && ((unsigned char) data[left] & 0xc0) == 0x80)
		left--;
	cudal1_buffer_append(&answer->text, data, left);
	strcpy(answer->finish_reason, "max_answer_bytes");
	return end(answer, "answered", "the text is longer than the model's max_answer_bytes");
}

/* takes one completion, or one piece of a stream */
static bool
take_document(Answer *answer, json_t *document)
{
	json_t	   *error = json_object_get(document, "error");
	json_t	   *usage = json_object_get(document, "usage");
	json_t	   *choices = json_object_get(document, "choices");
	json_t	   *choice = json_array_get(choices, 0);
	json_t	   *message = json_object_get(choice, "message");

	if (has_content(error))
		return fail_by(answer, document, error);
	if (answer->error_event
		|| (choices == NULL && (has_content(json_object_get(document, "message"))
								|| has_content(json_object_get(document, "detail"))
								|| has_content(json_object_get(document, "details")))))
		return fail_by(answer, document, document);
	if (json_is_integer(json_object_get(usage, "prompt_tokens")))
		answer->prompt_tokens = json_integer_value(json_object_get(usage, "prompt_tokens"));
	if (json_is_integer(json_object_get(usage, "completion_tokens")))
		answer->completion_tokens = json_integer_value(json_object_get(usage, "completion_tokens"));
	take_reason(answer, json_object_get(choice, "finish_reason"));
	if (json_is_object(json_object_get(choice, "delta")))
		message = json_object_get(choice, "delta");
	else if (json_is_object(message))
	{
		answer->finished = true;
		/* some streams end by a message that repeats all their pieces */
		if (answer->text.length > 0)
			return true;
	}
	return take_content(answer, json_object_get(message, "content"));
}

/* takes the JSON values and the [DONE] of an event's data */
static bool
take_values(Answer *answer, const char *data, size_t length)
{
	const char *at = data;
	bool		good = true;

	while (good && *(at += strspn(at, BLANKS)) != '\0')
	{
		json_error_t error = {.position = 6};
		json_t	   *value = NULL;

		if (strncmp(at, "data:", 5) == 0)
			error.position = 5;
		else if (strncasecmp(at, "[DONE]", 6) == 0)
			answer->done = true;
		else if ((value = json_loadb(at, data + length - at, JSON_DISABLE_EOF_CHECK, &error)))
			good = take_document(answer, value);
		else
			return fail(answer, strncmp(at, "429", 3) == 0 ? "throttled" : "broken",
						answer->error_event ? at : "the body is no JSON of a chat completion");
		json_decref(value);
		at += error.position;
	}
	return good;
}

static bool
end_event(Answer *answer)
{
	size_t		length;
	char	   *data = text_repair(answer->event.data, answer->event.length, true, &length);
	bool		good = take_values(answer, data, length);

	free(data);
	answer->event.length = 0;
	answer->depth = 0;
	answer->error_event = answer->quoted = answer->escaped = false;
	return good;
}

/* whether there is data of an event, and all its braces are closed */
static bool
is_whole(const Answer *answer)
{
	return answer->event.length > 0 && answer->depth <= 0;
}

static void
add_data(Answer *answer, const char *data, size_t length)
{
	cudal1_buffer_append(&answer->event, data, length);
	cudal1_buffer_append(&answer->event, "\n", 1);
	for (size_t i = 0; i < length; i++)
	{
		if (answer->escaped)
			answer->escaped = false;
		else if (data[i] == '\\')
			answer->escaped = answer->quoted;
		else if (data[i] == '"')
			answer->quoted = !answer->quoted;
		else if (!answer->quoted)
			answer->depth += (strchr("{[", data[i]) != NULL) - (strchr("}]", data[i]) != NULL);
	}
}

/* takes the line that has ended; a NUL stands behind it */
static bool
take_line(Answer *answer)
{
	const char *line = answer->line.data;
	const char *stop = line + answer->line.length;

	answer->line.length = 0;
	/* the mark of a byte order */
	if (strncmp(line, "\xef\xbb\xbf", 3) == 0)
		line += 3;
	line += strspn(line, BLANKS);
	if (strncmp(line, "data:", 5) == 0)
	{
		line += 5 + strspn(line + 5, BLANKS);
		/* some servers leave out the empty line between events */
		if (is_whole(answer) && !end_event(answer))
			return false;
		if (line < stop)
			add_data(answer, line, stop - line);
		return true;
	}
	if (strncmp(line, "event:", 6) == 0)
		answer->error_event = strncmp(line + 6 + strspn(line + 6, BLANKS), "error", 5) == 0;
	else if (line[0] == '{' || line[0] == '[' || (answer->depth > 0 && line[0] != ':'))
		add_data(answer, line, stop - line);
	else if (line < stop)
		return true;			/* a comment keeps a connection alive; the rest means nothing */
	return !is_whole(answer) || end_event(answer);
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
		if (data < stop)
			(void) take_line(answer);
		data++;
	}
	if (over && answer->outcome == NULL && answer_complete(answer))
		end(answer, "answered", "the body did not end with the answer");
	else if (over && answer->outcome == NULL)
		end(answer, "oversized", "the body is longer than the model's max_body_bytes");
	return answer->outcome == NULL;
}

void
answer_end(Answer *answer)
{
	if (answer->outcome != NULL || (answer->line.length > 0 && !take_line(answer))
		|| !end_event(answer))
		return;
	if (!answer_complete(answer))
		end(answer, "broken", "the body ended before a chat completion did");
	else
		end(answer, "answered", answer->text.length > 0
			|| strcasecmp(answer->finish_reason, "length") != 0
			? "" : "the tokens were used up before the answer began");
}
