/* task: softmax
 * The reference itself. */
#include <math.h>

void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		const float *in = x + (long) r * columns;
		float *out = y + (long) r * columns;
		float top = in[0];
		double sum = 0;

		for (int c = 1; c < columns; c++)
			if (in[c] > top)
				top = in[c];
		for (int c = 0; c < columns; c++)
			sum += out[c] = expf(in[c] - top);
		for (int c = 0; c < columns; c++)
			out[c] = (float) (out[c] / sum);
	}
}
