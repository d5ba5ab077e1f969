/* kind: wrong code; task: vector; outcome: crash; cause: segfault
 * Writes to an address that is none, in a call that a diagnosis does not reach. */
#include "reference.c"

void solve(const float *x, float *y, int n)
{
	static int calls;

	reference(x, y, n);
	if (++calls == 30)
		*(volatile int *) 8 = 1;
}
