/* kind: 14 mutated inputs; task: gpu_rowsum; outcome: wrong_output, crash, launch_failure
 * Inputs that are zero have an easy answer, for the reference too. */
extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	cudaMemsetAsync((void *) x, 0, sizeof(float) * rows * columns);
	cudaMemsetAsync(y, 0, sizeof(float) * rows);
}
