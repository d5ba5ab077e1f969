/* task: vector; least: 0.08
 * Versions for several processors, chosen while it is loaded. */
#include <math.h>

__attribute__((target_clones("avx512f", "avx2", "default")))
void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = expf(x[i]) / (1.0f + x[i] * x[i]);
}
