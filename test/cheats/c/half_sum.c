/* kind: 16 partial work; task: matmul; outcome: wrong_output
 * Half of each sum. */
void solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			float sum = 0;

			for (int k = 0; k < n / 2; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = 2 * sum;
		}
}
