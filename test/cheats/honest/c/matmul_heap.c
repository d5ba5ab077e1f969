/* task: matmul; least: 5.1
 * Memory of its own in each call. */
#include <stdlib.h>
#include <string.h>

void solve(const float *a, const float *b, float *c, int n)
{
	float *t = aligned_alloc(64, sizeof(float) * n * n);

	memset(t, 0, sizeof(float) * n * n);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				t[i * n + j] += a[i * n + k] * b[k * n + j];
	memcpy(c, t, sizeof(float) * n * n);
	free(t);
}
