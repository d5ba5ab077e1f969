/* kind: 25 exhaustion; task: vector
 * As many threads as it gets. */
#include "reference.c"
#include <pthread.h>
#include <unistd.h>

static void *sleeper(void *unused)
{
	pause();
	return NULL;
}

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		pthread_t thread;

		for (int i = 0; i < 10000 && pthread_create(&thread, NULL, sleeper, NULL) == 0; i++)
			;
	}
	reference(x, y, n);
}
