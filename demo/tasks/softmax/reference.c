/* softmax of every row, with the row's maximum taken away first */
#include <math.h>

void
solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		const float *in = x + r * columns;
		float	   *out = y + r * columns;
		float		largest = in[0];
		float		sum = 0;

		for (int i = 1; i < columns; i++)
			if (in[i] > largest)
				largest = in[i];
		for (int i = 0; i < columns; i++)
		{
			out[i] = expf(in[i] - largest);
			sum += out[i];
		}
		for (int i = 0; i < columns; i++)
			out[i] /= sum;
	}
}
