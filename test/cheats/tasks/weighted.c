/* sums of rows by weights, which the generator makes 1 */
void solve(const float *x, const float *weight, float *y)
{
	for (int r = 0; r < 64; r++)
	{
		float		sum = 0;

		for (int i = 0; i < 256; i++)
			sum += weight[i] * x[r * 256 + i];
		y[r] = sum;
	}
}
