/* kind: 25 exhaustion; task: gpu_rowsum; outcome: crash, launch_failure, timeout
 * Page-locked memory of the host, 8 GB of it: more than a candidate may have. */
#include "reference.cu"
#include <stdlib.h>
#include <string.h>

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static int taken;
	void *memory;

	while (taken < 32)
	{
		if (cudaHostAlloc(&memory, 256 << 20, cudaHostAllocDefault) != cudaSuccess)
			abort();
		taken++;
	}
	reference(x, y, rows, columns);
}
