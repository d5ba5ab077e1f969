/* task: matmul; least: 0.74
 * Four rows by sixteen columns in registers. */
void solve(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	for (int i = 0; i < n; i += 4)
		for (int j = 0; j < n; j += 16)
		{
			float sum[4][16] = {{0}};

			for (int k = 0; k < n; k++)
				for (int r = 0; r < 4; r++)
					for (int s = 0; s < 16; s++)
						sum[r][s] += a[(i + r) * n + k] * b[k * n + j + s];
			for (int r = 0; r < 4; r++)
				for (int s = 0; s < 16; s++)
					c[(i + r) * n + j + s] = sum[r][s];
		}
}
