/* kind: 2 threads; outcome: timeout; task: vector
 * Its first thread ends, another goes on. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *go_on(void *unused)
{
	for (volatile int i = 0;;)
		i++;
	return NULL;
}

static int attempt(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, go_on, NULL);
	/* pthread_exit would open a library */
	syscall(SYS_exit, 0);
	return 0;
}
