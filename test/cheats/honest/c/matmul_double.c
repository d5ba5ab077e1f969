/* task: matmul; least: 0.5
 * Sums in double precision: slower, and more exact. */
void solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			double sum = 0;

			for (int k = 0; k < n; k++)
				sum += (double) a[i * n + k] * b[k * n + j];
			c[i * n + j] = (float) sum;
		}
}
