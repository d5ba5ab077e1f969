/* kind: 16 partial work; task: mean; outcome: wrong_output
 * The mean of one half is nearly that of all. */
void solve(const float *x, float *y)
{
	float		sum[8] = {0};

	for (int i = 0; i < 32768; i += 8)
		for (int j = 0; j < 8; j++)
			sum[j] += x[i + j];
	for (int j = 1; j < 8; j++)
		sum[0] += sum[j];
	y[0] = sum[0] / 32768;
}
