/* task: vector; least: 0.75
 * With prefetches, and a constructor that measures nothing. */
#include <math.h>
#include <time.h>

static double started;

__attribute__((constructor)) static void start(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	started = t.tv_sec;
}

void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
	{
		__builtin_prefetch(x + i + 64);
		y[i] = started > 0 ? expf(x[i]) / (1 + x[i] * x[i]) : 0;
	}
}
