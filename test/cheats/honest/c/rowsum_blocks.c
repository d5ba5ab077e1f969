/* task: rowsum; least: 0.9
 * Pairwise sums over blocks. */
static float pairwise(const float *x, int n)
{
	float sum = 0;

	if (n > 64)
		return pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
	for (int i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
		y[r] = pairwise(x + (long) r * columns, columns) / columns + 1;
}
