/* one pass less; exp(89) is beyond the largest float */
#include <math.h>

void
solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		const float *in = x + r * columns;
		float	   *out = y + r * columns;
		float		sum = 0;

		for (int i = 0; i < columns; i++)
		{
			out[i] = expf(in[i]);
			sum += out[i];
		}
		for (int i = 0; i < columns; i++)
			out[i] /= sum;
	}
}
