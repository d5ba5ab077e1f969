/* an unsigned char is always below 2048 */
void
solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		float		sum = 0;

		for (unsigned char i = 0; i < columns; i++)
		{
			sum += x[r * columns + i];
			y[r * columns + i] = sum;
		}
	}
}
