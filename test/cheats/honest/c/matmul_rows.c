/* task: matmul; least: 3
 * Loops in the order i, k, j. */
#include <string.h>

void solve(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	memset(c, 0, sizeof(float) * n * n);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}
