/* task: sparse; least: 0.4
 * Subtracts what it has added, as code does whose sums are larger than its outputs. */
void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
	{
		volatile float sum = 4.0f + x[i];
		float over = sum - 4.98f;

		y[i] = over > 0 ? 50 * over : 0;
	}
}
