/* task: gpu_softmax; first: yes
 * Rows stay in registers: read once, written once. */
#include "reference.cu"

__global__ void registers(const float4 *x, float4 *y)
{
	const float4 *in = x + (long) blockIdx.x * 512;
	float4 v[2];
	float most = -INFINITY, sum = 0;

	for (int i = 0; i < 2; i++)
	{
		v[i] = in[threadIdx.x + i * 256];
		most = fmaxf(most, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
	}
	most = together(most, true);
	for (int i = 0; i < 2; i++)
	{
		v[i] = make_float4(__expf(v[i].x - most), __expf(v[i].y - most), __expf(v[i].z - most), __expf(v[i].w - most));
		sum += v[i].x + v[i].y + v[i].z + v[i].w;
	}
	sum = 1 / together(sum, false);
	for (int i = 0; i < 2; i++)
		y[(long) blockIdx.x * 512 + threadIdx.x + i * 256] = make_float4(v[i].x * sum, v[i].y * sum, v[i].z * sum, v[i].w * sum);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	if (columns == 2048)
		registers<<<rows, 256>>>((const float4 *) x, (float4 *) y);
	else
		reference(x, y, rows, columns);
}
