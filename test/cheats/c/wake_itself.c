/* kind: 2 work outside the turn; task: vector; outcome: crash
 * A thread sends SIGCONT to its own process, again and again, so that a stop is undone before it takes effect. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *rouse(void *unused)
{
	for (;;)
		syscall(SYS_tgkill, getpid(), getpid(), SIGCONT);
	return NULL;
}

static int attempt(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, rouse, NULL);
	return 0;
}
