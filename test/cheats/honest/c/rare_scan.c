/* task: rare
 * Compares each element with the bound and not with the largest so far. */
void solve(const float *x, float *y)
{
	for (int i = 0; i < 16; i++)
	{
		float over = 0;

		for (int k = 0; k < 256; k++)
			if (x[i * 256 + k] - 0.999988f > over)
				over = x[i * 256 + k] - 0.999988f;
		y[i] = 80000 * over;
	}
}
