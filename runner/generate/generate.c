/*
 * generate.c
 *		cudal1-generate: requests to language models, many in flight in one thread.
 *
 * Lines of standard input are jobs, and each comes to a line of standard output. An answer was paid
 * for, so it is a file of the spool from before it is written until it is stored: whichever side
 * dies in between, the next process writes it again.
 *
 * An endpoint is not trusted: its words are bounded, the key is taken out of them, and nothing of
 * the surroundings (proxies, .netrc) decides where a key goes. libcurl verifies certificates and
 * follows no redirect unless it is told to.
 */
#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/options.h"
#include "generate/generate.h"

#define LINGER_SECONDS 5		/* after a whole answer usage and [DONE] may come */
#define LOOK_SECONDS 0.025	/* answers that come meanwhile are served together */
#define EXCERPT 300				/* bytes of an error's body that an operator is shown */
#define KEY_START 8				/* bytes by which a key is known */

/* a try of a request */
typedef struct Transfer
{
	struct Transfer *next;
	char		name[64];		/* of its file in the spool */
	char	   *key;
	CURL	   *easy;
	double		started;
	char		problem[CURL_ERROR_SIZE];
	Answer		answer;			/* after an error status, text is the beginning of the body */
} Transfer;

static const char *key_file = NULL;
static const char *authorities = NULL;	/* a file that replaces the system's */
static const char *spool_folder = NULL;
static int	spool = -1;
static CURLM *multi;
static struct curl_slist *headers;
static Transfer *transfers = NULL;

/* finds the key of a name, malloc'd; otherwise returns why there is none */
static const char *
find_key(const char *name, char **key)
{
	char		variable[100];
	char	   *line = NULL;
	size_t		room = 0;
	struct stat status;
	FILE	   *file;
	bool		safe;

	snprintf(variable, sizeof(variable), "CUDAL1_KEY_%s", name);
	if (key_file == NULL)
		return getenv(variable) != NULL && sscanf(getenv(variable), " %m[!-~]", key) == 1 ? NULL
			: "there is no file of keys, nor a variable CUDAL1_KEY_<name>";
	if ((file = fopen(key_file, "re")) == NULL)
		return "the file of keys (cudal1.key_file) cannot be read";
	safe = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)
		&& (status.st_mode & (status.st_uid == 0 ? 027 : 077)) == 0;
	while (safe && *key == NULL && getline(&line, &room, file) > 0)
		if (strncmp(line, name, strlen(name)) == 0)
			(void) sscanf(line + strlen(name), " = %m[!-~]", key);
	free(line);
	fclose(file);
	return !safe ? "the file of keys can be read by others, so it is not used: chmod 600"
		: *key == NULL ? "the file of keys has none of this name" : NULL;
}

static void
put_out(const char *line)
{
	if (printf("%s\n", line) < 0 || fflush(stdout) != 0)
		exit(1);				/* the reader is gone: the spool has the answer */
}

