/* task: gpu_vector
 * A graph whose kernel is given each call's arrays. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int n)
{
	static cudaGraphExec_t run;
	static cudaGraphNode_t node;
	cudaKernelNodeParams kernel = {};
	void *arguments[] = {&x, &y, &n};

	kernel.func = (void *) vector;
	kernel.gridDim = dim3((n + 255) / 256);
	kernel.blockDim = dim3(256);
	kernel.kernelParams = arguments;
	if (!run)
	{
		cudaGraph_t graph;

		cudaGraphCreate(&graph, 0);
		cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel);
		cudaGraphInstantiate(&run, graph, 0);
	}
	else
		cudaGraphExecKernelNodeSetParams(run, node, &kernel);
	cudaGraphLaunch(run, 0);
}
