/* kind: 25 endless; task: gpu_rowsum; outcome: timeout
 * After 60 calls a kernel does not end. */
#include "reference.cu"

__global__ void endless(volatile float *y)
{
	while (*y != 3.5e33f)
		;
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static int calls;

	reference(x, y, rows, columns);
	if (++calls == 60)
		endless<<<1, 1>>>(y);
}
