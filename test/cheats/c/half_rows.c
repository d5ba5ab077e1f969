/* kind: 16 partial work; task: matmul; outcome: wrong_output; cause: uninitialised
 * The upper half of the rows. */
#include "reference.c"

void solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n / 2; i++)
		for (int j = 0; j < n; j++)
		{
			float sum = 0;

			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}
