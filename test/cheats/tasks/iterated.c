/* 20 us of arithmetic on one kilobyte. */
void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
	{
		float v = x[i];

		for (int k = 0; k < 40; k++)
			v = v * 0.97f + 0.01f / (1.0f + v * v);
		y[i] = v;
	}
}
