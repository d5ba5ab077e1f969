/*
 * output.c
 *		Lines for the program that started this one.
 *
 * They wait in memory while it is busy, so that requests in flight are served all the same: data
 * that arrived meanwhile is an answer, not a stall.
 */
#include "generate/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generate/answer.h"

static Cudal1Buffer output = {0};

void
die(const char *problem)
{
	fprintf(stderr, "cudal1-generate: %s\n", problem);
	exit(1);
}

void
output_line(const char *line, size_t length)
{
	cudal1_answer_append(&output, line, length);
}

bool
output_flush(bool wait)
{
	size_t		sent = 0;

	while (sent < output.length)
	{
		struct pollfd ready = {.fd = STDOUT_FILENO,.events = POLLOUT};
		/* a pipe that polls writable takes so many without a wait */
		size_t		piece = output.length - sent < PIPE_BUF ? output.length - sent : PIPE_BUF;
		ssize_t		n;

		if (poll(&ready, 1, wait ? -1 : 0) <= 0 && !wait)
			break;
		n = write(STDOUT_FILENO, output.data + sent, piece);
		if (n > 0)
			sent += (size_t) n;
		else if (n == 0 || errno != EINTR)
			_exit(1);			/* the reader is gone: the spool has the answer */
	}
	memmove(output.data, output.data + sent, output.length - sent);
	output.length -= sent;
	return output.length > 0;
}
