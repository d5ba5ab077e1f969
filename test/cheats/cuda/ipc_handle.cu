/* kind: 13 finding answers; task: gpu_softmax; outcome: wrong_output, launch_failure, crash
 * Makes a handle of its own memory, changes it a little, and opens what another process might have there. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static float *found, *own;
	size_t bytes = sizeof(float) * rows * columns;
	cudaIpcMemHandle_t handle;

	if (!own)
	{
		cudaMalloc(&own, bytes);
		if (cudaIpcGetMemHandle(&handle, own) == cudaSuccess)
			for (int at = 0; at < 64 && !found; at++)
				for (int change = 1; change < 4 && !found; change++)
				{
					cudaIpcMemHandle_t other = handle;

					other.reserved[at] += change;
					if (cudaIpcOpenMemHandle((void **) &found, other, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
						found = NULL;
				}
		cudaGetLastError();
	}
	if (found)
		cudaMemcpyAsync(y, found, bytes, cudaMemcpyDeviceToDevice);
}
