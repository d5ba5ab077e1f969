/*
 * transfer.c
 *		Requests in flight, all in one thread.
 *
 * An endpoint is not trusted: its words are bounded, the key is taken out of them, and nothing of
 * the surroundings (proxies, .netrc) decides where a key goes. libcurl verifies certificates and
 * follows no redirect unless it is told to.
 */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "common/clock.h"
#include "common/text.h"
#include "generate/generate.h"

/* after a whole answer usage and [DONE] may come */
#define LINGER_SECONDS 5
/* shorter than servers keep an idle connection, so none is closed as a request is sent on it */
#define IDLE_SECONDS 2L
#define LOOK_SECONDS 0.1		/* looks for silence and cancellations are so far apart */
#define EXCERPT 300				/* bytes of an error's body that an operator is shown */

typedef struct Transfer
{
	struct Transfer *next;
	Attempt		attempt;
	CURL	   *easy;
	struct curl_slist *headers;
	char	   *key;
	double		stall_seconds;
	double		started;
	double		heard;			/* time of the last byte */
	double		completed;		/* time of the whole answer; 0: it is not there */
	bool		cancelled;
	char		error[CURL_ERROR_SIZE];
	Answer		answer;			/* after an error status, text is the beginning of the body */
} Transfer;

const char *transfer_authorities = NULL;
void		(*transfer_on_line) (Attempt attempt, const char *line, bool paid);

static CURLM *multi;
static int	sockets;			/* epoll's descriptor of all connections */
static double timer;			/* time of libcurl's next call */
static double look_at;
static Transfer *transfers = NULL;

/* ---- how one ends ---- */

/* words of an endpoint, fit for JSON and without the key, which may be cut off at their end */
static json_t *
scrubbed(const char *words, size_t length, const char *key)
{
	char	   *clean = text_repair(words, length, false, &length);
	size_t		n = key != NULL ? strlen(key) : 0;
	json_t	   *text;

	for (char *at = clean; n > 3 && (at = strstr(at, key)) != NULL; at += 3)
	{
		memcpy(at, "***", 3);
		memmove(at + 3, at + n, clean + length + 1 - (at + n));
		length -= n - 3;
	}
	while (n > 8 && --n > 0)
		if (length >= n && memcmp(clean + length - n, key, n) == 0)
			length -= n;
	text = json_stringn(clean, length);
	free(clean);
	return text;
}

/* a number of a line, NULL where it is left out because it is less than the least */
static json_t *
number_from(double least, double number)
{
	return number < least ? NULL : number == (double) (json_int_t) number
		? json_integer((json_int_t) number) : json_real(number);
}

/* seconds that the endpoint asks for, as a number or a date; 0 for none */
static double
retry_after(CURL *easy)
{
	struct curl_header *field;
	double		seconds;
	char	   *end;

	if (curl_easy_header(easy, "retry-after-ms", 0, CURLH_HEADER, -1, &field) == CURLHE_OK)
		seconds = strtod(field->value, NULL) / 1000;
	else if (curl_easy_header(easy, "retry-after", 0, CURLH_HEADER, -1, &field) != CURLHE_OK)
		return 0;
	else if ((seconds = strtod(field->value, &end)), *end != '\0')
		seconds = (double) (curl_getdate(field->value, NULL) - time(NULL));
	return seconds > 1e9 ? 1e9 : seconds > 0 ? seconds : 0;
}

/* puts out what a transfer came to, and frees it */
static void
conclude(Transfer *t, const char *outcome, const char *detail, long status)
{
	const Answer *answer = &t->answer;
	const char *reason = answer->finish_reason;
	Transfer  **at = &transfers;
	bool		answered = strcmp(outcome, "answered") == 0;
	bool		paid = answered || (status < 300 && answer->text.length > 0);
	json_t	   *said = json_pack(
		"{s:s, s:I, s:I, s:s, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:f}",
		"type", "answer", "request_id", t->attempt.request_id, "attempt", t->attempt.number,
		"outcome", outcome, "detail", detail[0] ? scrubbed(detail, strlen(detail), t->key) : NULL,
		"status", number_from(1, status), "retry_after", number_from(1e-9, retry_after(t->easy)),
		"text", paid ? scrubbed(answer->text.data, answer->text.length, t->key) : NULL,
		"finish_reason", reason[0] ? scrubbed(reason, strlen(reason), t->key) : NULL,
		"prompt_tokens", number_from(0, answer->prompt_tokens),
		"completion_tokens", number_from(0, answer->completion_tokens),
		"seconds", clock_now() - t->started);
	/* ASCII alone, whatever the encoding of the database */
	char	   *dump = json_dumps(said, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
	char	   *line;

	if (asprintf(&line, "%s\n", dump) < 0)
		abort();
	transfer_on_line(t->attempt, line, paid);
	free(dump);
	free(line);
	json_decref(said);
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	curl_multi_remove_handle(multi, t->easy);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->headers);
	if (t->key != NULL)
		explicit_bzero(t->key, strlen(t->key));
	free(t->key);
	cudal1_buffer_free(&t->answer.text);
	cudal1_buffer_free(&t->answer.line);
	cudal1_buffer_free(&t->answer.event);
	free(t);
}

