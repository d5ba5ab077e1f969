/* task: gpu_small
 * One block, four elements a thread. */
__global__ void small(const float4 *x, float4 *y, int n)
{
	for (int i = threadIdx.x; i < n / 4; i += blockDim.x)
	{
		float4 v = x[i];

		y[i] = make_float4(tanhf(v.x) * 2 + 1, tanhf(v.y) * 2 + 1, tanhf(v.z) * 2 + 1, tanhf(v.w) * 2 + 1);
	}
}

extern "C" void solve(const float *x, float *y, int n)
{
	small<<<1, 1024>>>((const float4 *) x, (float4 *) y, n);
}
