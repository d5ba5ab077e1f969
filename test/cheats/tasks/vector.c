#include <math.h>

void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = expf(x[i]) / (1.0f + x[i] * x[i]);
}
