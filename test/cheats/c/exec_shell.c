/* kind: 25 escape; outcome: crash; task: vector
 * A shell could do much. */
#include "reference.c"
#include <unistd.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		execl("/bin/sh", "sh", "-c", "sleep 100", NULL);
	}
	reference(x, y, n);
}
