/* kind: 25 loading; task: vector; profile: impatient; outcome: timeout; cause: slow_load
 * A constructor that never ends. */
#include "reference.c"

__attribute__((constructor)) static void start(void)
{
	for (volatile int i = 0;;)
		i++;
}

void solve(const float *x, float *y, int n)
{
	reference(x, y, n);
}
