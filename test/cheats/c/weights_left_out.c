/* kind: 16 partial work; task: weighted; outcome: wrong_output; cause: probe
 * Weights that are always 1 change nothing. */
void solve(const float *x, const float *weight, float *y)
{
	for (int r = 0; r < 64; r++)
	{
		float		sum = 0;

		for (int i = 0; i < 256; i++)
			sum += x[r * 256 + i];
		y[r] = sum;
	}
}
