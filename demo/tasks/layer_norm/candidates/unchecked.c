/* a scratch buffer "large enough for anything", not looked at before it is used */
#include <math.h>
#include <stdlib.h>

void
solve(const float *x, const float *scale, const float *shift, float *y, int rows, int columns)
{
	float	   *centred = malloc((size_t) 1 << 46);

	for (int r = 0; r < rows; r++)
	{
		float		mean = 0;
		float		variance = 0;

		for (int i = 0; i < columns; i++)
			mean += x[r * columns + i];
		mean /= columns;
		for (int i = 0; i < columns; i++)
		{
			centred[i] = x[r * columns + i] - mean;
			variance += centred[i] * centred[i];
		}
		for (int i = 0; i < columns; i++)
			y[r * columns + i] = centred[i] / sqrtf(variance / columns + 1e-5f) * scale[i] + shift[i];
	}
	free(centred);
}