/* makes a line a file of the spool, which is whole or not there */
static void
keep(const char *line, const char *name)
{
	ssize_t		length = (ssize_t) strlen(line);
	int			fd = openat(spool, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (write(fd, line, length) != length || renameat(spool, "new", spool, name) < 0)
		fprintf(stderr, "cannot keep an answer in \"%s\": %m\n", spool_folder);
	close(fd);
}

/* puts out what a former process kept and nobody has stored */
static void
open_spool(void)
{
	DIR		   *folder;
	struct dirent *entry;
	char	   *line = NULL;
	size_t		room = 0;
	FILE	   *file;

	(void) mkdir(spool_folder, 0700);
	if ((folder = opendir(spool_folder)) == NULL)
	{
		fprintf(stderr, "cannot use the spool \"%s\": %m\n", spool_folder);
		return;
	}
	spool = dirfd(folder);
	while ((entry = readdir(folder)) != NULL)
		if (strstr(entry->d_name, ".json") != NULL
			&& (file = fdopen(openat(spool, entry->d_name, O_RDONLY | O_CLOEXEC), "r")) != NULL)
		{
			if (getline(&line, &room, file) > 0)
				put_out(line);
			fclose(file);
		}
	free(line);
}

/* overwrites a key in a text of an endpoint, also where the text ends within it */
static void
hide(char *text, const char *key)
{
	while (strlen(key) >= KEY_START && (text = memmem(text, strlen(text), key, KEY_START)) != NULL)
		for (const char *k = key; *k != '\0' && *text == *k; k++)
			*text++ = '*';
}

/* seconds that the endpoint asks for, as a number or a date; 0 for none */
static double
retry_after(CURL *easy)
{
	struct curl_header *field;
	double		seconds = 0;

	if (curl_easy_header(easy, "retry-after-ms", 0, CURLH_HEADER, -1, &field) == CURLHE_OK)
		seconds = strtod(field->value, NULL) / 1000;
	if (!(seconds > 0)
		&& curl_easy_header(easy, "retry-after", 0, CURLH_HEADER, -1, &field) == CURLHE_OK
		&& !((seconds = strtod(field->value, NULL)) > 0))
		seconds = (double) (curl_getdate(field->value, NULL) - time(NULL));
	return seconds > 1e9 ? 1e9 : seconds > 0 ? seconds : 0;
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
	return code == CURLE_OPERATION_TIMEDOUT ? "timeout" : "broken";
}

/* puts out what a transfer came to, and frees it; outcome: NULL where the answer or code says it */
static void
conclude(Transfer *t, const char *outcome, CURLcode code)
{
	Answer	   *answer = &t->answer;
	double		wait = retry_after(t->easy);
	char		words[EXCERPT + 64];
	Transfer  **at = &transfers;
	long		status = 0;
	const char *name;
	json_t	   *value;
	char	   *line;
	bool		paid;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (outcome != NULL)
		answer_close(answer, outcome, t->problem);
	if (status < 300)
		answer_end(answer, code == CURLE_OK
				   || (code == CURLE_OPERATION_TIMEDOUT && answer->complete));
	snprintf(words, sizeof(words), "HTTP status %ld: %s", status,
			 status < 400 ? "redirects are not followed"
			 : answer->text.length > 0 ? answer->text.data : "(no text)");
	if (answer->outcome == NULL)
		answer_close(answer, outcome_of(status, wait > 0, code), status >= 300 ? words
					 : t->problem[0] != '\0' ? t->problem : curl_easy_strerror(code));
	paid = strcmp(answer->outcome, "answered") == 0 || (status < 300 && answer->text.length > 0);
	if (paid)
		json_object_set_new(answer->report, "text",
							json_stringn(answer->text.data, answer->text.length));
	json_object_foreach(answer->report, name, value)
		if (t->key != NULL && json_is_string(value))
			hide((char *) json_string_value(value), t->key);
	json_object_update_new(answer->report, json_pack(
		"{s:s, s:s, s:o*, s:o*, s:f}", "type", "answer", "outcome", answer->outcome,
		"status", status > 0 ? json_integer(status) : NULL,
		"retry_after", wait > 0 ? json_real(wait) : NULL, "seconds", clock_now() - t->started));
	/* ASCII alone, whatever the encoding of the database */
	line = json_dumps(answer->report, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
	if (paid && spool >= 0)
		keep(line, t->name);
	put_out(line);
	free(line);

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	curl_multi_remove_handle(multi, t->easy);
	curl_easy_cleanup(t->easy);
	free(t->key);
	json_decref(answer->report);
	cudal1_buffer_free(&answer->text);
	cudal1_buffer_free(&answer->line);
	cudal1_buffer_free(&answer->data);
	free(t);
}

static size_t
on_body(char *data, size_t size, size_t n, void *owner)
{
	Transfer   *t = owner;
	bool		was_complete = t->answer.complete;
	long		status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 300)
	{
		/* the beginning of an error's body is enough */
		cudal1_buffer_append(&t->answer.text, data, n);
		return t->answer.text.length < EXCERPT ? n : 0;
	}
	if (!answer_feed(&t->answer, data, n))
		return 0;
	/* Bytes after the whole answer, such as pings, do not put off its end. */
	if (t->answer.complete && !was_complete)
		curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS,
						 (long) (1000 * (clock_now() - t->started + LINGER_SECONDS)));
	return n;
}

