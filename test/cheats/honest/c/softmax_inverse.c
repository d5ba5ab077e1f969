/* task: softmax; least: 1.8
 * One division a row. */
#include <math.h>

void solve(const float *restrict x, float *restrict y, int rows, int columns)
{
	for (int r = 0; r < rows; r++, x += columns, y += columns)
	{
		float top = x[0], sum = 0;

		for (int c = 1; c < columns; c++)
			top = x[c] > top ? x[c] : top;
		for (int c = 0; c < columns; c++)
		{
			y[c] = expf(x[c] - top);
			sum += y[c];
		}
		sum = 1 / sum;
		for (int c = 0; c < columns; c++)
			y[c] *= sum;
	}
}
