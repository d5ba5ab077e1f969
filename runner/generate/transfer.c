/*
 * transfer.c
 *		Requests in flight, all in one thread.
 *
 * A transfer is one try of a job, and what it comes to is a line of output. Whether another try
 * follows, and when, is decided where the request is kept. An endpoint is not trusted: its words
 * are bounded, and the key is taken out of them.
 */
#define _GNU_SOURCE
#include "generate/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "generate/answer.h"
#include "generate/key.h"
#include "generate/output.h"

/* what may come after an answer that said it was complete: usage, [DONE] */
#define LINGER_SECONDS 5
/* of an error's body, what an operator is shown */
#define EXCERPT 300

typedef struct Transfer
{
	struct Transfer *next;
	Attempt		attempt;
	CURL	   *easy;			/* NULL: nothing was sent */
	struct curl_slist *headers;
	char	   *key;
	double		stall_seconds;
	double		started;
	double		heard;			/* when something last arrived */
	char		error[CURL_ERROR_SIZE];
	const char *ending;			/* stalled, cancelled: ended by us */
	Answer		answer;
} Transfer;

const char *transfer_authorities = NULL;

static CURLM *multi;
static Transfer *transfers = NULL;

void
transfer_open(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (multi = curl_multi_init()) == NULL)
		die("libcurl cannot be used");
}

bool
transfer_any(void)
{
	return transfers != NULL;
}

/* ---- what a transfer came to ---- */

/* an endpoint's words without the key in them; fit for JSON, as they come from anywhere */
static json_t *
scrubbed(const char *words, size_t length, const char *key)
{
	char	   *copy = cudal1_text_repair(words, length, false, &length);
	Cudal1Buffer clean = {0};
	char	   *start = copy;
	char	   *found;
	json_t	   *text;

	while (key != NULL && strlen(key) > 3 && (found = strstr(start, key)) != NULL)
	{
		cudal1_answer_append(&clean, start, found - start);
		cudal1_answer_append(&clean, "***", 3);
		start = found + strlen(key);
	}
	cudal1_answer_append(&clean, start, copy + length - start);
	text = json_stringn(clean.data, clean.length);
	cudal1_buffer_free(&clean);
	free(copy);
	return text;
}

static void
set_count(json_t *line, const char *name, long long count, long long least)
{
	if (count >= least)
		json_object_set_new(line, name, json_integer(count));
}

static void
report(const Transfer *transfer, const char *outcome, const char *detail)
{
	const Answer *answer = &transfer->answer;
	const char *key = transfer->key;
	json_t	   *line = json_pack("{s:s, s:I, s:I, s:s}", "type", "answer", "request_id",
								 (json_int_t) transfer->attempt.request_id, "attempt",
								 (json_int_t) transfer->attempt.number, "outcome", outcome);
	bool		paid = answer->text.length > 0 || strcmp(outcome, "answered") == 0;
	char	   *text;

	if (detail != NULL && detail[0] != '\0')
		json_object_set_new(line, "detail", scrubbed(detail, strlen(detail), key));
	if (transfer->easy != NULL)
	{
		long		status = 0;
		curl_off_t	retry_after = 0;

		curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
		set_count(line, "status", status, 1);
		set_count(line, "retry_after", retry_after, 1);
		if (paid)
			json_object_set_new(line, "text", scrubbed(answer->text.data, answer->text.length,
													   key));
		if (answer->finish_reason[0] != '\0')
			json_object_set_new(line, "finish_reason",
								scrubbed(answer->finish_reason, strlen(answer->finish_reason),
										 key));
		set_count(line, "prompt_tokens", answer->prompt_tokens, 0);
		set_count(line, "completion_tokens", answer->completion_tokens, 0);
		json_object_set_new(line, "seconds", json_real(clock_now() - transfer->started));
	}
	/* ASCII alone, whatever the encoding of the database */
	text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (text != NULL)
	{
		size_t		length = strlen(text);

		text[length] = '\n';
		if (paid)
			spool_keep(transfer->attempt, text, length + 1);
		output_line(text, length + 1);
	}
	free(text);
	json_decref(line);
}

static const char *
outcome_of_status(long status, curl_off_t retry_after)
{
	/*
	 * a server that says when it will be there again is as good as one that says so many are enough
	 */
	if (status == 429 || (status == 503 && retry_after > 0))
		return "throttled";
	if (status == 408 || status == 409 || status == 425 || status >= 500)
		return "unavailable";
	return "refused";
}

static const char *
outcome_of_error(CURLcode code)
{
	switch (code)
	{
		case CURLE_COULDNT_RESOLVE_HOST:
		case CURLE_COULDNT_CONNECT:
		case CURLE_SSL_CONNECT_ERROR:
			return "unreachable";
		case CURLE_OPERATION_TIMEDOUT:
			return "timeout";
		case CURLE_PEER_FAILED_VERIFICATION:
		case CURLE_SSL_CERTPROBLEM:
		case CURLE_SSL_CACERT_BADFILE:
		case CURLE_UNSUPPORTED_PROTOCOL:
		case CURLE_URL_MALFORMAT:
			return "refused";
		default:
			return "broken";
	}
}

