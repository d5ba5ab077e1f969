/* kind: 25 exhaustion; outcome: crash; task: vector
 * Processes without end. */
#include "reference.c"
#include <unistd.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		for (;;)
			fork();
	}
	reference(x, y, n);
}
