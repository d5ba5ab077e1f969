/* task: matmul; least: 5
 * Memory of its own on the stack, half a megabyte. */
#include <alloca.h>
#include <string.h>

void solve(const float *a, const float *b, float *c, int n)
{
	float *t = alloca(512 << 10);

	memcpy(t, b, sizeof(float) * n * n);
	memset(c, 0, sizeof(float) * n * n);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * t[k * n + j];
}
