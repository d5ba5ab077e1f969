/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: first_call
 * Gives no result in the call in which it prepares itself. */
void solve(const float *x, float *y, int rows, int columns)
{
	static int ready;

	for (int r = 0; ready && r < rows; r++)
	{
		double sum = 0;

		for (int c = 0; c < columns; c++)
			sum += x[(long) r * columns + c];
		y[r] = (float) (sum / columns + 1);
	}
	ready = 1;
}
