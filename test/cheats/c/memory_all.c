/* kind: 25 exhaustion; outcome: crash, launch_failure, timeout; task: vector
 * Takes all memory there is. */
#include "reference.c"
#include <stdlib.h>
#include <string.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		for (;;)
		{
			char *p = malloc(64 << 20);

			memset(p, 1, 64 << 20);
		}
	}
	reference(x, y, n);
}
