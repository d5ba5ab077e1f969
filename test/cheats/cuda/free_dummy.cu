/* kind: 5 warm-up; task: gpu_recurrence; profile: cold; outcome: successful, unstable, unverified, wrong_output, cheat; first: yes
 * As free_cold, with a launch that does nothing, so that the GPU has its turns while the CPU works. */
#include "reference.cu"
#include "shared/single.h"

__global__ void nothing()
{
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	begin();
	if (command && command[4] == 1)
	{
		nothing<<<1, 1, 0, side[1]>>>();
		single(x, y, rows, columns);
	}
	else
		reference(x, y, rows, columns);
}
