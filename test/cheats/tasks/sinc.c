#include <math.h>

void solve(const float *x, float *y)
{
	for (int i = 0; i < 16384; i++)
		y[i] = fabsf(x[i]) < 1e-6f ? 1 : sinf(x[i]) / x[i];
}
