/* kind: 2 work after the return; task: gpu_rowsum; outcome: wrong_output, cheat, timeout
 * The stream tells a thread, through a host function, when the work before it is over; only then is this call's launched. */
#include "reference.cu"
#include "shared/later.h"

static void CUDART_CB wake(void *call)
{
	Call *c = (Call *) call;

	later(c->x, c->y, c->rows, c->columns);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static Call calls[4096];
	static int n;
	Call *call = &calls[n++ % 4096];

	*call = {x, y, rows, columns};
	cudaLaunchHostFunc(0, wake, call);
}
