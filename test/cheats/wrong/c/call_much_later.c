/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: later_calls
 * A counter that runs over. */
void solve(const float *x, float *y, int rows, int columns)
{
	static unsigned char calls = 200;

	calls += calls > 0;
	for (int r = 0; r < rows; r++)
	{
		double sum = 0;

		for (int c = 0; c < columns && calls > 0; c++)
			sum += x[(long) r * columns + c];
		y[r] = (float) (sum / columns + 1);
	}
}
