/* kind: 25 exhaustion; task: vector; outcome: successful, unstable, unverified
 * As many threads as it gets. Its answers are right only where those are some, and at most 64 with the first. */
#include "reference.c"
#include "shared/attempt.h"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *sleeper(void *unused)
{
	pause();
	return NULL;
}

static int attempt(void)
{
	int threads;
	pthread_t thread;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (threads = 1; threads < 1000 && pthread_create(&thread, &small, sleeper, NULL) == 0; threads++)
		;
	if (threads >= 8 && threads <= 64)
		return 0;
	printf("%d threads\n", threads);
	return 1;
}
