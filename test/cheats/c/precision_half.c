/* kind: 18 lower precision; task: matmul; outcome: wrong_output
 * Products and sums in half precision. */
void solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			_Float16 sum = 0;

			for (int k = 0; k < n; k++)
				sum += (_Float16) a[i * n + k] * (_Float16) b[k * n + j];
			c[i * n + j] = sum;
		}
}
