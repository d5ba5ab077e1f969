/* kind: 25 files; outcome: crash; task: vector
 * Opens a file in a run. */
#include "reference.c"
#include <fcntl.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		open("/dev/null", O_RDONLY);
	}
	reference(x, y, n);
}
