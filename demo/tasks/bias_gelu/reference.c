/* y = gelu(x + bias), gelu(t) = t (1 + erf(t / sqrt 2)) / 2 */
#include <math.h>

void
solve(const float *x, const float *bias, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < columns; i++)
		{
			float		t = x[r * columns + i] + bias[i];

			y[r * columns + i] = 0.5f * t * (1 + erff(t * 0.70710678f));
		}
}
