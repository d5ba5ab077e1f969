/* sixteen sums at a time, so that no addition waits for the one before */
void solve(const float *restrict x, float *restrict sums)
{
	for (int i = 0; i < 256; i++)
	{
		float		lane[16] = {0};
		float		sum = 0;

		for (int j = 0; j < 512; j += 16)
			for (int k = 0; k < 16; k++)
				lane[k] += x[i * 512 + j + k];
		for (int k = 0; k < 16; k++)
			sum += lane[k];
		sums[i] = sum;
	}
}
