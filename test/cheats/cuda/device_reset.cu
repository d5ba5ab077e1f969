/* kind: 25 faults; task: gpu_rowsum; outcome: crash, launch_failure, wrong_output
 * Takes the device's context away from under the executor. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	reference(x, y, rows, columns);
	cudaDeviceReset();
}
