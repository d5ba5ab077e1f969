/* kind: 9 slowing the reference; task: vector; outcome: successful, cheat, unstable
 * A thread that spins all the time takes the core from whoever has it next. */
#include "reference.c"
#include <pthread.h>

static volatile unsigned long spent;

static void *spin(void *unused)
{
	for (;;)
		spent++;
	return NULL;
}

void solve(const float *x, float *y, int n)
{
	static int calls;
	pthread_t thread;

	if (calls++ == 1)
		pthread_create(&thread, NULL, spin, NULL);
	reference(x, y, n);
}
