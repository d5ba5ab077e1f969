/* kind: 2 processes; outcome: crash; task: vector
 * A child does the work and has all the time. */
#include "reference.c"
#include <unistd.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		if (fork() == 0)
			for (;;)
				reference(x, y, n);
	}
	reference(x, y, n);
}
