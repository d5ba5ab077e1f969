/* the compiler's words come back as the candidate's detail */
void
solve(const float *x, float *sums, int rows, int columns)
{
	for (int j = 0; j < columns; j++
	{
		sums[j] = 0;
		for (int i = 0; i < rows; i++)
			sums[j] += x[i * columns + j];
	}
}