static void
free_transfer(Transfer *transfer)
{
	for (Transfer **t = &transfers; *t != NULL; t = &(*t)->next)
	{
		if (*t == transfer)
		{
			*t = transfer->next;
			break;
		}
	}
	if (transfer->easy != NULL)
	{
		curl_multi_remove_handle(multi, transfer->easy);
		curl_easy_cleanup(transfer->easy);
	}
	curl_slist_free_all(transfer->headers);
	if (transfer->key != NULL)
		memset(transfer->key, 0, strlen(transfer->key));
	free(transfer->key);
	cudal1_answer_free(&transfer->answer);
	free(transfer);
}

static bool
is_good(long status)
{
	return status >= 200 && status <= 299;
}

/* a transfer has ended by itself (code) or by us (transfer->ending) */
static void
conclude(Transfer *transfer, CURLcode code)
{
	Answer	   *answer = &transfer->answer;
	bool		stalled = transfer->ending != NULL && strcmp(transfer->ending, "stalled") == 0;
	const char *outcome = transfer->ending;
	const char *detail = stalled ? "nothing arrived for the model's stall_seconds" : NULL;
	char		words[EXCERPT + 64];
	long		status = 0;
	curl_off_t	retry_after = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	/* the answer was there, whatever became of the connection after it */
	if (answer->outcome == NULL && answer->finished && is_good(status)
		&& (outcome == NULL || stalled))
	{
		outcome = NULL;
		code = CURLE_OK;
	}
	if (outcome == NULL && code == CURLE_OK && is_good(status))
		cudal1_answer_end(answer);
	if (outcome == NULL && answer->outcome != NULL)
	{
		outcome = answer->outcome;
		detail = answer->detail;
	}
	else if (outcome == NULL && (code == CURLE_OK || (code == CURLE_WRITE_ERROR && status > 0)))
	{
		curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
		outcome = outcome_of_status(status, retry_after);
		snprintf(words, sizeof(words), "HTTP status %ld%s%.*s", status,
				 answer->raw.length > 0 ? ": " : "", EXCERPT,
				 status >= 300 && status <= 399 ? ": redirects are not followed"
				 : answer->raw.length > 0 ? answer->raw.data : "");
		detail = words;
	}
	else if (outcome == NULL)
	{
		outcome = outcome_of_error(code);
		snprintf(words, sizeof(words), "%.*s", EXCERPT, transfer->error[0] != '\0' ? transfer->error
				 : curl_easy_strerror(code));
		detail = words;
	}
	report(transfer, outcome, detail);
	free_transfer(transfer);
}

/* ---- what arrives ---- */

static size_t
on_header(char *data, size_t size, size_t n, void *user)
{
	Transfer   *transfer = user;
	static const char events[] = "content-type: text/event-stream";

	transfer->heard = clock_now();
	if (size * n >= sizeof(events) - 1 && strncasecmp(data, events, sizeof(events) - 1) == 0)
		transfer->answer.events = true;
	return size * n;
}

static size_t
on_body(char *data, size_t size, size_t n, void *user)
{
	Transfer   *transfer = user;
	Answer	   *answer = &transfer->answer;
	size_t		length = size * n;
	long		status = 0;

	transfer->heard = clock_now();
	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	if (is_good(status))
		return cudal1_answer_feed(answer, data, length) ? length : 0;
	/* an error's body: the beginning is enough */
	answer->events = false;
	if (answer->raw.length < 4 * EXCERPT)
		cudal1_answer_append(&answer->raw, data, length > 4 * EXCERPT ? 4 * EXCERPT : length);
	else if ((answer->body_bytes += length) > answer->max_body)
		return 0;
	return length;
}

/* ---- how one begins ---- */

/* unix:/path/of/socket:/v1 or http(s)://host/v1, to which the call is appended */
static void
set_address(Transfer *transfer, const char *endpoint)
{
	char	   *url = NULL;
	const char *path;

	if (strncmp(endpoint, "unix:", 5) == 0)
	{
		char	   *socket;

		path = strchr(endpoint + 5, ':');
		if (path == NULL)
			path = endpoint + strlen(endpoint);
		socket = strndup(endpoint + 5, path - endpoint - 5);
		curl_easy_setopt(transfer->easy, CURLOPT_UNIX_SOCKET_PATH, socket);
		free(socket);
		if (asprintf(&url, "http://localhost%s/chat/completions",
					 path[0] == ':' ? path + 1 : "") < 0)
			die("out of memory");
	}
	else if (asprintf(&url, "%s/chat/completions", endpoint) < 0)
		die("out of memory");
	curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
	free(url);
}

