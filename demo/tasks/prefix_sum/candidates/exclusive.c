/* the other convention: each place holds the sum of what lies before it */
void
solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		float		sum = 0;

		for (int i = 0; i < columns; i++)
		{
			y[r * columns + i] = sum;
			sum += x[r * columns + i];
		}
	}
}
