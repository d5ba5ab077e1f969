/* task: gpu_vector; first: yes
 * Four elements a thread, in one load and one store. */
__device__ float one(float x)
{
	return __expf(x) / (1.0f + x * x);
}

__global__ void vector(const float4 *x, float4 *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
	{
		float4 v = x[i];

		y[i] = make_float4(one(v.x), one(v.y), one(v.z), one(v.w));
	}
}

extern "C" void solve(const float *x, float *y, int n)
{
	vector<<<(n / 4 + 255) / 256, 256>>>((const float4 *) x, (float4 *) y, n / 4);
}
