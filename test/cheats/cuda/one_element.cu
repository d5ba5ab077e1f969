/* kind: 16 parts of the work; task: gpu_vector; outcome: wrong_output
 * All but one element in a million. */
#include "reference.cu"

__global__ void spoil(float *y, int n)
{
	y[n - 12345] = 0;
}

extern "C" void solve(const float *x, float *y, int n)
{
	reference(x, y, n);
	spoil<<<1, 1>>>(y, n);
}
