/*
 * cudal1-generate: requests to language models, many in flight in one thread.
 *
 * It makes one try of each job and reports how it went; whether there is another, and when, is
 * decided where the request is kept. An answer that was paid for is written to the spool before it
 * is reported, and stays there until the other side has stored it: whichever side dies in between,
 * the next cudal1-generate reports it again.
 *
 * Output waits in memory while the other side is busy, so that requests in flight are served all
 * the same: data that arrived meanwhile is an answer, not a stall.
 *
 * Keys come from a file or from the environment, never through standard input, and are taken out of
 * whatever an endpoint says.
 */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "generate/answer.h"

#define MAX_INPUT_LINE ((size_t) 64 * 1024 * 1024)
#define MAX_SPOOLED ((long) 64 * 1024 * 1024)
/* what may come after an answer that said it was complete: usage, [DONE] */
#define LINGER_SECONDS 5
/* of an error's body, what an operator is shown */
#define EXCERPT 300

typedef struct Transfer
{
	struct Transfer *next;
	CURL	   *easy;
	struct curl_slist *headers;
	char	   *body;
	char	   *key;
	json_int_t	request_id;
	json_int_t	attempt;
	double		stall_seconds;
	double		started;
	double		heard;			/* when something last arrived */
	char		error[CURL_ERROR_SIZE];
	const char *ending;			/* stalled, cancelled: ended by us */
	Answer		answer;
} Transfer;

static CURLM *multi;
static Transfer *transfers = NULL;
static const char *spool = NULL;
static const char *keys = NULL;
static const char *authorities = NULL;
static Cudal1Buffer output = {0};		/* lines that the other side has not taken yet */

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void
die(const char *problem)
{
	fprintf(stderr, "cudal1-generate: %s\n", problem);
	exit(1);
}

/* ---- output ---- */

static void
write_all(int fd, const char *data, size_t length)
{
	while (length > 0)
	{
		ssize_t		n = write(fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);			/* the reader is gone: the spool has the answer */
		data += n;
		length -= n;
	}
}

/* what can be written without waiting: a pipe that polls writable takes PIPE_BUF bytes */
static void
flush_output(bool wait)
{
	size_t		sent = 0;

	while (sent < output.length)
	{
		struct pollfd ready = {.fd = STDOUT_FILENO,.events = POLLOUT};
		size_t		piece = output.length - sent < PIPE_BUF ? output.length - sent : PIPE_BUF;

		if (poll(&ready, 1, wait ? -1 : 0) <= 0 && !wait)
			break;
		write_all(STDOUT_FILENO, output.data + sent, piece);
		sent += piece;
	}
	memmove(output.data, output.data + sent, output.length - sent);
	output.length -= sent;
}

static char *
spool_path(json_int_t request_id, json_int_t attempt, const char *suffix)
{
	char	   *path;

	if (asprintf(&path, "%s/%lld-%lld.%s", spool, (long long) request_id, (long long) attempt,
				 suffix) < 0)
		die("out of memory");
	return path;
}

