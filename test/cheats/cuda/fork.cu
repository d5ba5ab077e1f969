/* kind: 2 processes; task: gpu_rowsum; outcome: crash
 * A child to go on when the parent is stopped. */
#include <unistd.h>
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	if (fork() == 0)
		for (;;)
			reference(x, y, rows, columns);
	reference(x, y, rows, columns);
}
