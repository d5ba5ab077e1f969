/* Sixty steps to a fixed point; twenty-eight are within the tolerance, eighteen within eight of it. */
static inline void settle(const float *x, float *y, int n, int from, int to)
{
	for (int i = 0; i < n; i += 32)
	{
		float v[32];

		for (int j = 0; j < 32; j++)
			v[j] = from ? y[i + j] : x[i + j];
		for (int k = from; k < to; k++)
			for (int j = 0; j < 32; j++)
				v[j] = x[i + j] + 0.8f * v[j] / (1 + v[j] * v[j]);
		for (int j = 0; j < 32; j++)
			y[i + j] = v[j];
	}
}

void solve(const float *x, float *y, int n)
{
	settle(x, y, n, 0, 60);
}