static void
keep(json_int_t request_id, json_int_t attempt, const char *line, size_t length)
{
	char	   *temporary = spool_path(request_id, attempt, "new");
	char	   *path = spool_path(request_id, attempt, "json");
	int			fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t		written = fd < 0 ? -1 : write(fd, line, length);

	/* without a spool the answer is still reported */
	if (written != (ssize_t) length || rename(temporary, path) < 0)
		fprintf(stderr, "cannot keep an answer in \"%s\": %s\n", spool, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(temporary);
	free(path);
}

static void
forget(json_int_t request_id, json_int_t attempt)
{
	char	   *path;

	if (spool == NULL)
		return;
	path = spool_path(request_id, attempt, "json");
	(void) unlink(path);
	free(path);
}

/* what a former process kept and the database has not stored yet */
static void
replay(void)
{
	DIR		   *dir = opendir(spool);
	struct dirent *entry;

	if (dir == NULL)
	{
		fprintf(stderr, "cannot read the spool \"%s\": %s\n", spool, strerror(errno));
		return;
	}
	while ((entry = readdir(dir)) != NULL)
	{
		size_t		length = strlen(entry->d_name);
		char	   *path;
		FILE	   *file;
		struct stat status;

		if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0)
			continue;
		if (asprintf(&path, "%s/%s", spool, entry->d_name) < 0)
			die("out of memory");
		file = fopen(path, "re");
		if (file != NULL && fstat(fileno(file), &status) == 0 && status.st_size > 0
			&& status.st_size <= MAX_SPOOLED)
		{
			char	   *data = malloc(status.st_size);

			if (data != NULL && fread(data, 1, status.st_size, file) == (size_t) status.st_size
				&& data[status.st_size - 1] == '\n')
				write_all(STDOUT_FILENO, data, status.st_size);
			free(data);
		}
		if (file != NULL)
			fclose(file);
		free(path);
	}
	closedir(dir);
}

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
report(json_int_t request_id, json_int_t attempt, const char *outcome, const char *detail,
	   const char *key, const Transfer *transfer)
{
	json_t	   *line = json_pack("{s:s, s:I, s:I, s:s}", "type", "answer", "request_id", request_id,
								 "attempt", attempt,
								 "outcome", outcome);
	bool		paid = false;
	char	   *text;

	if (detail != NULL && detail[0] != '\0')
		json_object_set_new(line, "detail", scrubbed(detail, strlen(detail), key));
	if (transfer != NULL)
	{
		const Answer *answer = &transfer->answer;
		long		status = 0;
		curl_off_t	retry_after = 0;

		curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
		if (status > 0)
			json_object_set_new(line, "status", json_integer(status));
		if (retry_after > 0)
			json_object_set_new(line, "retry_after", json_integer(retry_after));
		if (answer->text.length > 0 || strcmp(outcome, "answered") == 0)
		{
			json_object_set_new(line, "text", scrubbed(answer->text.data, answer->text.length,
													   key));
			paid = true;
		}
		if (answer->finish_reason[0] != '\0')
			json_object_set_new(line, "finish_reason",
								scrubbed(answer->finish_reason, strlen(answer->finish_reason),
										 key));
		if (answer->prompt_tokens >= 0)
			json_object_set_new(line, "prompt_tokens", json_integer(answer->prompt_tokens));
		if (answer->completion_tokens >= 0)
			json_object_set_new(line, "completion_tokens", json_integer(answer->completion_tokens));
		json_object_set_new(line, "seconds", json_real(now() - transfer->started));
	}
	/* ASCII alone, whatever the encoding of the database */
	text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (text != NULL)
	{
		size_t		length = strlen(text);

		text[length] = '\n';
		if (paid && spool != NULL)
			keep(request_id, attempt, text, length + 1);
		cudal1_answer_append(&output, text, length + 1);
	}
	free(text);
	json_decref(line);
}

/* ---- keys ---- */

/* the value of NAME = value in the file of keys, malloc'd, or NULL with the reason */
static char *
key_from_file(const char *name, const char **problem)
{
	FILE	   *file = fopen(keys, "re");
	struct stat status;
	char	   *line = NULL;
	char	   *found = NULL;
	size_t		room = 0;

	*problem = "the file of keys has none of this name";
	if (file == NULL)
	{
		*problem = "the file of keys cannot be read";
		return NULL;
	}
	if (fstat(fileno(file), &status) < 0 || !S_ISREG(status.st_mode) ||
		(status.st_mode & (status.st_uid == 0 ? 027 : 077)) != 0)
	{
		*problem = "the file of keys can be read by others, so it is not used: chmod 600";
		fclose(file);
		return NULL;
	}
	while (found == NULL && getline(&line, &room, file) > 0)
	{
		size_t		length = strlen(name);
		char	   *value = line + strspn(line, " \t");

		if (strncmp(value, name, length) != 0)
			continue;
		value += length;
		value += strspn(value, " \t");
		if (*value++ != '=')
			continue;
		value += strspn(value, " \t");
		value[strcspn(value, "\r\n")] = '\0';
		length = strlen(value);
		while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
			value[--length] = '\0';
		found = strdup(value);
	}
	if (line != NULL)
		memset(line, 0, room);
	free(line);
	fclose(file);
	return found;
}

static char *
find_key(const char *name, const char **problem)
{
	char	   *variable;
	const char *value;

	if (keys != NULL)
		return key_from_file(name, problem);
	*problem = "there is no file of keys, nor a variable CUDAL1_KEY_<name>";
	if (asprintf(&variable, "CUDAL1_KEY_%s", name) < 0)
		die("out of memory");
	value = getenv(variable);
	free(variable);
	return value == NULL ? NULL : strdup(value);
}

/* ---- transfers ---- */

static size_t
on_header(char *data, size_t size, size_t n, void *user)
{
	Transfer   *transfer = user;
	static const char events[] = "content-type: text/event-stream";

	transfer->heard = now();
	if (size * n >= sizeof(events) - 1 && strncasecmp(data, events, sizeof(events) - 1) == 0)
		transfer->answer.events = true;
	return size * n;
}

