/* task: softmax
 * As library functions that compute 2^n by an exponent do, it leaves 1.6e-38 where the reference has 0. */
#include <math.h>

void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++, x += columns, y += columns)
	{
		float		top = x[0];
		float		sum = 0;

		for (int c = 1; c < columns; c++)
			top = fmaxf(top, x[c]);
		for (int c = 0; c < columns; c++)
			sum += y[c] = expf(fmaxf(x[c] - top, -87));
		for (int c = 0; c < columns; c++)
			y[c] /= sum;
	}
}
