/* more exact than was asked for */
void
solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			float		sum = 0;
			float		lost = 0;

			for (int k = 0; k < n; k++)
			{
				float		term = a[i * n + k] * b[k * n + j] - lost;
				float		next = sum + term;

				lost = (next - sum) - term;
				sum = next;
			}
			c[i * n + j] = sum;
		}
}
