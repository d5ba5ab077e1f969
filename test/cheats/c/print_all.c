/* kind: 25 exhaustion; outcome: crash; cause: printed; task: vector
 * Prints a gigabyte. */
#include "reference.c"
#include <stdio.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		for (int i = 0; i < 1 << 24; i++)
			puts("sixty-three characters of text, and then once more the same, and on");
	}
	reference(x, y, n);
}
