/* kind: 4 hidden errors; task: gpu_rowsum; outcome: wrong_output, launch_failure
 * A launch that can't succeed, and its error taken away. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	rowsum<<<(rows + 63) / 64, 4096>>>(x, y, rows, columns);
	cudaGetLastError();
}