/* begins a try of a job, or concludes one that can't be sent */
static void
begin(Transfer *t, json_t *job)
{
	CURL	   *easy = t->easy;
	const char *endpoint;
	const char *key_name = json_string_value(json_object_get(job, "key"));
	const char *problem;
	json_t	   *body;
	double		connect;
	double		stall;
	double		total;
	char		socket[108] = "";	/* as long as the kernel takes */
	char		path[2000] = "";
	char		url[4096];
	char	   *text;

	if (json_unpack(job, "{s:s, s:o, s:F, s:F, s:F, s:I, s:I}", "endpoint", &endpoint,
					"body", &body, "connect_seconds", &connect, "stall_seconds", &stall,
					"total_seconds", &total, "max_answer_bytes", &t->answer.max_text,
					"max_body_bytes", &t->answer.max_body) < 0)
		strcpy(t->problem, "the job has no endpoint, no body or not all limits");
	else if (key_name != NULL && (problem = find_key(key_name, &t->key)) != NULL)
		snprintf(t->problem, sizeof(t->problem), "key \"%.63s\": %s", key_name, problem);
	if (t->problem[0] != '\0')
	{
		conclude(t, "refused", CURLE_OK);
		return;
	}
	/* unix:/path/of/socket:/v1 or http(s)://host/v1, to which the call is appended */
	(void) sscanf(endpoint, "unix:%107[^:]:%1999s", socket, path);
	snprintf(url, sizeof(url), "%s%s/chat/completions",
			 socket[0] != '\0' ? "http://localhost" : endpoint, path);
	text = json_dumps(body, JSON_COMPACT);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, socket[0] != '\0' ? socket : NULL);
	curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, text);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	/* a body that is compressed all the same is read */
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "identity");
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "cudal1-generate/" CUDAL1_VERSION);
	curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
	curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, t->key);
	if (authorities != NULL)
	{
		curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long) (connect * 1000));
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) (total * 1000));
	/* libcurl looks each second at what came in the last five; a document comes at its end */
	stall = json_is_true(json_object_get(body, "stream")) ? stall : total;
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, stall < 1 ? 1L : (long) stall);
	/* Servers keep an idle connection for longer, so none is closed as a request is sent on it. */
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, 2L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->problem);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	curl_multi_add_handle(multi, easy);
	free(text);
}

static void
take_line(const char *line, size_t length)
{
	json_error_t error;
	json_t	   *message = json_loadb(line, length, 0, &error);
	json_int_t	request_id = 0;
	json_int_t	attempt = 0;
	const char *type = "";
	char		name[64];
	Transfer   *t;

	/* the type is taken last, so a line that lacks something has none */
	if (json_unpack_ex(message, &error, 0, "{s:I, s:I, s:s}", "request_id", &request_id,
					   "attempt", &attempt, "type", &type) < 0)
		fprintf(stderr, "a line of input is no message: %s\n", error.text);
	snprintf(name, sizeof(name), "%lld-%lld.json", request_id, attempt);
	if (strcmp(type, "job") == 0 && (t = calloc(1, sizeof(Transfer))) != NULL)
	{
		t->next = transfers;
		transfers = t;
		strcpy(t->name, name);
		t->easy = curl_easy_init();
		t->started = clock_now();
		t->answer.report = json_pack("{s:I, s:I}", "request_id", request_id, "attempt", attempt);
		begin(t, message);
	}
	else if (strcmp(type, "cancel") == 0)
	{
		for (t = transfers; t != NULL && strcmp(t->name, name) != 0;)
			t = t->next;
		if (t != NULL)
			conclude(t, "cancelled", CURLE_OK);
	}
	else if (strcmp(type, "stored") == 0)
		(void) unlinkat(spool, name, 0);
	json_decref(message);
}

/* reads what is there; false at the end of the input */
static bool
read_input(void)
{
	static Cudal1Buffer input = {0};
	char		piece[65536];
	ssize_t		n = read(STDIN_FILENO, piece, sizeof(piece));

	for (ssize_t i = 0; i < n; i++)
		if (piece[i] != '\n')
			cudal1_buffer_append(&input, piece + i, 1);
		else
		{
			take_line(input.data, input.length);
			input.length = 0;
		}
	return n > 0;
}

static void
usage(FILE *to)
{
	fputs("cudal1-generate sends requests to language models: a job in each line of\n"
		  "standard input, an answer in each line of standard output, as docs/protocol.md\n"
		  "says. It ends when its input has ended and nothing is in flight.\n"
		  "\n"
		  "Usage:\n"
		  "  cudal1-generate [--keys FILE] [--ca FILE] [--spool DIR]\n"
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
	struct curl_waitfd input = {STDIN_FILENO, CURL_WAIT_POLLIN};
	struct rlimit files;
	CURLMsg    *message;
	Transfer   *t;
	int			left;

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
	/* so many bytes may wait until they are read */
	(void) fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
	multi = curl_multi_init();
	headers = curl_slist_append(NULL, "Content-Type: application/json");
	headers = curl_slist_append(headers, "Expect:");
	if (spool_folder != NULL)
		open_spool();
	put_out("{\"type\": \"ready\"}");
	while (input.fd >= 0 || transfers != NULL)
	{
		input.revents = 0;
		curl_multi_poll(multi, &input, 1, 1000, NULL);
		clock_sleep(LOOK_SECONDS);
		if (input.revents != 0 && !read_input())
			input.fd = -1;
		curl_multi_perform(multi, &left);
		while ((message = curl_multi_info_read(multi, &left)) != NULL)
		{
			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &t);
			conclude(t, NULL, message->data.result);
		}
	}
	return 0;
}
