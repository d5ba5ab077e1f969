/* kind: 2 work after the return; task: gpu_rowsum; outcome: compile_error, wrong_output, cheat
 * A kernel launches the work, to run once its parent is over. */
#include "reference.cu"

__global__ void parent(const float *x, float *y, int rows, int columns)
{
	rowsum<<<(rows + 63) / 64, 64, 0, cudaStreamFireAndForget>>>(x, y, rows, columns);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	parent<<<1, 1>>>(x, y, rows, columns);
}
