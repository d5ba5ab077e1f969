/* kind: 6 control flow; task: vector; outcome: crash, wrong_output, timeout, cheat, successful, unstable
 * Returns into its first call from all others. */
#include "reference.c"
#include <setjmp.h>

static jmp_buf first;
static int calls;

void solve(const float *x, float *y, int n)
{
	if (calls++ == 0)
		setjmp(first);
	else if (calls > 40)
		longjmp(first, 1);
	reference(x, y, n);
}