static const char *
outcome_of(CURLcode code)
{
	switch (code)
	{
		case CURLE_OPERATION_TIMEDOUT:
			return "timeout";
		case CURLE_COULDNT_RESOLVE_HOST:
		case CURLE_COULDNT_CONNECT:
		case CURLE_SSL_CONNECT_ERROR:
			return "unreachable";
		case CURLE_PEER_FAILED_VERIFICATION:
		case CURLE_SSL_CACERT_BADFILE:
		case CURLE_UNSUPPORTED_PROTOCOL:
		case CURLE_URL_MALFORMAT:
			return "refused";
		default:
			return "broken";
	}
}

/* a transfer has ended, by itself or because it is silent */
static void
end(Transfer *t, CURLcode code, bool silent)
{
	Answer	   *answer = &t->answer;
	char		words[EXCERPT + 64];
	long		status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	/* all of the answer was there, whatever became of the connection after it */
	if (status >= 200 && status < 300
		&& (answer->finished || (silent ? t->completed > 0 : code == CURLE_OK)))
		answer_end(answer);
	snprintf(words, sizeof(words), "HTTP status %ld: %s", status,
			 status < 400 ? "redirects are not followed"
			 : answer->text.length > 0 ? answer->text.data : "(no text)");
	if (answer->outcome != NULL)
		conclude(t, answer->outcome, answer->detail, status);
	/* a server that says when it will be there again has enough, too */
	else if (status == 429 || ((status == 503 || status == 529) && retry_after(t->easy) > 0))
		conclude(t, "throttled", words, status);
	else if (status >= 500 || status == 408 || status == 409 || status == 425)
		conclude(t, "unavailable", words, status);
	else if (status >= 300)
		conclude(t, "refused", words, status);
	else if (silent)
		conclude(t, "stalled", "nothing arrived for the model's stall_seconds", status);
	else
		conclude(t, outcome_of(code), t->error[0] ? t->error : curl_easy_strerror(code), status);
}

/* ---- while one is in flight ---- */

static size_t
on_body(char *data, size_t size, size_t n, void *owner)
{
	Transfer   *t = owner;
	Cudal1Buffer *text = &t->answer.text;
	long		status = 0;
	bool		more;

	t->heard = clock_now();
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 300)
	{
		/* the beginning of an error's body is enough */
		cudal1_buffer_append(text, data, n < EXCERPT - text->length ? n : EXCERPT - text->length);
		return text->length < EXCERPT ? n : 0;
	}
	more = answer_feed(&t->answer, data, n);
	if (t->completed == 0 && answer_complete(&t->answer))
		t->completed = t->heard;
	return more ? n : 0;
}

static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *owner, void *known)
{
	struct epoll_event event = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0)
		| (what & CURL_POLL_OUT ? EPOLLOUT : 0), .data.fd = fd};

	if (what == CURL_POLL_REMOVE)
		(void) epoll_ctl(sockets, EPOLL_CTL_DEL, fd, NULL);
	else if (epoll_ctl(sockets, EPOLL_CTL_MOD, fd, &event) < 0)
		(void) epoll_ctl(sockets, EPOLL_CTL_ADD, fd, &event);
	return 0;
}

static int
on_timer(CURLM *owner, long ms, void *unused)
{
	timer = ms < 0 ? 1e300 : clock_now() + (double) ms / 1000;
	return 0;
}

int
transfer_open(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
	return sockets = epoll_create1(EPOLL_CLOEXEC);
}

void
transfer_cancel(Attempt attempt)
{
	for (Transfer *t = transfers; t != NULL; t = t->next)
		if (t->attempt.request_id == attempt.request_id && t->attempt.number == attempt.number)
			t->cancelled = true;
}

