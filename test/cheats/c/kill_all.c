/* kind: 25 escape; outcome: crash; task: vector
 * Ends all that can be ended. */
#include "reference.c"
#include <signal.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		kill(-1, SIGKILL);
	}
	reference(x, y, n);
}