static size_t
on_body(char *data, size_t size, size_t n, void *user)
{
	Transfer   *transfer = user;
	Answer	   *answer = &transfer->answer;
	long		status = 0;

	transfer->heard = now();
	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || status > 299)
	{
		/* an error's body: the beginning is enough */
		answer->events = false;
		if (answer->raw.length < 4 * EXCERPT)
			cudal1_answer_append(&answer->raw, data,
								 size * n > 4 * EXCERPT ? 4 * EXCERPT : size * n);
		else if ((answer->body_bytes += size * n) > answer->max_body)
			return 0;
		return size * n;
	}
	return cudal1_answer_feed(answer, data, size * n) ? size * n : 0;
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
	free(transfer->body);
	cudal1_answer_free(&transfer->answer);
	free(transfer);
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

/* a transfer has ended by itself (code) or by us (transfer->ending) */
static void
conclude(Transfer *transfer, CURLcode code)
{
	Answer	   *answer = &transfer->answer;
	const char *outcome;
	const char *detail = NULL;
	char		words[EXCERPT + 64];
	long		status = 0;
	curl_off_t	retry_after = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	/* the answer was there, whatever became of the connection after it */
	if (answer->outcome == NULL && answer->finished && status >= 200 && status <= 299 &&
		(transfer->ending == NULL || strcmp(transfer->ending, "stalled") == 0))
	{
		transfer->ending = NULL;
		code = CURLE_OK;
	}
	if (transfer->ending != NULL)
	{
		outcome = transfer->ending;
		detail = strcmp(outcome, "stalled") == 0 ? "nothing arrived for the model's stall_seconds"
			: NULL;
	}
	else if (code == CURLE_OK && status >= 200 && status <= 299)
	{
		cudal1_answer_end(answer);
		outcome = answer->outcome;
		detail = answer->detail;
	}
	else if (answer->outcome != NULL)
	{
		outcome = answer->outcome;
		detail = answer->detail;
	}
	else if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && status > 0))
	{
		curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
		outcome = outcome_of_status(status, retry_after);
		snprintf(words, sizeof(words), "HTTP status %ld%s%.*s", status,
				 answer->raw.length > 0 ? ": " : "", EXCERPT,
				 status >= 300 && status <= 399 ? ": redirects are not followed"
				 : answer->raw.length > 0 ? answer->raw.data : "");
		detail = words;
	}
	else
	{
		outcome = outcome_of_error(code);
		snprintf(words, sizeof(words), "%.*s", EXCERPT, transfer->error[0] != '\0' ? transfer->error
				 : curl_easy_strerror(code));
		detail = words;
	}
	report(transfer->request_id, transfer->attempt, outcome, detail, transfer->key, transfer);
	free_transfer(transfer);
}

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

