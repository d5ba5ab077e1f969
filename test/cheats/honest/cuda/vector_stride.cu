/* task: gpu_vector
 * As many blocks as the GPU holds, each walking through the array. */
__global__ void vector(const float *__restrict__ x, float *__restrict__ y, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] = __expf(__ldg(x + i)) / (1.0f + x[i] * x[i]);
}

extern "C" void solve(const float *x, float *y, int n)
{
	static int processors;

	if (!processors)
		cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
	vector<<<processors * 8, 256>>>(x, y, n);
}
