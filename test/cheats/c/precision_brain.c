/* kind: 18 lower precision; task: matmul; outcome: wrong_output
 * Operands cut to eight bits of mantissa. */
#include <string.h>

static float cut(float x)
{
	unsigned bits;

	memcpy(&bits, &x, 4);
	bits &= 0xFFFF0000u;
	memcpy(&x, &bits, 4);
	return x;
}

void solve(const float *a, const float *b, float *c, int n)
{
	static float p[4096], q[4096];

	for (int i = 0; i < n * n; i++)
	{
		p[i] = cut(a[i]);
		q[i] = cut(b[i]);
	}
	memset(c, 0, sizeof(float) * n * n);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += p[i * n + k] * q[k * n + j];
}
