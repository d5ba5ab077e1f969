/* task: softmax; least: 0.55
 * Maximum and sum in one pass. */
#include <math.h>

void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++, x += columns, y += columns)
	{
		float top = -INFINITY, sum = 0;

		for (int c = 0; c < columns; c++)
		{
			float higher = x[c] > top ? x[c] : top;

			sum = sum * expf(top - higher) + expf(x[c] - higher);
			top = higher;
		}
		for (int c = 0; c < columns; c++)
			y[c] = expf(x[c] - top) / sum;
	}
}
