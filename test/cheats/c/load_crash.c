/* kind: 25 loading; task: vector; outcome: crash
 * A constructor that crashes. */
#include "reference.c"

__attribute__((constructor)) static void start(void)
{
	*(volatile int *) 8 = 1;
}

void solve(const float *x, float *y, int n)
{
	reference(x, y, n);
}
