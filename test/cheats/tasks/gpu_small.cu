__global__ void small(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = tanhf(x[i]) * 2.0f + 1.0f;
}

extern "C" void solve(const float *x, float *y, int n)
{
	small<<<(n + 255) / 256, 256>>>(x, y, n);
}
