/* right for what it writes: half of the matrix */
void
solve(const float *x, float *y, int rows, int columns)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j <= i && j < columns; j++)
			y[i * columns + j] = x[j * rows + i];
}
