/* a softmax of rows of a product */
#include <math.h>

#ifndef ROUNDED
#define ROUNDED(x) (x)
#endif

void solve(const float *x, const float *w, float *y)
{
	for (int i = 0; i < 64; i++)
	{
		float		top = -INFINITY;
		float		sum = 0;

		for (int j = 0; j < 64; j++)
		{
			float		product = 0;

			for (int k = 0; k < 128; k++)
				product += ROUNDED(x[i * 128 + k]) * ROUNDED(w[j * 128 + k]);
			y[i * 64 + j] = ROUNDED(product / 8);
			top = fmaxf(top, y[i * 64 + j]);
		}
		for (int j = 0; j < 64; j++)
			sum += y[i * 64 + j] = expf(y[i * 64 + j] - top);
		for (int j = 0; j < 64; j++)
			y[i * 64 + j] /= sum;
	}
}
