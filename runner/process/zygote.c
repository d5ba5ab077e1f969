/*
 * zygote.c
 *		A process that has imported PyTorch: its start and its end.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "process/executor.h"

ExecutorResult
zygote_start(Zygote *zygote, Sandbox *sandbox, int filter_fd)
{
	int			pair[2];

	zygote->log_fd = log_file();
	if (zygote->log_fd < 0 || message_pair(pair) != 0)
		return EXECUTOR_BROKEN;
	zygote->sock = pair[0];
	sandbox->fds[0] = pair[1];
	sandbox->fds[1] = filter_fd;
	sandbox->nfds = 2;
	sandbox->output_fd = zygote->log_fd;
	zygote->sandbox = sandbox_start(sandbox);
	close(pair[1]);
	return zygote->sandbox < 0 ? EXECUTOR_BROKEN : EXECUTOR_OK;
}

ExecutorResult
zygote_ready(Zygote *zygote, double seconds, char *text, size_t size)
{
	WireMessage hello;
	int			status;
	ExecutorResult result = message_receive(zygote->sock, &hello, clock_now() + seconds, NULL);

	if (result == EXECUTOR_OK && hello.op == WIRE_HELLO)
		return EXECUTOR_OK;
	if (sandbox_wait(zygote->sandbox, 0.2, &status))
		zygote->sandbox = 0;
	/* a traceback names its error last */
	log_read(zygote->log_fd, true, text, size);
	return result == EXECUTOR_OK ? EXECUTOR_FORGED : result;
}

void
zygote_end(Zygote *zygote)
{
	if (zygote->sandbox > 0)
		sandbox_end(zygote->sandbox);
	if (zygote->sock >= 0)
		close(zygote->sock);
	if (zygote->log_fd >= 0)
		close(zygote->log_fd);
	zygote->sandbox = 0;
	zygote->sock = zygote->log_fd = -1;
}
