/* task: gpu_matmul
 * Tiles are copied to shared memory while those before them are multiplied. */
#include <cuda_pipeline.h>

#define TILE 32
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float left[2][TILE][TILE], right[2][TILE][TILE];
	int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;

	for (int step = 0; step <= n / TILE; step++)
	{
		if (step < n / TILE)
		{
			__pipeline_memcpy_async(&left[step % 2][threadIdx.y][threadIdx.x], &a[row * n + step * TILE + threadIdx.x], 4);
			__pipeline_memcpy_async(&right[step % 2][threadIdx.y][threadIdx.x], &b[(step * TILE + threadIdx.y) * n + column], 4);
		}
		__pipeline_commit();
		if (step > 0)
		{
			__pipeline_wait_prior(1);
			__syncthreads();
			for (int i = 0; i < TILE; i++)
				sum += left[(step - 1) % 2][threadIdx.y][i] * right[(step - 1) % 2][i][threadIdx.x];
			__syncthreads();
		}
	}
	c[row * n + column] = sum;
}

extern "C" void solve(const float *a, const float *b, float *c, int n)
{
	matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n);
}
