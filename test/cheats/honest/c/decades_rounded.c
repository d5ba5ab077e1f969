/* task: decades
 * Rounds as code does whose sums are larger than its outputs. */
void solve(const float *x, float *y, int n)
{
	float scale = x[0] < 0.75f ? 1.0f : 1e-4f;

	for (int i = 0; i < n; i++)
	{
		volatile float sum = 16.0f + scale * x[i] * x[(i + 1) % n];

		y[i] = sum - 16.0f;
	}
}
