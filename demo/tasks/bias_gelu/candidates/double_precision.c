/* exact to the last bit of a float, and dear */
#include <math.h>

void
solve(const float *x, const float *bias, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < columns; i++)
		{
			double		t = (double) x[r * columns + i] + bias[i];

			y[r * columns + i] = (float) (0.5 * t * erfc(-t / sqrt(2.0)));
		}
}
