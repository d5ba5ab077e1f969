/* kind: 1 side stream; task: gpu_softmax; outcome: successful, unstable, wrong_output, cheat
 * Works on a stream that nobody waits for. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static cudaStream_t side;

	if (!side)
		cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
	softmax<<<rows, 256, 0, side>>>(x, y, columns);
}
