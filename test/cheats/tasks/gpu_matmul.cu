__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	int column = blockIdx.x * 16 + threadIdx.x;
	int row = blockIdx.y * 16 + threadIdx.y;
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + column];
	c[row * n + column] = sum;
}

extern "C" void solve(const float *a, const float *b, float *c, int n)
{
	matmul<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
}
