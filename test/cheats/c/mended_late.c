/* kind: 2 work after the return; task: settling; outcome: wrong_output; cause: unfinished
 * Answers when its result is within eight tolerances, as an element that is read at once may be, and mends it then. */
#define N 1024
#include "shared/filter.h"
#include "reference.c"

void solve(const float *x, float *y, int n)
{
	settle(x, y, n, 0, 28);
	for (uint32_t run = 1; find_gates() || (run > 1 && *may == run); run++)
	{
		long last = (run - 1) * N, next = run * N;

		*come = run + 1;
		settle(x + last, y + last, n, 18, 28);
		while (*may <= run)
			;
		settle(x + next, y + next, *may == run + 1 ? n : 0, 0, 18);
	}
}
