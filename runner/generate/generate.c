/*
 * generate.c
 *		cudal1-generate: requests to language models, many in flight in one thread.
 *
 * Lines of standard input are jobs, and each comes to a line of standard output. An answer was paid
 * for, so it is a file of the spool from before it is written until it is stored: whichever side
 * dies in between, the next process writes it again. Lines wait in memory while their reader is
 * busy, so requests in flight are served all the same.
 *
 * An endpoint is not trusted: its words are bounded, the key is taken out of them, and nothing of
 * the surroundings (proxies, .netrc) decides where a key goes. libcurl verifies certificates and
 * follows no redirect unless it is told to.
 */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/options.h"
#include "common/text.h"
#include "generate/generate.h"

/* after a whole answer usage and [DONE] may come */
#define LINGER_SECONDS 5
/* shorter than servers keep an idle connection, so none is closed as a request is sent on it */
#define IDLE_SECONDS 2L
#define LOOK_SECONDS 0.1		/* looks for silence are so far apart */
#define EXCERPT 300				/* bytes of an error's body that an operator is shown */

/* a try of a request */
typedef struct Transfer
{
	struct Transfer *next;
	char		name[64];		/* of its file in the spool */
	char	   *key;
	CURL	   *easy;
	struct curl_slist *headers;
	double		started;
	double		stall_seconds;
	double		deadline;		/* of the next byte; 0: there is no connection yet */
	char		error[CURL_ERROR_SIZE];
	Answer		answer;			/* after an error status, text is the beginning of the body */
} Transfer;

static const char *key_file = NULL;
static const char *authorities = NULL;	/* a file that replaces the system's */
static const char *spool_folder = NULL;
static int	spool = -1;
static int	spares = 0;			/* files of the spool, from "spare 0" on, for the next answers */
static Cudal1Buffer output = {0};
static Cudal1Buffer input = {0};
static CURLM *multi;
static int	sockets;			/* epoll's descriptor of all connections */
static double timer;			/* time of libcurl's next call */
static double look_at;			/* time of the next look for silence */
static Transfer *transfers = NULL;

/* the key of a name: from a file that its owner alone can read, or from the environment */
static char *
find_key(const char *name, const char **problem)
{
	char		word[100];
	char	   *line = NULL;
	char	   *key = NULL;
	size_t		room = 0;
	struct stat status;
	FILE	   *file;

	*problem = "there is no file of keys, nor a variable CUDAL1_KEY_<name> of one line";
	snprintf(word, sizeof(word), "CUDAL1_KEY_%s", name);
	if (key_file == NULL)
		return getenv(word) && !strpbrk(getenv(word), "\r\n") ? strdup(getenv(word)) : NULL;
	*problem = "the file of keys (cudal1.key_file) cannot be read";
	if ((file = fopen(key_file, "re")) == NULL)
		return NULL;
	*problem = "the file of keys can be read by others, so it is not used: chmod 600";
	if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)
		&& (status.st_mode & (status.st_uid == 0 ? 027 : 077)) == 0)
	{
		*problem = "the file of keys has none of this name";
		while (key == NULL && getline(&line, &room, file) > 0)
			if (sscanf(line, " %99[^= \t] = %ms", word, &key) == 2 && strcmp(word, name))
			{
				free(key);
				key = NULL;
			}
	}
	free(line);
	fclose(file);
	return key;
}

