/*
 * answer.c
 *		Reading a model's answer.
 *
 * Servers differ in what they send, whatever they were asked for and whatever type they name: a
 * document, a stream of server-sent events, both. So a body is read by its bytes: lines that begin
 * with "data:", and those of a JSON document, are JSON values and [DONE].
 *
 * A document is complete at its end, and a stream once it gave a reason for its end that servers
 * give to a whole answer, or said [DONE] after some text. After [DONE] alone the connection must
 * end as it should, too, because llama-cpp-python's server also says it of an interrupted answer.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"
#include "generate/generate.h"

#define BLANKS " \t\r\n\xef\xbb\xbf"	/* the last three are the mark of a byte order */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

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
		|| (text && text[0] && strcasecmp(text, "null") != 0 && strcasecmp(text, "none") != 0);
}

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
	static const char ends[] = "stop|length|content_filter|_call|eos|end_turn|max_tokens";
	static const char *const complaints[] = {"error", "errors", "message", "msg", "detail",
		"details"};
	/* an error with one of these means what status 429 does; quotes in its words are escaped */
	static const char throttled[] = "\"error\":\"429|\"code\":\"?429|\"code\":529|"
		"\"status(_code)?\":429|\":\"rate_limit|\":\"too_many_requests|"
		"\":\"(overloaded_error|resource_exhausted)\"";
	json_t	   *usage = json_object_get(document, "usage");
	json_t	   *choices = json_object_get(document, "choices");
	json_t	   *choice = json_array_get(choices, 0);
	json_t	   *delta = json_object_get(choice, "delta");
	json_t	   *message = json_object_get(choice, "message");
	json_t	   *reason = json_object_get(choice, "finish_reason");
	const char *word = has_content(reason) ? json_string_value(reason) : NULL;
	bool		failed = answer->error_event || has_content(json_object_get(choice, "error"))
		|| (word && text_matches(word, "error|abort|insufficient", true));

	for (size_t i = 0; i < (json_is_array(choices) ? 1 : LENGTH(complaints)); i++)
		failed |= has_content(json_object_get(document, complaints[i]));
	if (failed)
	{
		char	   *words = json_dumps(document, JSON_COMPACT);

		/* An answer that has finished is not spoilt by an error behind it. */
		if (!answer->finished)
			answer_close(answer, text_matches(words, throttled, true) ? "throttled" : "broken",
						 words);
		free(words);
		return;
	}
	for (size_t i = 0; i < LENGTH(counts); i++)
		if (json_is_integer(json_object_get(usage, counts[i])))
			json_object_set(answer->report, counts[i], json_object_get(usage, counts[i]));
	answer->finished |= word && text_matches(word, ends, true);
	if (word)
		json_object_set(answer->report, "finish_reason", reason);
	take_content(answer, json_object_get(delta, "content"));
	if (json_is_object(message) && !json_is_object(delta))
	{
		answer->finished = true;
		/* some streams end by a message that repeats all their pieces */
		if (answer->text.length == 0)
			take_content(answer, json_object_get(message, "content"));
	}
	answer->complete |= answer->finished;
	if (word && strcasecmp(word, "length") == 0 && answer->text.length == 0)
		json_object_set_new(answer->report, "detail",
							json_string("the tokens were used up before the answer began"));
}

/* takes the JSON values and the [DONE] of an event; whole: what is no JSON is an error */
static void
take_data(Answer *answer, bool whole)
{
	size_t		length;
	char	   *data = text_repair(answer->data.data, answer->data.length, &length);
	const char *at = data;

	answer->data.length = 0;
	while (answer->outcome == NULL && *(at += strspn(at, BLANKS)) != '\0')
	{
		json_error_t error = {.position = 6};
		json_t	   *value = NULL;

		if (strncmp(at, "data:", 5) == 0)
			error.position = 5;
		else if (strncasecmp(at, "[DONE]", 6) == 0)
			answer->complete |= answer->text.length > 0;
		else if ((value = json_loadb(at, data + length - at, JSON_DISABLE_EOF_CHECK, &error)))
			take_document(answer, json_is_array(value) ? json_array_get(value, 0) : value);
		else if (answer->finished || !whole)
			break;
		else
			answer_close(answer, strncmp(at, "429", 3) == 0 ? "throttled" : "broken",
						 answer->error_event ? at : "the body is no JSON of a chat completion");
		json_decref(value);
		at += error.position;
	}
	free(data);
}

static void
take_line(Answer *answer)
{
	const char *line;
	const char *stop;

	cudal1_buffer_append(&answer->line, "", 0);
	line = answer->line.data;
	stop = line + answer->line.length;
	answer->line.length = 0;
	line += strspn(line, BLANKS);
	if (line == stop)
		take_data(answer, true);
	if (strncmp(line, "event:", 6) == 0)
		answer->error_event = strstr(line, "error") != NULL;
	if (strncmp(line, "data:", 5) == 0)
		line += 5;
	/* other lines mean nothing: comments, for instance, keep a connection alive */
	else if (answer->data.length == 0 ? *line != '{' && *line != '[' : *line == ':')
		return;
	cudal1_buffer_append(&answer->data, line, stop - line);
	cudal1_buffer_append(&answer->data, "\n", 1);
}

bool
answer_feed(Answer *answer, const char *data, size_t length)
{
	for (size_t i = 0; i < length && answer->outcome == NULL; i++)
	{
		if (answer->body_bytes++ == answer->max_body)
			answer_close(answer, answer->complete ? "answered" : "oversized",
						 "the body is longer than the model's max_body_bytes");
		else if (data[i] == '\n')
			take_line(answer);
		else
			cudal1_buffer_append(&answer->line, data + i, 1);
	}
	return answer->outcome == NULL;
}

void
answer_end(Answer *answer, bool clean)
{
	take_line(answer);
	take_data(answer, clean);
	if (answer->outcome == NULL && (answer->finished || (answer->complete && clean)))
		answer_close(answer, "answered", "");
	else if (answer->outcome == NULL && clean)
		answer_close(answer, "broken", "the body ended before a chat completion did");
}
