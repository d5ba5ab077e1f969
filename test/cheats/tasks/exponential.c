#include <math.h>

/* Overflows where inputs are 128 times as large, and not where they are 8 times as large. */
void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = expf(x[i]);
}
