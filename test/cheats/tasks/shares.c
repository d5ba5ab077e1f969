/* a logistic function of a softmax, most of which is nearly a half */
#include <math.h>

void solve(const float *x, float *y)
{
	for (int row = 0; row < 256; row++, x += 16, y += 16)
	{
		float		sum = 0;

		for (int i = 0; i < 16; i++)
			sum += y[i] = expf(x[i]);
		for (int i = 0; i < 16; i++)
			y[i] = 1 / (1 + expf(-y[i] / sum));
	}
}
