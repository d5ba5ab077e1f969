/* layer normalisation of every row: mean, variance, scale, shift */
#include <math.h>

void
solve(const float *x, const float *scale, const float *shift, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		const float *in = x + r * columns;
		float	   *out = y + r * columns;
		float		mean = 0;
		float		variance = 0;

		for (int i = 0; i < columns; i++)
			mean += in[i];
		mean /= columns;
		for (int i = 0; i < columns; i++)
			variance += (in[i] - mean) * (in[i] - mean);
		variance /= columns;
		for (int i = 0; i < columns; i++)
			out[i] = (in[i] - mean) / sqrtf(variance + 1e-5f) * scale[i] + shift[i];
	}
}
