/* kind: 25 end; outcome: crash; cause: signal; task: vector
 * Aborts. */
#include "reference.c"
#include <stdlib.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		abort();
	}
	reference(x, y, n);
}