static double
number(const json_t *job, const char *name, double otherwise)
{
	json_t	   *value = json_object_get(job, name);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

static void
begin(const json_t *job, json_int_t request_id, json_int_t attempt)
{
	const char *endpoint = json_string_value(json_object_get(job, "endpoint"));
	const char *key_name = json_string_value(json_object_get(job, "key"));
	json_t	   *body = json_object_get(job, "body");
	Transfer   *transfer;
	bool		stream;

	if (endpoint == NULL || !json_is_object(body))
	{
		report(request_id, attempt, "refused", "the job has no endpoint or no body", NULL, NULL);
		return;
	}
	transfer = calloc(1, sizeof(Transfer));
	if (transfer == NULL || (transfer->easy = curl_easy_init()) == NULL)
		die("out of memory");
	transfer->request_id = request_id;
	transfer->attempt = attempt;
	transfer->started = transfer->heard = now();
	stream = json_is_true(json_object_get(body, "stream"));
	transfer->stall_seconds = stream ? number(job, "stall_seconds", 120)
		: number(job, "total_seconds", 1800);
	cudal1_answer_begin(&transfer->answer, (size_t) number(job, "max_answer_bytes", 1 << 20),
						(size_t) number(job, "max_body_bytes", 1 << 26));
	if (key_name != NULL)
	{
		const char *problem;
		char	   *header;

		transfer->key = find_key(key_name, &problem);
		if (transfer->key == NULL || strpbrk(transfer->key, "\r\n") != NULL)
		{
			char		words[200];

			snprintf(words, sizeof(words), "key \"%.63s\": %s", key_name,
					 transfer->key == NULL ? problem : "it has several lines");
			report(request_id, attempt, "refused", words, NULL, NULL);
			free_transfer(transfer);
			return;
		}
		if (asprintf(&header, "Authorization: Bearer %s", transfer->key) < 0)
			die("out of memory");
		transfer->headers = curl_slist_append(transfer->headers, header);
		memset(header, 0, strlen(header));
		free(header);
	}
	transfer->headers = curl_slist_append(transfer->headers, "Content-Type: application/json");
	transfer->headers = curl_slist_append(transfer->headers,
										  stream ? "Accept: text/event-stream"
										  : "Accept: application/json");
	transfer->headers = curl_slist_append(transfer->headers, "Expect:");
	transfer->body = json_dumps(body, JSON_COMPACT);

	set_address(transfer, endpoint);
	curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
	curl_easy_setopt(transfer->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(transfer->easy, CURLOPT_FOLLOWLOCATION, 0L);
	/* nothing of the server's surroundings decides where a key goes */
	curl_easy_setopt(transfer->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(transfer->easy, CURLOPT_NETRC, CURL_NETRC_IGNORED);
	if (authorities != NULL)
	{
		curl_easy_setopt(transfer->easy, CURLOPT_CAINFO, authorities);
		curl_easy_setopt(transfer->easy, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(transfer->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(transfer->easy, CURLOPT_POST, 1L);
	curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE,
					 (curl_off_t) strlen(transfer->body));
	curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, transfer->body);
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
	curl_easy_setopt(transfer->easy, CURLOPT_USERAGENT, "cudal1-generate/" CUDAL1_VERSION);
	curl_easy_setopt(transfer->easy, CURLOPT_CONNECTTIMEOUT_MS,
					 (long) (number(job, "connect_seconds", 10) * 1000));
	curl_easy_setopt(transfer->easy, CURLOPT_TIMEOUT_MS,
					 (long) (number(job, "total_seconds", 1800) * 1000));
	curl_easy_setopt(transfer->easy, CURLOPT_ERRORBUFFER, transfer->error);
	curl_easy_setopt(transfer->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(transfer->easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(transfer->easy, CURLOPT_WRITEDATA, transfer);
	transfer->next = transfers;
	transfers = transfer;
	if (curl_multi_add_handle(multi, transfer->easy) != CURLM_OK)
		die("cannot add a request");
}

static void
cancel(json_int_t request_id, json_int_t attempt)
{
	for (Transfer *t = transfers; t != NULL; t = t->next)
	{
		if (t->request_id == request_id && t->attempt == attempt)
		{
			t->ending = "cancelled";
			return;
		}
	}
}

/* ---- input ---- */

static void
take_line(const char *line, size_t length)
{
	json_error_t error;
	json_t	   *message = json_loadb(line, length, 0, &error);
	const char *type = json_string_value(json_object_get(message, "type"));
	json_t	   *request_id = json_object_get(message, "request_id");
	json_t	   *attempt = json_object_get(message, "attempt");

	if (type == NULL || !json_is_integer(request_id) || !json_is_integer(attempt))
		fprintf(stderr, "a line of input is no message: %s\n",
				message == NULL ? error.text : "type, request_id or attempt is missing");
	else if (strcmp(type, "job") == 0)
		begin(message, json_integer_value(request_id), json_integer_value(attempt));
	else if (strcmp(type, "cancel") == 0)
		cancel(json_integer_value(request_id), json_integer_value(attempt));
	else if (strcmp(type, "stored") == 0)
		forget(json_integer_value(request_id), json_integer_value(attempt));
	else
		fprintf(stderr, "a line of input is of an unknown type\n");
	json_decref(message);
}

/* reads what is there; false at the end of the input */
static bool
read_input(void)
{
	static Cudal1Buffer input = {0};
	static char piece[65536];
	ssize_t		n = read(STDIN_FILENO, piece, sizeof(piece));
	char	   *start;
	char	   *end;
	size_t		left;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
	if (n == 0)
	{
		if (input.length > 0)
			take_line(input.data, input.length);
		return false;
	}
	cudal1_answer_append(&input, piece, n);
	start = input.data;
	left = input.length;
	while ((end = memchr(start, '\n', left)) != NULL)
	{
		if (end > start)
			take_line(start, end - start);
		left -= end - start + 1;
		start = end + 1;
	}
	memmove(input.data, start, left);
	input.length = left;
	if (input.length > MAX_INPUT_LINE)
		die("a line of input is too long");
	return true;
}

/* ---- the loop ---- */

/* ends what is silent or cancelled; milliseconds until the next has to be looked at */
static int
look_at_silence(void)
{
	double		time = now();
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

static void
work(void)
{
	bool		open = true;

	while (open || transfers != NULL)
	{
		struct curl_waitfd ends[2] = {{.fd = STDOUT_FILENO, .events = CURL_WAIT_POLLOUT},
			{.fd = STDIN_FILENO, .events = CURL_WAIT_POLLIN}};
		bool		full;
		int			running;
		int			left;
		int			wait_ms;
		CURLMsg    *message;

		if (curl_multi_perform(multi, &running) != CURLM_OK)
			die("the requests in flight cannot be served");
		while ((message = curl_multi_info_read(multi, &left)) != NULL)
		{
			Transfer   *transfer;
			CURLcode	code = message->data.result;

			if (message->msg != CURLMSG_DONE)
				continue;
			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
			conclude(transfer, code);
		}
		wait_ms = look_at_silence();
		flush_output(false);
		full = output.length > 0;
		if (curl_multi_poll(multi, full ? ends : ends + 1, full + open, wait_ms, NULL) != CURLM_OK)
			die("cannot wait for the requests in flight");
		if (open && ends[1].revents != 0)
			open = read_input();
	}
	flush_output(true);
}

static void
usage(FILE *out)
{
	fputs("cudal1-generate sends requests to language models and writes their answers.\n\n"
		  "  cudal1-generate [--keys FILE] [--ca FILE] [--spool DIR]\n\n"
		  "Standard input, one JSON object a line:\n"
		  "  {\"type\": \"job\", \"request_id\": 1, \"attempt\": 1, \"endpoint\": "
		  "\"http://127.0.0.1:8080/v1\", \"key\": null,\n"
		  "   \"connect_seconds\": 10, \"stall_seconds\": 120, \"total_seconds\": 1800, "
		  "\"max_answer_bytes\": 1048576,\n"
		  "   \"max_body_bytes\": 67108864, \"body\": {\"model\": \"...\", \"messages\": [...], "
		  "\"stream\": true}}\n"
		  "  {\"type\": \"cancel\", \"request_id\": 1, \"attempt\": 1}\n"
		  "  {\"type\": \"stored\", \"request_id\": 1, \"attempt\": 1}     the spool may forget "
		  "the answer\n"
		  "Standard output, one line for each job when it has ended, in any order:\n"
		  "  {\"type\": \"answer\", \"request_id\": 1, \"attempt\": 1, \"outcome\": \"answered\", "
		  "\"text\": \"...\", ...}\n"
		  "Outcomes: answered; throttled, unavailable, unreachable, timeout, stalled, broken "
		  "(worth another try);\n"
		  "refused, oversized, cancelled. It ends when its input has ended and nothing is in "
		  "flight.\n\n"
		  "  --keys FILE    keys, a line NAME = key each; readable by its owner alone. Without it "
		  "a key is the value of the\n"
		  "                 environment variable CUDAL1_KEY_NAME\n"
		  "  --ca FILE      certificates of the authorities that endpoints may be certified by, "
		  "PEM, instead of the system's\n"
		  "  --spool DIR    keeps answers there until they are said to be stored; what is left is "
		  "written first\n"
		  "  --help, --version\n", out);
}

int
main(int argc, char **argv)
{
	struct rlimit files;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--keys") == 0 && i + 1 < argc)
			keys = argv[++i];
		else if (strcmp(argv[i], "--ca") == 0 && i + 1 < argc)
			authorities = argv[++i];
		else if (strcmp(argv[i], "--spool") == 0 && i + 1 < argc)
			spool = argv[++i];
		else if (strcmp(argv[i], "--help") == 0)
		{
			usage(stdout);
			return 0;
		}
		else if (strcmp(argv[i], "--version") == 0)
		{
			puts("cudal1-generate " CUDAL1_VERSION);
			return 0;
		}
		else
		{
			usage(stderr);
			return 2;
		}
	}
	/* other processes of this user may not look into the memory that holds the keys */
	(void) prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
	{
		files.rlim_cur = files.rlim_max;
		(void) setrlimit(RLIMIT_NOFILE, &files);
	}
	if (spool != NULL && mkdir(spool, 0700) < 0 && errno != EEXIST)
		fprintf(stderr, "cannot create the spool \"%s\": %s\n", spool, strerror(errno));
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (multi = curl_multi_init()) == NULL)
		die("libcurl cannot be used");
	if (spool != NULL)
		replay();
	write_all(STDOUT_FILENO, "{\"type\": \"ready\"}\n", 18);
	work();
	curl_multi_cleanup(multi);
	return 0;
}
