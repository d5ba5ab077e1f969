/* kind: wrong code; task: rowsum; outcome: crash; cause: segfault
 * Prepares its input in place. */
void solve(const float *x, float *y, int rows, int columns)
{
	float *scaled = (float *) x;

	for (int r = 0; r < rows; r++)
	{
		double sum = 0;

		for (int c = 0; c < columns; c++)
			sum += scaled[(long) r * columns + c] /= columns;
		y[r] = (float) (sum + 1);
	}
}
