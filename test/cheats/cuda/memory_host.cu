/* kind: 25 exhaustion; task: gpu_rowsum; outcome: crash, timeout; profile: patient
 * Memory of the host, as much as there is. */
#include "reference.cu"
#include <stdlib.h>
#include <string.h>

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	for (;;)
		memset(malloc(64 << 20), 1, 64 << 20);
}
