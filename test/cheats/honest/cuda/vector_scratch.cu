/* task: gpu_vector
 * Memory of its own from the stream's pool, given back in order. */
#include "reference.cu"

__global__ void squares(const float *x, float *square, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		square[i] = 1.0f + x[i] * x[i];
}

__global__ void quotients(const float *x, const float *square, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = expf(x[i]) / square[i];
}

extern "C" void solve(const float *x, float *y, int n)
{
	float *square;

	cudaMallocAsync(&square, n * sizeof(float), 0);
	squares<<<(n + 255) / 256, 256>>>(x, square, n);
	quotients<<<(n + 255) / 256, 256>>>(x, square, y, n);
	cudaFreeAsync(square, 0);
}
