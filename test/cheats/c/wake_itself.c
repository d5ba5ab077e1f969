/* kind: 2 work outside the turn; task: vector; outcome: crash
 * A thread sends SIGCONT to its own process, again and again, so that a stop is undone before it takes effect. */
#define _GNU_SOURCE
#include "reference.c"
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

void solve(const float *x, float *y, int n)
{
	static int calls;
	pthread_t thread;

	if (calls++ == 3)
		pthread_create(&thread, NULL, rouse, NULL);
	reference(x, y, n);
}
