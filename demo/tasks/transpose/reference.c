/* y = x transposed, row by row of x: every store goes to another cache line */
void
solve(const float *x, float *y, int rows, int columns)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			y[j * rows + i] = x[i * columns + j];
}
