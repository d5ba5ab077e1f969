/* task: vector; least: 0.78
 * Four at a time. */
#include <math.h>

void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i += 4)
	{
		float a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];

		y[i] = expf(a) / (1 + a * a);
		y[i + 1] = expf(b) / (1 + b * b);
		y[i + 2] = expf(c) / (1 + c * c);
		y[i + 3] = expf(d) / (1 + d * d);
	}
}
