/* task: logits; least: 0.2
 * Inputs and logits in half precision, which the task's own tolerance lets code compute with. */
#include <math.h>

static float half(float x)
{
	return (float) (_Float16) x;
}

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
				product += half(x[i * 128 + k]) * half(w[j * 128 + k]);
			y[i * 64 + j] = half(product / 8);
			top = fmaxf(top, y[i * 64 + j]);
		}
		for (int j = 0; j < 64; j++)
			sum += y[i * 64 + j] = expf(y[i * 64 + j] - top);
		for (int j = 0; j < 64; j++)
			y[i * 64 + j] /= sum;
	}
}
