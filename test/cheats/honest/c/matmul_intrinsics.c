/* task: matmul; least: 2.4
 * AVX2 by hand where there is AVX2. */
#include <immintrin.h>

void solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j += 8)
		{
			__m256 sum = _mm256_setzero_ps();

			for (int k = 0; k < n; k++)
				sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_set1_ps(a[i * n + k]), _mm256_loadu_ps(b + k * n + j)));
			_mm256_storeu_ps(c + i * n + j, sum);
		}
}
