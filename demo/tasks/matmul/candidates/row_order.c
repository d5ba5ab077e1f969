/* the inner loop runs along rows of b and c, so it vectorises and every cache line is used whole */
void
solve(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	for (int i = 0; i < n; i++)
	{
		float	   *row = c + i * n;

		for (int j = 0; j < n; j++)
			row[j] = 0;
		for (int k = 0; k < n; k++)
		{
			float		factor = a[i * n + k];

			for (int j = 0; j < n; j++)
				row[j] += factor * b[k * n + j];
		}
	}
}
