__device__ float together(float value, bool largest)
{
	__shared__ float part[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

	for (int d = 16; d > 0; d /= 2)
	{
		float other = __shfl_xor_sync(~0u, value, d);

		value = largest ? fmaxf(value, other) : value + other;
	}
	__syncthreads();
	if (lane == 0)
		part[warp] = value;
	__syncthreads();
	value = part[0];
	for (int i = 1; i < warps; i++)
		value = largest ? fmaxf(value, part[i]) : value + part[i];
	return value;
}

__global__ void softmax(const float *x, float *y, int columns)
{
	const float *in = x + (long) blockIdx.x * columns;
	float *out = y + (long) blockIdx.x * columns;
	float most = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < columns; j += blockDim.x)
		most = fmaxf(most, in[j]);
	most = together(most, true);
	for (int j = threadIdx.x; j < columns; j += blockDim.x)
	{
		out[j] = expf(in[j] - most);
		sum += out[j];
	}
	sum = together(sum, false);
	for (int j = threadIdx.x; j < columns; j += blockDim.x)
		out[j] /= sum;
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	softmax<<<rows, 256>>>(x, y, columns);
}
