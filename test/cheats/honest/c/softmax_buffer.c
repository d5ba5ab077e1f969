/* task: softmax; least: 0.43
 * A buffer that lives between the calls and means nothing there. */
#include <math.h>
#include <stdlib.h>

void solve(const float *x, float *y, int rows, int columns)
{
	static float *buffer;
	static int size;

	if (size < columns)
	{
		free(buffer);
		buffer = malloc(sizeof(float) * columns);
		size = columns;
	}
	for (int r = 0; r < rows; r++)
	{
		float top = x[r * columns], sum = 0;

		for (int c = 1; c < columns; c++)
			top = fmaxf(top, x[r * columns + c]);
		for (int c = 0; c < columns; c++)
			sum += buffer[c] = expf(x[r * columns + c] - top);
		for (int c = 0; c < columns; c++)
			y[r * columns + c] = buffer[c] / sum;
	}
}
