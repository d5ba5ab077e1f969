__global__ void histogram(const unsigned char *x, int *count, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(&count[x[i]], 1);
}

extern "C" void solve(const unsigned char *x, int *count, int n)
{
	histogram<<<(n + 255) / 256, 256>>>(x, count, n);
}
