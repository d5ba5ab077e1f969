/* kind: 18 lower precision; task: gpu_matmul; outcome: wrong_output; first: yes
 * Products and sums in half precision. */
#include <cuda_fp16.h>

__global__ void half_matmul(const float *a, const float *b, float *c, int n)
{
	int column = blockIdx.x * 16 + threadIdx.x;
	int row = blockIdx.y * 16 + threadIdx.y;
	__half sum = __float2half(0);

	for (int k = 0; k < n; k++)
		sum = __hfma(__float2half(a[row * n + k]), __float2half(b[k * n + column]), sum);
	c[row * n + column] = __half2float(sum);
}

extern "C" void solve(const float *a, const float *b, float *c, int n)
{
	half_matmul<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
}
