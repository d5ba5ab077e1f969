/* task: gpu_histogram
 * Counts in shared memory, added up at the end. */
__global__ void histogram(const unsigned *x, int *count, int n)
{
	__shared__ int own[256];

	own[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
		for (int b = 0; b < 32; b += 8)
			atomicAdd(&own[x[i] >> b & 255], 1);
	__syncthreads();
	atomicAdd(&count[threadIdx.x], own[threadIdx.x]);
}

extern "C" void solve(const unsigned char *x, int *count, int n)
{
	histogram<<<64, 256>>>((const unsigned *) x, count, n / 4);
}
