/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: later_calls
 * Room for ten results. */
void solve(const float *x, float *y, int rows, int columns)
{
	static int calls;

	calls += calls <= 10;
	for (int r = 0; r < rows; r++)
	{
		double sum = 0;

		for (int c = 0; c < columns && calls <= 10; c++)
			sum += x[(long) r * columns + c];
		y[r] = (float) (sum / columns + 1);
	}
}