/* nothing of the server's surroundings decides where a key goes, and no redirect is followed */
static void
set_trust(Transfer *transfer)
{
	CURL	   *easy = transfer->easy;

	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NETRC, CURL_NETRC_IGNORED);
	if (transfer_authorities != NULL)
	{
		curl_easy_setopt(easy, CURLOPT_CAINFO, transfer_authorities);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (transfer->key != NULL)
	{
		curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, transfer->key);
	}
}

static void
set_body(Transfer *transfer, const json_t *body, bool stream)
{
	char	   *text = json_dumps(body, JSON_COMPACT);

	if (text == NULL)
		die("out of memory");
	transfer->headers = curl_slist_append(transfer->headers, "Content-Type: application/json");
	transfer->headers = curl_slist_append(transfer->headers,
										  stream ? "Accept: text/event-stream"
										  : "Accept: application/json");
	transfer->headers = curl_slist_append(transfer->headers, "Expect:");
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
	curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) strlen(text));
	curl_easy_setopt(transfer->easy, CURLOPT_COPYPOSTFIELDS, text);
	free(text);
}

static double
number(const json_t *job, const char *name, double otherwise)
{
	json_t	   *value = json_object_get(job, name);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

static void
refuse(Transfer *transfer, const char *problem)
{
	report(transfer, "refused", problem);
	free_transfer(transfer);
}

void
transfer_begin(const json_t *job, Attempt attempt)
{
	const char *endpoint = json_string_value(json_object_get(job, "endpoint"));
	const char *key_name = json_string_value(json_object_get(job, "key"));
	const json_t *body = json_object_get(job, "body");
	bool		stream = json_is_true(json_object_get(body, "stream"));
	double		total_seconds = number(job, "total_seconds", 1800);
	const char *problem = "it has several lines";
	Transfer   *transfer = calloc(1, sizeof(Transfer));
	CURL	   *easy;

	if (transfer == NULL)
		die("out of memory");
	transfer->attempt = attempt;
	if (endpoint == NULL || !json_is_object(body))
	{
		refuse(transfer, "the job has no endpoint or no body");
		return;
	}
	if (key_name != NULL)
		transfer->key = key_find(key_name, &problem);
	if (key_name != NULL && (transfer->key == NULL || strpbrk(transfer->key, "\r\n") != NULL))
	{
		char		words[200];

		snprintf(words, sizeof(words), "key \"%.63s\": %s", key_name, problem);
		refuse(transfer, words);
		return;
	}
	transfer->easy = easy = curl_easy_init();
	if (easy == NULL)
		die("out of memory");
	transfer->started = transfer->heard = clock_now();
	transfer->stall_seconds = stream ? number(job, "stall_seconds", 120) : total_seconds;
	cudal1_answer_begin(&transfer->answer, (size_t) number(job, "max_answer_bytes", 1 << 20),
						(size_t) number(job, "max_body_bytes", 1 << 26));
	set_address(transfer, endpoint);
	set_trust(transfer);
	set_body(transfer, body, stream);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "cudal1-generate/" CUDAL1_VERSION);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
					 (long) (number(job, "connect_seconds", 10) * 1000));
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) (total_seconds * 1000));
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	transfer->next = transfers;
	transfers = transfer;
	if (curl_multi_add_handle(multi, easy) != CURLM_OK)
		die("cannot add a request");
}

void
transfer_cancel(Attempt attempt)
{
	for (Transfer *t = transfers; t != NULL; t = t->next)
		if (t->attempt.request_id == attempt.request_id && t->attempt.number == attempt.number)
			t->ending = "cancelled";
}

/* ---- while they are in flight ---- */

/* ends what is silent or cancelled; milliseconds until the next has to be looked at */
static int
look_at_silence(void)
{
	double		time = clock_now();
	double		next = 1;
	Transfer   *following;

	for (Transfer *t = transfers; t != NULL; t = following)
	{
		double		patience = t->answer.finished
			&& t->stall_seconds > LINGER_SECONDS ? LINGER_SECONDS : t->stall_seconds;

		following = t->next;
		if (t->ending == NULL && time - t->heard > patience)
			t->ending = "stalled";
		if (t->ending != NULL)
			conclude(t, CURLE_OK);
		else if (t->heard + patience - time < next)
			next = t->heard + patience - time;
	}
	return next < 0.001 ? 1 : (int) (next * 1000) + 1;
}

int
transfer_serve(void)
{
	CURLMsg    *message;
	int			n;

	if (curl_multi_perform(multi, &n) != CURLM_OK)
		die("the requests in flight cannot be served");
	while ((message = curl_multi_info_read(multi, &n)) != NULL)
	{
		Transfer   *transfer;
		CURLcode	code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		conclude(transfer, code);
	}
	return look_at_silence();
}

void
transfer_wait(struct curl_waitfd *others, int n, int wait_ms)
{
	if (curl_multi_poll(multi, others, (unsigned int) n, wait_ms, NULL) != CURLM_OK)
		die("cannot wait for the requests in flight");
}
