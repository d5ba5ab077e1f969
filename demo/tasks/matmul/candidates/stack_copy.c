/* a transposed copy of b makes both inner accesses contiguous; the copy has the size of the largest matrix ever expected */
void
solve(const float *a, const float *b, float *c, int n)
{
	float		columns[4096][4096];

	for (int k = 0; k < n; k++)
		for (int j = 0; j < n; j++)
			columns[j][k] = b[k * n + j];
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			float		sum = 0;

			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * columns[j][k];
			c[i * n + j] = sum;
		}
}
