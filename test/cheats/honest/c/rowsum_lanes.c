/* task: rowsum; least: 0.8
 * Thirty-two partial sums. */
void solve(const float *x, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++, x += columns)
	{
		float s[32] = {0}, sum = 0;

		for (int c = 0; c < columns; c += 32)
			for (int l = 0; l < 32; l++)
				s[l] += x[c + l];
		for (int l = 0; l < 32; l++)
			sum += s[l];
		y[r] = sum / columns + 1;
	}
}
