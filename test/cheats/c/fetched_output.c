/* kind: 24 caches warmed while waiting; task: scatter; outcome: successful; bound: 1.2
 * At its gate it brings the lines of its next output into caches. */
#define N 256
#include "shared/filter.h"
#include "shared/scatter.h"

void solve(const int *at, float *y, int n)
{
	scatter(at, y, n);
	for (uint32_t run = 1; find_gates() || (run > 1 && *may == run); run++)
	{
		float *out = y + run * OUT;
		const int *in = at + run * N;

		*come = run + 1;
		for (int i = 0; *may <= run; i = (i + 16) % OUT)
			__builtin_prefetch(out + i, 1, 3);
		memset(out, 0, OUT * sizeof(float));
		for (int i = 0; i < n && *may == run + 1; i++)
			out[in[i]] += 1;
	}
}
