#include <math.h>

/* outputs that are a billion times as small for some inputs as for others */
void solve(const float *x, float *y, int n)
{
	float factor = expf(-20 * x[0]);

	for (int i = 0; i < n; i++)
		y[i] = factor * expf(-x[i]) / (1 + x[i] * x[i]);
}
