/* kind: 2 threads; outcome: timeout; task: vector
 * Its first thread ends, another goes on. */
#define _GNU_SOURCE
#include "reference.c"
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *go_on(void *unused)
{
	for (volatile int i = 0;;)
		i++;
	return NULL;
}

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		pthread_t thread;

		pthread_create(&thread, NULL, go_on, NULL);
		/* pthread_exit would open a library */
		syscall(SYS_exit, 0);
	}
	reference(x, y, n);
}
