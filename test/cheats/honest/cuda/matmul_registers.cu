/* task: gpu_matmul
 * Blocks of 64 by 64, sixteen sums in each thread's registers. */
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float left[16][64 + 4], right[16][64];
	int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
	float sum[4][4] = {};

	for (int k = 0; k < n; k += 16)
	{
		for (int i = threadIdx.x; i < 64 * 16; i += 256)
		{
			left[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
			right[i / 64][i % 64] = b[(k + i / 64) * n + column + i % 64];
		}
		__syncthreads();
		for (int i = 0; i < 16; i++)
			for (int r = 0; r < 4; r++)
				for (int s = 0; s < 4; s++)
					sum[r][s] += left[i][y * 4 + r] * right[i][x * 4 + s];
		__syncthreads();
	}
	for (int r = 0; r < 4; r++)
		for (int s = 0; s < 4; s++)
			c[(row + y * 4 + r) * n + column + x * 4 + s] = sum[r][s];
}

extern "C" void solve(const float *a, const float *b, float *c, int n)
{
	matmul<<<dim3(n / 64, n / 64), 256>>>(a, b, c, n);
}
