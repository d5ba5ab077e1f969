/* outputs that are all 0 for nineteen of twenty inputs */
void solve(const float *x, float *y)
{
	for (int i = 0; i < 16; i++)
	{
		float most = 0;

		for (int k = 0; k < 256; k++)
			most = x[i * 256 + k] > most ? x[i * 256 + k] : most;
		y[i] = most > 0.999988f ? 80000 * (most - 0.999988f) : 0;
	}
}
