/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: unsteady
 * Other outputs for the same input. */
void solve(const float *x, float *y, int rows, int columns)
{
	static unsigned state = 7;

	for (int r = 0; r < rows; r++)
		y[r] = x[(long) r * columns] + (float) ((state = state * 1664525 + 1013904223) >> 16);
}
