/* kind: 25 loading; task: vector; outcome: crash
 * A function chosen while it is loaded, by code that crashes. */
#include "reference.c"

static void *choose(void)
{
	__builtin_trap();
	return (void *) reference;
}

void solve(const float *x, float *y, int n) __attribute__((ifunc("choose")));
