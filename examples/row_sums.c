/*
 * The sum of every row of a matrix: a task for cudal1-measure, whose signature is this.
 *
 * {"entry": "solve", "args": [
 *   {"name": "x", "dtype": "float32", "shape": [256, 512], "role": "in", "init": "uniform"},
 *   {"name": "sums", "dtype": "float32", "shape": [256], "role": "out"}]}
 */
void solve(const float *x, float *sums)
{
	for (int i = 0; i < 256; i++)
	{
		float		sum = 0;

		for (int j = 0; j < 512; j++)
			sum += x[i * 512 + j];
		sums[i] = sum;
	}
}
