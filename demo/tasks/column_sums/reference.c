/* the sum of every column of a row-major matrix, one column after the other */
void
solve(const float *x, float *sums, int rows, int columns)
{
	for (int j = 0; j < columns; j++)
	{
		float		sum = 0;

		for (int i = 0; i < rows; i++)
			sum += x[i * columns + j];
		sums[j] = sum;
	}
}
