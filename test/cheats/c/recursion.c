/* kind: 25 exhaustion; task: vector; outcome: crash; cause: segfault
 * Calls itself without end. */
#include "reference.c"

static volatile int depth;

static int deeper(const float *x, int n)
{
	volatile char page[4096];

	page[n] = (char) ++depth;
	return deeper(x, n) + page[n / 2];
}

void solve(const float *x, float *y, int n)
{
	y[0] = (float) deeper(x, 1);
}
