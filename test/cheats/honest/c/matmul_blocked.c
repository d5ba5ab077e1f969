/* task: matmul; least: 3
 * Tiles of sixteen. */
#include <string.h>

void solve(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	memset(c, 0, sizeof(float) * n * n);
	for (int ii = 0; ii < n; ii += 16)
		for (int kk = 0; kk < n; kk += 16)
			for (int jj = 0; jj < n; jj += 16)
				for (int i = ii; i < ii + 16; i++)
					for (int k = kk; k < kk + 16; k++)
						for (int j = jj; j < jj + 16; j++)
							c[i * n + j] += a[i * n + k] * b[k * n + j];
}