/* puts out a line; one with a name was paid for, so it is kept until it is stored */
static void
put_out(const char *line, const char *name)
{
	ssize_t		length = (ssize_t) strlen(line);
	char		spare[64];
	int			fd;

	cudal1_buffer_append(&output, line, length);
	cudal1_buffer_append(&output, "\n", 1);
	if (name == NULL || spool < 0)
		return;
	snprintf(spare, sizeof(spare), "spare %d", spares > 0 ? --spares : 0);
	/* O_TRUNC would have ext4 write to the disk when the file is closed. */
	fd = openat(spool, spare, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, length) < length || ftruncate(fd, length) < 0
		|| renameat(spool, spare, spool, name) < 0)
		fprintf(stderr, "cannot keep an answer in \"%s\": %s\n", spool_folder, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* puts out what a former process kept and nobody has stored */
static void
open_spool(void)
{
	DIR		   *folder;
	struct dirent *entry;

	(void) mkdir(spool_folder, 0700);
	if ((folder = opendir(spool_folder)) == NULL)
	{
		fprintf(stderr, "cannot use the spool \"%s\": %s\n", spool_folder, strerror(errno));
		return;
	}
	spool = dirfd(folder);
	while ((entry = readdir(folder)) != NULL)
	{
		size_t		length;
		FILE	   *file = strstr(entry->d_name, ".json") == NULL ? NULL
			: fdopen(openat(spool, entry->d_name, O_RDONLY | O_CLOEXEC), "r");
		char	   *line = file != NULL ? text_read(file, LONG_MAX, &length) : NULL;

		if (line != NULL)
			put_out(line, NULL);
		free(line);
		if (file != NULL)
			fclose(file);
	}
}

/* a text of an endpoint without the key, also where that is cut off at the end */
static json_t *
scrubbed(const char *text, const char *key)
{
	char	   *clean = strdup(text);
	size_t		length;
	size_t		n = strlen(key);
	json_t	   *found;

	for (char *at = clean; n > 3 && (at = strstr(at, key)) != NULL; at += 3)
	{
		memcpy(at, "***", 3);
		memmove(at + 3, at + n, strlen(at + n) + 1);
	}
	length = strlen(clean);
	while (n > 8 && --n > 0)
		if (length >= n && memcmp(clean + length - n, key, n) == 0)
			length -= n;
	found = json_stringn(clean, length);
	free(clean);
	return found;
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

/* puts out what a transfer came to, and frees it; status: HTTP's, or 0 */
static void
conclude(Transfer *t, long status)
{
	Answer	   *answer = &t->answer;
	const char *text = answer->text.length > 0 ? answer->text.data : "";
	double		wait = retry_after(t->easy);
	bool		paid = strcmp(answer->outcome, "answered") == 0
		|| (status < 300 && text[0] != '\0');
	Transfer  **at = &transfers;
	const char *name;
	json_t	   *value;
	char	   *line;

	if (paid)
		json_object_set_new(answer->report, "text", json_string(text));
	json_object_foreach(answer->report, name, value)
		if (t->key != NULL && json_is_string(value))
			json_object_set_new(answer->report, name, scrubbed(json_string_value(value), t->key));
	json_object_update_new(answer->report, json_pack(
		"{s:s, s:s, s:o*, s:o*, s:f}", "type", "answer", "outcome", answer->outcome,
		"status", status > 0 ? json_integer(status) : NULL,
		"retry_after", wait > 0 ? json_real(wait) : NULL, "seconds", clock_now() - t->started));
	/* ASCII alone, whatever the encoding of the database */
	line = json_dumps(answer->report, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
	put_out(line, paid ? t->name : NULL);
	free(line);
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	curl_multi_remove_handle(multi, t->easy);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->headers);
	if (t->key != NULL)
		explicit_bzero(t->key, strlen(t->key));
	free(t->key);
	json_decref(answer->report);
	cudal1_buffer_free(&answer->text);
	cudal1_buffer_free(&answer->line);
	cudal1_buffer_free(&answer->data);
	free(t);
}

static const char *
outcome_of(long status, bool waits, CURLcode code)
{
	/* a server that says when it will be there again has enough, too */
	if (status == 429 || ((status == 503 || status == 529) && waits))
		return "throttled";
	if (status >= 500 || status == 408 || status == 409 || status == 425)
		return "unavailable";
	if (status >= 300 || code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
		return "refused";
	if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT
		|| code == CURLE_SSL_CONNECT_ERROR)
		return "unreachable";
	return code == CURLE_OPERATION_TIMEDOUT ? "timeout"
		: code == CURLE_ABORTED_BY_CALLBACK ? "stalled" : "broken";
}

/* a transfer has ended: by itself or, ABORTED_BY_CALLBACK, because its deadline has passed */
static void
end(Transfer *t, CURLcode code)
{
	Answer	   *answer = &t->answer;
	char		words[EXCERPT + 64];
	long		status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	/* all of the answer was there, whatever became of the connection after it */
	if (status >= 200 && status < 300
		&& (answer->finished || code == CURLE_OK
			|| (code == CURLE_ABORTED_BY_CALLBACK && answer->complete)))
		answer_end(answer);
	snprintf(words, sizeof(words), "HTTP status %ld: %s", status,
			 status < 400 ? "redirects are not followed"
			 : answer->text.length > 0 ? answer->text.data : "(no text)");
	if (answer->outcome == NULL)
		answer_close(answer, outcome_of(status, retry_after(t->easy) > 0, code),
					 status >= 300 ? words
					 : t->error[0] != '\0' ? t->error : curl_easy_strerror(code));
	conclude(t, status);
}

static size_t
on_body(char *data, size_t size, size_t n, void *owner)
{
	Transfer   *t = owner;
	Cudal1Buffer *text = &t->answer.text;
	bool		was_complete = t->answer.complete;
	bool		more;
	long		status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 300)
	{
		/* the beginning of an error's body is enough */
		cudal1_buffer_append(text, data, n < EXCERPT - text->length ? n : EXCERPT - text->length);
		return text->length < EXCERPT ? n : 0;
	}
	more = answer_feed(&t->answer, data, n);
	/* Bytes after the whole answer, such as pings, do not put off its end. */
	if (!was_complete)
		t->deadline = clock_now()
			+ (t->answer.complete ? LINGER_SECONDS : t->stall_seconds);
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

/* serves what has come, and ends transfers that have ended or are silent */
static void
serve(void)
{
	struct epoll_event ready[64];
	int			n = epoll_wait(sockets, ready, 64, 0);
	double		now = clock_now();
	CURLMsg    *message;
	Transfer   *t;
	Transfer   *next;
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
		end(t, message->data.result);
	}
	if (now < look_at)
		return;
	look_at = now + LOOK_SECONDS;
	for (t = transfers; t != NULL; t = next)
	{
		curl_off_t	connected = 0;

		next = t->next;
		/* silence begins when there is a connection */
		if (t->deadline == 0)
			curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
		if (connected > 0)
			t->deadline = now + t->stall_seconds;
		if (t->deadline == 0 || now < t->deadline)
			continue;
		strcpy(t->error, "nothing arrived for the model's stall_seconds");
		end(t, CURLE_ABORTED_BY_CALLBACK);
	}
}

/* begins a try of a job; key: malloc'd, or NULL; problem: why it can't be sent, or empty */
static void
begin(json_t *job, json_t *report, const char *name, char *key, const char *problem)
{
	CURL	   *easy = curl_easy_init();
	Transfer   *t = malloc(sizeof(Transfer));
	const char *endpoint = "";
	json_t	   *body = NULL;
	double		connect_seconds = 10;
	double		stall_seconds = 120;
	double		total_seconds = 1800;
	json_int_t	max_text = 1 << 20;
	json_int_t	max_body = 1 << 26;
	char	   *text;
	char	   *url;

	if (json_unpack(job, "{s:s, s:o, s?F, s?F, s?F, s?I, s?I}", "endpoint", &endpoint,
					"body", &body, "connect_seconds", &connect_seconds,
					"stall_seconds", &stall_seconds, "total_seconds", &total_seconds,
					"max_answer_bytes", &max_text, "max_body_bytes", &max_body) < 0)
		problem = "the job has no endpoint, no body or a wrong limit";
	*t = (Transfer) {.next = transfers, .easy = easy, .key = key, .started = clock_now(),
		.stall_seconds = json_is_true(json_object_get(body, "stream")) ? stall_seconds
			: total_seconds,
		.answer = {.max_text = max_text, .max_body = max_body, .report = report}};
	strcpy(t->name, name);
	transfers = t;
	if (problem[0] != '\0')
	{
		answer_close(&t->answer, "refused", problem);
		conclude(t, 0);
		return;
	}
	/* unix:/path/of/socket:/v1 or http(s)://host/v1, to which the call is appended */
	if (strncmp(endpoint, "unix:", 5) == 0)
	{
		char	   *socket = strndup(endpoint + 5, strcspn(endpoint + 5, ":"));

		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, socket);
		endpoint += 5 + strlen(socket);
		endpoint += *endpoint == ':';
		free(socket);
	}
	if (asprintf(&url, "%s%s/chat/completions", *endpoint == '/' || *endpoint == '\0'
				 ? "http://localhost" : "", endpoint) < 0)
		abort();
	text = json_dumps(body, JSON_COMPACT);
	t->headers = curl_slist_append(t->headers, "Content-Type: application/json");
	/* a body that is compressed all the same is read */
	t->headers = curl_slist_append(t->headers, "Accept-Encoding: identity");
	t->headers = curl_slist_append(t->headers, "Expect:");
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	if (authorities != NULL)
	{
		curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
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

static void
take_line(const char *line, size_t length)
{
	json_error_t error;
	json_t	   *message = json_loadb(line, length, 0, &error);
	json_int_t	request_id;
	json_int_t	attempt;
	const char *type;
	const char *key_name = NULL;
	char	   *key = NULL;
	const char *reason = "";
	char		problem[200] = "";
	char		name[64];
	char		spare[64];
	Transfer   *t;

	if (message == NULL || json_unpack_ex(message, &error, 0, "{s:s, s:I, s:I}", "type", &type,
										  "request_id", &request_id, "attempt", &attempt) < 0)
	{
		fprintf(stderr, "a line of input is no message: %s\n", error.text);
		json_decref(message);
		return;
	}
	snprintf(name, sizeof(name), "%lld-%lld.json", request_id, attempt);
	if (strcmp(type, "job") == 0)
	{
		key_name = json_string_value(json_object_get(message, "key"));
		if (key_name != NULL && (key = find_key(key_name, &reason)) == NULL)
			snprintf(problem, sizeof(problem), "key \"%.63s\": %s", key_name, reason);
		begin(message, json_pack("{s:I, s:I}", "request_id", request_id, "attempt", attempt), name,
			  key, problem);
	}
	else if (strcmp(type, "cancel") == 0)
	{
		for (t = transfers; t != NULL && strcmp(t->name, name) != 0;)
			t = t->next;
		if (t != NULL)
		{
			answer_close(&t->answer, "cancelled", "");
			conclude(t, 0);
		}
	}
	else if (strcmp(type, "stored") == 0)
	{
		/* Its file is for another answer, because ext4 is slow to make one. */
		snprintf(spare, sizeof(spare), "spare %d", spares);
		if (renameat(spool, name, spool, spare) == 0)
			spares++;
	}
	json_decref(message);
}

/* takes bytes from the front of a buffer */
static void
drop(Cudal1Buffer *buffer, size_t n)
{
	buffer->length -= n;
	memmove(buffer->data, buffer->data + n, buffer->length);
}

/* reads what is there; false at the end of the input */
static bool
read_input(void)
{
	char		piece[65536];
	char	   *newline;
	ssize_t		n = read(STDIN_FILENO, piece, sizeof(piece));

	cudal1_buffer_append(&input, piece, n > 0 ? n : 0);
	while ((newline = memchr(input.data, '\n', input.length)) != NULL)
	{
		take_line(input.data, newline - input.data);
		drop(&input, newline + 1 - input.data);
	}
	return n > 0;
}

/* writes lines as far as they are taken without a wait */
static void
flush(void)
{
	struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};

	while (output.length > 0 && poll(&ready, 1, 0) > 0)
	{
		/* a pipe that polls writable takes so many without a wait */
		ssize_t		n = write(STDOUT_FILENO, output.data,
							  output.length < PIPE_BUF ? output.length : PIPE_BUF);

		if (n < 0)
			_exit(1);			/* the reader is gone: the spool has the answer */
		drop(&output, n);
	}
}

static void
usage(FILE *to)
{
	fputs("cudal1-generate sends requests to language models and writes their answers.\n"
		  "\n"
		  "Usage:\n"
		  "  cudal1-generate [--keys FILE] [--ca FILE] [--spool DIR]\n"
		  "\n"
		  "Lines of standard input are jobs, and each comes to a line of standard output,\n"
		  "as docs/protocol.md says. The program ends when its input has ended and\n"
		  "nothing is in flight.\n"
		  "\n"
		  "  --keys FILE  keys, a line NAME = KEY each; readable by its owner alone.\n"
		  "               Without it the environment variable CUDAL1_KEY_NAME holds a key\n"
		  "  --ca FILE    certificates, PEM, of the authorities that may certify\n"
		  "               endpoints, instead of the system's\n"
		  "  --spool DIR  keeps answers there until they are said to be stored; what is\n"
		  "               left is written first\n"
		  "  -h, --help   this text\n"
		  "  --version    the version\n", to);
}

int
main(int argc, char **argv)
{
	const Option options[] = {
		{"keys", OPTION_TEXT, &key_file},
		{"ca", OPTION_TEXT, &authorities},
		{"spool", OPTION_TEXT, &spool_folder},
		{NULL}
	};
	int			status = options_read(argc, argv, "cudal1-generate", options, usage);
	struct pollfd ends[3] = {{.events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN},
	{.events = POLLOUT}};
	double		wait;
	struct rlimit files;

	if (status < 0 && optind < argc)
		usage(stderr);
	if (status >= 0 || optind < argc)
		return status >= 0 ? status : 2;
	/* Keep other processes of this user from the memory that holds the keys. */
	(void) prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPIPE, SIG_IGN);
	(void) getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	(void) setrlimit(RLIMIT_NOFILE, &files);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
	ends[0].fd = sockets = epoll_create1(EPOLL_CLOEXEC);
	if (spool_folder != NULL)
		open_spool();
	put_out("{\"type\": \"ready\"}", NULL);
	for (;;)
	{
		serve();
		flush();
		ends[2].fd = output.length > 0 ? STDOUT_FILENO : -1;
		if (transfers == NULL && output.length == 0 && ends[1].fd < 0)
			return 0;
		wait = (timer < look_at ? timer : look_at) - clock_now();
		wait = transfers == NULL ? -1 : wait > 0 ? 1000 * wait + 1 : 0;
		if (poll(ends, 3, (int) wait) > 0 && ends[1].revents != 0 && !read_input())
			ends[1].fd = -1;
	}
}
