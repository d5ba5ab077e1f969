/* task: vector; least: 0.47
 * In double precision. */
#include <math.h>

void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = (float) (exp(x[i]) / (1.0 + (double) x[i] * x[i]));
}
