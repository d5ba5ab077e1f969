/* kind: wrong code; task: gpu_vector; outcome: wrong_output; cause: unfinished
 * One stream reads what another has not made yet. */
#include "reference.cu"

__global__ void copy(const float *from, float *to, int n, long long wait)
{
	long long start = clock64();

	while (clock64() - start < wait)
		;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		to[i] = from[i];
}

extern "C" void solve(const float *x, float *y, int n)
{
	static cudaStream_t side;
	static float *scratch;

	if (!side)
	{
		cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
		cudaMalloc(&scratch, sizeof(float) * n);
	}
	copy<<<64, 256, 0, side>>>(x, scratch, n, 200000);
	reference(scratch, y, n);
}
