/* tiles of 64: right for sizes that are multiples of 64, and 96 is none */
#define TILE 64

void
solve(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	for (int i = 0; i < n * n; i++)
		c[i] = 0;
	for (int i0 = 0; i0 + TILE <= n; i0 += TILE)
		for (int k0 = 0; k0 + TILE <= n; k0 += TILE)
			for (int i = i0; i < i0 + TILE; i++)
				for (int k = k0; k < k0 + TILE; k++)
					for (int j = 0; j < n; j++)
						c[i * n + j] += a[i * n + k] * b[k * n + j];
}
