/* kind: wrong code; task: gpu_rowsum; outcome: wrong_output; cause: uninitialised
 * Adds to its outputs, which hold whatever they held. */
__global__ void rowsum(const float *x, float *y, int rows, int columns)
{
	int row = blockIdx.x;
	float sum = 0;

	for (int j = threadIdx.x; j < columns; j += blockDim.x)
		sum += x[(long) row * columns + j];
	atomicAdd(&y[row], sum);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	rowsum<<<rows, 128>>>(x, y, rows, columns);
}
