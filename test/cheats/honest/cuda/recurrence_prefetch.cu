/* task: gpu_recurrence
 * Reads eight steps ahead, with fewer threads a block. */
__global__ void recurrence(const float *__restrict__ x, float *__restrict__ y, int rows, int columns)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float state = 0;

	if (row >= rows)
		return;
	for (int j = 0; j < columns; j += 8)
	{
		float next[8];

		for (int k = 0; k < 8; k++)
			next[k] = j + k < columns ? x[(long) (j + k) * rows + row] : 0;
		for (int k = 0; k < 8 && j + k < columns; k++)
		{
			state = tanhf(state * 0.9f + next[k]);
			y[(long) (j + k) * rows + row] = state;
		}
	}
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	recurrence<<<(rows + 31) / 32, 32>>>(x, y, rows, columns);
}
