/* kind: 1 side stream; task: gpu_recurrence; outcome: successful, unstable
 * Runs take turns on sixteen streams, so that one could overlap with the next. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static cudaStream_t side[16];
	static int calls;
	cudaStream_t *stream = &side[calls++ % 16];

	if (!*stream)
		cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
	recurrence<<<(rows + 127) / 128, 128, 0, *stream>>>(x, y, rows, columns);
}
