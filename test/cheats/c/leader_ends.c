/* kind: 2 threads; outcome: timeout, crash; task: vector
 * Its first thread ends, another goes on. */
#include "reference.c"
#include <pthread.h>

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
		pthread_exit(NULL);
	}
	reference(x, y, n);
}