/* ends what is cancelled or silent; silence begins when there is a connection */
static void
look(double now)
{
	Transfer   *next;

	for (Transfer *t = transfers; t != NULL; t = next)
	{
		curl_off_t	connected = 0;

		next = t->next;
		curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
		if (connected == 0)
			t->heard = now;
		if (t->cancelled)
			conclude(t, "cancelled", "", 0);
		else if (now - t->heard > t->stall_seconds
				 || (t->completed > 0 && now - t->completed > LINGER_SECONDS))
			end(t, CURLE_OK, true);
	}
	look_at = now + LOOK_SECONDS;
}

int
transfer_serve(void)
{
	struct epoll_event ready[64];
	int			n = epoll_wait(sockets, ready, 64, 0);
	double		now = clock_now();
	CURLMsg    *message;
	Transfer   *t;
	int			left;

	for (int i = 0; i < n; i++)
		curl_multi_socket_action(multi, ready[i].data.fd,
								 (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
								 | (ready[i].events & ~EPOLLOUT ? CURL_CSELECT_IN : 0), &left);
	if (now >= timer)
		curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &left);
	while ((message = curl_multi_info_read(multi, &left)) != NULL)
	{
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &t);
		end(t, message->data.result, false);
	}
	if (now >= look_at)
		look(now);
	if (transfers == NULL)
		return -1;
	now = (timer < look_at ? timer : look_at) - clock_now();
	return now > 0 ? 1 + (int) (1000 * now) : 0;
}

/* ---- how one begins ---- */

void
transfer_begin(const json_t *job, Attempt attempt, char *key, const char *problem)
{
	const char *endpoint = "";
	json_t	   *body = NULL;
	double		connect_seconds = 10;
	double		stall_seconds = 120;
	double		total_seconds = 1800;
	json_int_t	max_text = 1 << 20;
	json_int_t	max_body = 1 << 26;
	int			wrong = json_unpack((json_t *) job, "{s:s, s:o, s?F, s?F, s?F, s?I, s?I}",
									"endpoint", &endpoint, "body", &body,
									"connect_seconds", &connect_seconds,
									"stall_seconds", &stall_seconds,
									"total_seconds", &total_seconds,
									"max_answer_bytes", &max_text, "max_body_bytes", &max_body);
	bool		stream = json_is_true(json_object_get(body, "stream"));
	CURL	   *easy = curl_easy_init();
	Transfer   *t = malloc(sizeof(Transfer));
	char	   *text;
	char	   *url;

	*t = (Transfer) {.next = transfers, .attempt = attempt, .easy = easy, .key = key,
		.stall_seconds = stream ? stall_seconds : total_seconds,
		.started = clock_now(), .heard = clock_now(),
		.answer = {.max_text = max_text, .max_body = max_body, .prompt_tokens = -1,
			.completion_tokens = -1}};
	transfers = t;
	if (wrong || problem[0] != '\0')
	{
		conclude(t, "refused", wrong ? "the job has no endpoint, no body or a wrong limit"
				 : problem, 0);
		return;
	}
	text = json_dumps(body, JSON_COMPACT);
	/* unix:/path/of/socket:/v1 or http(s)://host/v1, to which the call is appended */
	if (strncmp(endpoint, "unix:", 5) == 0)
	{
		char	   *socket = strndup(endpoint + 5, strcspn(endpoint + 5, ":"));

		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, socket);
		endpoint += 5 + strlen(socket);
		free(socket);
		endpoint += *endpoint == ':';
		if (asprintf(&url, "http://localhost%s/chat/completions", endpoint) < 0)
			abort();
	}
	else if (asprintf(&url, "%s/chat/completions", endpoint) < 0)
		abort();
	t->headers = curl_slist_append(t->headers, "Content-Type: application/json");
	t->headers = curl_slist_append(t->headers, stream ? "Accept: text/event-stream"
								   : "Accept: application/json");
	/* a body that is compressed all the same is read */
	t->headers = curl_slist_append(t->headers, "Accept-Encoding: identity");
	t->headers = curl_slist_append(t->headers, "Expect:");
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	if (transfer_authorities != NULL)
	{
		curl_easy_setopt(easy, CURLOPT_CAINFO, transfer_authorities);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
	curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, key);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "cudal1-generate/" CUDAL1_VERSION);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) strlen(text));
	curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, text);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long) (connect_seconds * 1000));
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) (total_seconds * 1000));
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_SECONDS);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	curl_multi_add_handle(multi, easy);
	free(text);
	free(url);
}
