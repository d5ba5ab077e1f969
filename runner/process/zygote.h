/*
 * zygote.h
 *		A process that has imported PyTorch and forks executors.
 */
#ifndef CUDAL1_ZYGOTE_H
#define CUDAL1_ZYGOTE_H

#include <stddef.h>
#include <stdint.h>

#include "process/messages.h"
#include "process/sandbox.h"

#define ZYGOTE_ENDS	64

typedef struct Zygote
{
	pid_t		sandbox;
	int			sock;
	int			log_fd;
	/* the last forks that it said had ended: the nonces that they were asked for with, and how */
	uint64_t	ended[ZYGOTE_ENDS];
	int			wait_status[ZYGOTE_ENDS];
	unsigned	ends;
} Zygote;

/*
 * starts the interpreter; zygote_ready waits until it has imported PyTorch, else `text` is what it
 * printed
 */
extern ExecutorResult zygote_start(Zygote *zygote, Sandbox *sandbox, int filter_fd);
extern ExecutorResult zygote_ready(Zygote *zygote, double seconds, char *text, size_t size);
extern void zygote_end(Zygote *zygote);

/*
 * the wait status of the fork that was asked for with a nonce; others that were killed may end
 * before it, or after. -1: not known
 */
extern int	zygote_fork_status(Zygote *zygote, uint64_t forked);

#endif							/* CUDAL1_ZYGOTE_H */
