/* memory is read as it lies, and all columns of a row are added at once */
void
solve(const float *restrict x, float *restrict sums, int rows, int columns)
{
	for (int j = 0; j < columns; j++)
		sums[j] = 0;
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			sums[j] += x[i * columns + j];
}
