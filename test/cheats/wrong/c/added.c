/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: uninitialised
 * Adds to its outputs, which hold whatever they held. */
void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		for (int c = 0; c < columns; c++)
			y[r] += x[(long) r * columns + c] / columns;
		y[r] += 1;
	}
}
