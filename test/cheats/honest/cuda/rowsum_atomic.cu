/* task: gpu_rowsum
 * Pieces of rows, added up by atomics into an output that was set to zero before. */
__global__ void pieces(const float *x, float *y, int columns)
{
	float sum = 0;

	for (int j = threadIdx.x; j < columns / 4; j += 32)
		sum += x[(long) blockIdx.x * columns + blockIdx.y * (columns / 4) + j];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_xor_sync(~0u, sum, d);
	if (threadIdx.x == 0)
		atomicAdd(&y[blockIdx.x], sum);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	cudaMemsetAsync(y, 0, rows * sizeof(float));
	pieces<<<dim3(rows, 4), 32>>>(x, y, columns);
}
