/* no buffer for the powers, so each is computed twice, and in long double */
#include <math.h>

void
solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		const float *in = x + r * columns;
		long double largest = in[0];
		long double sum = 0;

		for (int i = 1; i < columns; i++)
			largest = fmaxl(largest, in[i]);
		for (int i = 0; i < columns; i++)
			sum += expl(in[i] - largest);
		for (int i = 0; i < columns; i++)
			y[r * columns + i] = expl(in[i] - largest) / sum;
	}
}
