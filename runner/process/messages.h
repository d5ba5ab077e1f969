/*
 * messages.h
 *		Messages between the supervisor and its executors: datagrams over sockets.
 */
#ifndef CUDAL1_MESSAGES_H
#define CUDAL1_MESSAGES_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/wire.h"

/* a signal handler sets it, and every wait for an executor ends */
extern volatile sig_atomic_t executor_cancelled;

/* Results of a message to an executor; Executor (executor.h) has further details. */
typedef enum ExecutorResult
{
	EXECUTOR_OK,
	EXECUTOR_FAILED,			/* the code raised an error; `text` says which */
	EXECUTOR_UNSUPPORTED,		/* `text` says what */
	EXECUTOR_FAULTED,			/* a kernel of the code ended by a fault; `text` says which */
	EXECUTOR_TIMEOUT,
	EXECUTOR_ENDED,				/* the process ended; `wait_status` says how */
	EXECUTOR_FORGED,			/* a reply that no honest executor sends */
	/* a process that should be stopped, this one or another, ran; `intruder` says of which side */
	EXECUTOR_AWAKE,
	EXECUTOR_BROKEN,			/* the host failed, not the code */
} ExecutorResult;

#define MESSAGE_HANDED	8		/* descriptors that go along with a message, at most */

/* a socket's two ends; -1: errno says why */
extern int message_pair(int pair[2]);

/* waits for a message; pid: the sender's, as the kernel vouches, or NULL */
extern ExecutorResult message_receive(int sock, WireMessage *message, double deadline, pid_t *pid);

/* sends one, with `n` descriptors */
extern bool message_send(int sock, WireMessage *message, const int *fds, int n, int flags);

/*
 * waits for a message, or the deadline, without going to sleep, because a sleeping virtual core
 * takes long to wake
 */
extern void message_watch(int sock, double deadline);

#endif							/* CUDAL1_MESSAGES_H */
