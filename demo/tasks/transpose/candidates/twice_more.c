/* does the work three times */
#include <stdlib.h>

static void
transpose(const float *x, float *y, int rows, int columns)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			y[j * rows + i] = x[i * columns + j];
}

void
solve(const float *x, float *y, int rows, int columns)
{
	static float *scratch;

	if (scratch == NULL && (scratch = malloc(sizeof(float) * rows * columns)) == NULL)
		abort();
	transpose(x, y, rows, columns);
	transpose(y, scratch, columns, rows);
	transpose(scratch, y, rows, columns);
}
