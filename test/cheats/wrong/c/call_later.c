/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: values
 * Keeps what the first call has made. */
void solve(const float *x, float *y, int rows, int columns)
{
	static float kept[32];
	static int calls;

	for (int r = 0; r < rows; r++)
	{
		double sum = 0;

		for (int c = 0; c < columns && calls == 0; c++)
			sum += x[(long) r * columns + c];
		if (calls == 0)
			kept[r] = (float) (sum / columns + 1);
		y[r] = kept[r];
	}
	calls++;
}
