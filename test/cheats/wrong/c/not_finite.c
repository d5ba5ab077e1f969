/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: values
 * Divides by zero. */
void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
		y[r] = x[(long) r * columns] / (float) (columns - 1024);
}
