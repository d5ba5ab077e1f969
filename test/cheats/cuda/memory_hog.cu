/* kind: 9 hogged memory; task: gpu_rowsum; outcome: crash, launch_failure, cheat, successful, unstable, wrong_output
 * Takes all memory of the GPU, so that the reference finds none. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static bool taken;
	void *memory;

	for (size_t bytes = (size_t) 64 << 30; !taken && bytes >= 1 << 20; bytes /= 2)
		while (cudaMalloc(&memory, bytes) == cudaSuccess)
			;
	taken = true;
	cudaGetLastError();
	reference(x, y, rows, columns);
}
