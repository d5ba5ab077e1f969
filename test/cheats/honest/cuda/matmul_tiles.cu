/* task: gpu_matmul
 * Tiles of 32 by 32 in shared memory. */
#define TILE 32
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float left[TILE][TILE], right[TILE][TILE];
	int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;

	for (int k = 0; k < n; k += TILE)
	{
		left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
		right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += left[threadIdx.y][i] * right[i][threadIdx.x];
		__syncthreads();
	}
	c[row * n + column] = sum;
}

extern "C" void solve(const float *a, const float *b, float *c, int n)
{
	matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n);
}
