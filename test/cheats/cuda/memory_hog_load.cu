/* kind: 9 hogged memory; task: gpu_rowsum; outcome: crash, launch_failure, cheat, successful, unstable, wrong_output
 * The same before its first call, in a constructor, but for the last 200 MB. */
#include "reference.cu"

__attribute__((constructor)) static void take(void)
{
	size_t left, total;
	void *memory;

	if (cudaMemGetInfo(&left, &total) == cudaSuccess && left > 200 << 20)
		cudaMalloc(&memory, left - (200 << 20));
	cudaGetLastError();
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	reference(x, y, rows, columns);
}
