/* c = a b for the ablation: four switches, of which the first opens the way for the others */
#define USE_ROW_ORDER 1
#define USE_RESTRICT 1
#define USE_TILING 1
#define USE_UNROLL 1

#if USE_RESTRICT
#define ALONE restrict
#else
#define ALONE
#endif

#if USE_ROW_ORDER
void
solve(const float *ALONE a, const float *ALONE b, float *ALONE c, int n)
{
	for (int i = 0; i < n * n; i++)
		c[i] = 0;
#if USE_TILING
	for (int i = 0; i < n; i++)
		for (int k = 0; k + 4 <= n; k += 4)
		{
			const float *ALONE row = b + k * n;
			const float x0 = a[i * n + k], x1 = a[i * n + k + 1], x2 = a[i * n + k + 2], x3 = a[i * n + k + 3];

#if USE_UNROLL
#pragma GCC unroll 4
#endif
			for (int j = 0; j < n; j++)
				c[i * n + j] += x0 * row[j] + x1 * row[n + j] + x2 * row[2 * n + j] + x3 * row[3 * n + j];
		}
#else
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
		{
			const float x = a[i * n + k];

#if USE_UNROLL
#pragma GCC unroll 4
#endif
			for (int j = 0; j < n; j++)
				c[i * n + j] += x * b[k * n + j];
		}
#endif
}
#else
void
solve(const float *ALONE a, const float *ALONE b, float *ALONE c, int n)
{
	/* sums in the order of k cannot be made several at once, and tiles of k change nothing about that */
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			float sum = 0;

#if USE_TILING
			for (int first = 0; first < n; first += 16)
				for (int k = first; k < first + 16 && k < n; k++)
					sum += a[i * n + k] * b[k * n + j];
#else
#if USE_UNROLL
#pragma GCC unroll 4
#endif
			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
#endif
			c[i * n + j] = sum;
		}
}
#endif
