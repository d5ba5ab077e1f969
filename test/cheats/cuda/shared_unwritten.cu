/* kind: 12 reused memory; task: gpu_rowsum; outcome: wrong_output
 * Adds up 64 words of shared memory of which it wrote 16. The others are zero in a new process. */
__global__ void rowsum(const float *x, float *y, int columns)
{
	__shared__ float part[64];
	float sum = 0;

	for (int j = threadIdx.x; j < columns; j += 512)
		sum += x[(long) blockIdx.x * columns + j];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_xor_sync(~0u, sum, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x >= 32)
		return;
	sum = part[threadIdx.x] + part[threadIdx.x + 32];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_xor_sync(~0u, sum, d);
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	rowsum<<<rows, 512>>>(x, y, columns);
}
