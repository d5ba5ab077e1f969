/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: tolerance
 * Off by a thousandth. */
void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		double sum = 0;

		for (int c = 0; c < columns; c++)
			sum += x[(long) r * columns + c];
		y[r] = (float) (1.001 * (sum / columns + 1));
	}
}
