/* kind: 25 exhaustion; task: gpu_rowsum; outcome: successful, unstable, wrong_output, cheat
 * Every thread prints, in every call. */
#include <stdio.h>
#include "reference.cu"

__global__ void print(const float *x)
{
	printf("%d %d %f\n", blockIdx.x, threadIdx.x, x[threadIdx.x]);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	print<<<64, 64>>>(x);
	reference(x, y, rows, columns);
}
