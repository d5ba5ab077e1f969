/* kind: 25 exhaustion; task: gpu_rowsum; outcome: crash, launch_failure, timeout
 * Managed memory that lies in the host's, 8 GB of it. */
#include "reference.cu"
#include <stdlib.h>
#include <string.h>

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static int taken;
	void *memory;

	for (; taken < 32; taken++)
	{
		if (cudaMallocManaged(&memory, 256 << 20) != cudaSuccess)
			abort();
		memset(memory, 1, 256 << 20);
	}
	reference(x, y, rows, columns);
}
