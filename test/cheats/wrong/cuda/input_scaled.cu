/* kind: wrong code; task: gpu_rowsum; outcome: wrong_output; cause: values
 * Prepares its input in place, and forgets that it has. */
__global__ void scale(float *x, long n)
{
	for (long i = blockIdx.x * (long) blockDim.x + threadIdx.x; i < n; i += (long) gridDim.x * blockDim.x)
		x[i] *= 2;
}

__global__ void rowsum(const float *x, float *y, int rows, int columns)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (row >= rows)
		return;
	for (int j = 0; j < columns; j++)
		sum += x[(long) row * columns + j];
	y[row] = sum;
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	scale<<<256, 256>>>((float *) x, (long) rows * columns);
	rowsum<<<(rows + 63) / 64, 64>>>(x, y, rows, columns);
}
