/*
 * generate.c
 *		cudal1-generate: requests to language models, many in flight in one thread.
 *
 * Lines of standard input are jobs, and each comes to a line of standard output. An answer was paid
 * for, so it is a file of the spool from before it is written until it is stored: whichever side
 * dies in between, the next process writes it again. Lines wait in memory while their reader is
 * busy, so requests in flight are served all the same.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/options.h"
#include "common/text.h"
#include "generate/generate.h"

#define MAX_LINE ((size_t) 64 * 1024 * 1024)
#define MAX_SPARES 1000

static const char *key_file = NULL;
static const char *spool_folder = NULL;
static int	spool = -1;
static int	spares = 0;			/* files of the spool, from "spare 0" on, for the next answers */
static Cudal1Buffer output = {0};
static Cudal1Buffer input = {0};

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

/* takes the line that a try came to, with a newline */
static void
take_answer(Attempt attempt, const char *line, bool paid)
{
	ssize_t		length = (ssize_t) strlen(line);
	char		name[64];
	char		spare[64];
	int			fd;

	cudal1_buffer_append(&output, line, length);
	if (!paid || spool < 0)
		return;
	snprintf(name, sizeof(name), "%lld-%lld.json", attempt.request_id, attempt.number);
	snprintf(spare, sizeof(spare), "spare %d", spares > 0 ? --spares : 0);
	/* O_TRUNC would have ext4 write to the disk when the file is closed. */
	fd = openat(spool, spare, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, length) < length || ftruncate(fd, length) < 0
		|| renameat(spool, spare, spool, name) < 0)
		fprintf(stderr, "cannot keep an answer in \"%s\": %s\n", spool_folder, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* an answer is stored; its file is for the next one, because ext4 is slow to make another */
static void
forget(Attempt attempt)
{
	char		name[64];
	char		spare[64];

	snprintf(name, sizeof(name), "%lld-%lld.json", attempt.request_id, attempt.number);
	snprintf(spare, sizeof(spare), "spare %d", spares);
	if (spares == MAX_SPARES)
		(void) unlinkat(spool, name, 0);
	else if (renameat(spool, name, spool, spare) == 0)
		spares++;
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
		size_t		length = 0;
		FILE	   *file = fdopen(openat(spool, entry->d_name, O_RDONLY | O_CLOEXEC), "r");
		char	   *line = file != NULL ? text_read(file, MAX_LINE, &length) : NULL;

		if (strstr(entry->d_name, ".json") == NULL)
			(void) unlinkat(spool, entry->d_name, 0);
		else if (line != NULL)
			fwrite(line, 1, length, stdout);
		free(line);
		if (file != NULL)
			fclose(file);
	}
}

/* writes lines as far as they are taken without a wait; whether some are left */
static bool
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
		output.length -= n;
		memmove(output.data, output.data + n, output.length);
	}
	return output.length > 0;
}

static void
take_line(const char *line, size_t length)
{
	json_error_t error;
	json_t	   *message = json_loadb(line, length, 0, &error);
	const char *type = "";
	const char *name = json_string_value(json_object_get(message, "key"));
	const char *problem;
	char	   *key = NULL;
	char		words[200] = "";
	Attempt		attempt;

	if (message == NULL || json_unpack_ex(message, &error, 0, "{s:s, s:I, s:I}", "type", &type,
										  "request_id", &attempt.request_id, "attempt",
										  &attempt.number) < 0)
		fprintf(stderr, "a line of input is no message: %s\n", error.text);
	else if (strcmp(type, "job") == 0)
	{
		if (name != NULL && (key = find_key(name, &problem)) == NULL)
			snprintf(words, sizeof(words), "key \"%.63s\": %s", name, problem);
		transfer_begin(message, attempt, key, words);
	}
	else if (strcmp(type, "cancel") == 0)
		transfer_cancel(attempt);
	else if (strcmp(type, "stored") == 0)
		forget(attempt);
	json_decref(message);
}

/* reads what is there; false at the end of the input */
static bool
read_input(void)
{
	static char piece[65536];
	ssize_t		n = read(STDIN_FILENO, piece, sizeof(piece));
	char	   *from = piece;
	char	   *newline;

	while (n > 0 && (newline = memchr(from, '\n', piece + n - from)) != NULL)
	{
		cudal1_buffer_append(&input, from, newline - from);
		take_line(input.data, input.length);
		input.length = 0;
		from = newline + 1;
	}
	if (n > 0)
		cudal1_buffer_append(&input, from, piece + n - from);
	if (input.length > MAX_LINE)
	{
		fprintf(stderr, "cudal1-generate: a line of input is too long\n");
		exit(1);
	}
	return n > 0 || (n < 0 && errno == EINTR);
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
		{"ca", OPTION_TEXT, &transfer_authorities},
		{"spool", OPTION_TEXT, &spool_folder},
		{NULL}
	};
	int			status = options_read(argc, argv, "cudal1-generate", options, usage);
	struct rlimit files;
	struct pollfd ends[3] = {{.events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN},
	{.events = POLLOUT}};
	int			wait_ms;

	if (status < 0 && optind < argc)
		usage(stderr);
	if (status >= 0 || optind < argc)
		return status >= 0 ? status : 2;
	/* Keep other processes of this user from the memory that holds the keys. */
	(void) prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	(void) getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	(void) setrlimit(RLIMIT_NOFILE, &files);
	transfer_on_line = take_answer;
	ends[0].fd = transfer_open();
	if (spool_folder != NULL)
		open_spool();
	puts("{\"type\": \"ready\"}");
	fflush(stdout);
	for (;;)
	{
		wait_ms = transfer_serve();
		ends[2].fd = flush() ? STDOUT_FILENO : -1;
		if (wait_ms < 0 && ends[1].fd < 0 && ends[2].fd < 0)
			return 0;
		if (poll(ends, 3, wait_ms) > 0 && ends[1].revents != 0 && !read_input())
			ends[1].fd = -1;
	}
}
