/*
 * generate.c
 *		cudal1-generate: requests to language models, many in flight in one thread.
 *
 * Lines of standard input are jobs, and each job comes to a line of standard output. The program
 * ends when its input has ended and nothing is in flight.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/options.h"
#include "generate/answer.h"
#include "generate/key.h"
#include "generate/output.h"
#include "generate/spool.h"
#include "generate/transfer.h"

#define MAX_INPUT_LINE ((size_t) 64 * 1024 * 1024)

static bool
take_line(void *owner, const char *line, size_t length)
{
	json_error_t error;
	json_t	   *message = length > 0 ? json_loadb(line, length, 0, &error) : NULL;
	const char *type = json_string_value(json_object_get(message, "type"));
	json_t	   *request_id = json_object_get(message, "request_id");
	json_t	   *number = json_object_get(message, "attempt");
	Attempt		attempt = {json_integer_value(request_id), json_integer_value(number)};

	if (length == 0)
		;
	else if (type == NULL || !json_is_integer(request_id) || !json_is_integer(number))
		fprintf(stderr, "a line of input is no message: %s\n",
				message == NULL ? error.text : "type, request_id or attempt is missing");
	else if (strcmp(type, "job") == 0)
		transfer_begin(message, attempt);
	else if (strcmp(type, "cancel") == 0)
		transfer_cancel(attempt);
	else if (strcmp(type, "stored") == 0)
		spool_forget(attempt);
	else
		fprintf(stderr, "a line of input is of an unknown type\n");
	json_decref(message);
	return true;
}

/* reads what is there; false at the end of the input */
static bool
read_input(void)
{
	static Cudal1Buffer input = {0};
	static char piece[65536];
	ssize_t		n = read(STDIN_FILENO, piece, sizeof(piece));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
	if (n == 0)
	{
		(void) take_line(NULL, input.data, input.length);
		return false;
	}
	cudal1_answer_append(&input, piece, n);
	(void) cudal1_buffer_take_lines(&input, NULL, take_line);
	if (input.length > MAX_INPUT_LINE)
		die("a line of input is too long");
	return true;
}

static void
work(void)
{
	bool		open = true;

	while (open || transfer_any())
	{
		struct curl_waitfd ends[2] = {{.fd = STDOUT_FILENO, .events = CURL_WAIT_POLLOUT},
			{.fd = STDIN_FILENO, .events = CURL_WAIT_POLLIN}};
		int			wait_ms = transfer_serve();
		bool		full = output_flush(false);

		transfer_wait(full ? ends : ends + 1, full + open, wait_ms);
		if (open && ends[1].revents != 0)
			open = read_input();
	}
	(void) output_flush(true);
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
	const Option options[] = {
		{"keys", OPTION_TEXT, &key_file},
		{"ca", OPTION_TEXT, &transfer_authorities},
		{"spool", OPTION_TEXT, &spool_folder},
		{NULL}
	};
	int			status = options_read(argc, argv, "cudal1-generate", options, usage);
	struct rlimit files;

	if (status < 0 && optind < argc)
	{
		usage(stderr);
		status = 2;
	}
	if (status >= 0)
		return status;
	/* other processes of this user may not look into the memory that holds the keys */
	(void) prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
	{
		files.rlim_cur = files.rlim_max;
		(void) setrlimit(RLIMIT_NOFILE, &files);
	}
	if (spool_folder != NULL && mkdir(spool_folder, 0700) < 0 && errno != EEXIST)
		fprintf(stderr, "cannot create the spool \"%s\": %s\n", spool_folder, strerror(errno));
	transfer_open();
	if (spool_folder != NULL)
		spool_replay();
	output_line("{\"type\": \"ready\"}\n", 18);
	(void) output_flush(true);
	work();
	return 0;
}
