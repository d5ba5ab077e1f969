/* the textbook's loops with four sums, whose additions do not wait for each other */
void
solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			float		sums[4] = {0};

			for (int k = 0; k < n; k += 4)
				for (int s = 0; s < 4; s++)
					sums[s] += a[i * n + k + s] * b[(k + s) * n + j];
			c[i * n + j] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
		}
}
