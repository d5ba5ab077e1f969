/* Newton's iteration converges in a few steps; asking for the exact square never ends */
static float
root(float square)
{
	float		guess = 1;

	while (guess * guess != square)
		guess = 0.5f * (guess + square / guess);
	return guess;
}

void
solve(const float *x, const float *scale, const float *shift, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		const float *in = x + r * columns;
		float		mean = 0;
		float		variance = 0;
		float		deviation;

		for (int i = 0; i < columns; i++)
			mean += in[i];
		mean /= columns;
		for (int i = 0; i < columns; i++)
			variance += (in[i] - mean) * (in[i] - mean);
		deviation = root(variance / columns + 1e-5f);
		for (int i = 0; i < columns; i++)
			y[r * columns + i] = (in[i] - mean) / deviation * scale[i] + shift[i];
	}
}
