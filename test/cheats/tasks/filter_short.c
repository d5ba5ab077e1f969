void solve(const float *x, float *y, int n)
{
	float level = 0, trend = 0;

	for (int i = 0; i < n; i++)
	{
		float before = level;

		level += 0.125f * (x[i] - level) + trend;
		trend += 0.03125f * (level - before - trend);
		y[i] = level;
	}
}
