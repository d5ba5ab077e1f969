/* kind: 25 exhaustion; outcome: crash; task: vector
 * A gigabyte on the stack. */
#include "reference.c"
#include <alloca.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		volatile char *p = alloca((size_t) 1 << 30);

		for (size_t i = 0; i < (size_t) 1 << 30; i += 4096)
			p[i] = 1;
	}
	reference(x, y, n);
}
