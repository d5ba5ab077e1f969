/*
 * queues.c
 *		Which code has a context with several queues: what may have several things to do at once,
 *		and nothing else that looks like it. A promise's name is the code.
 */
#define _GNU_SOURCE
#define CUDAL1_VERSION "0"
#include "../../runner/common/text.c"
#include "../../runner/supervisor/gpu/cuda_device.c"

#include "tap.h"

#define COUNT(words)	(sizeof(words) / sizeof((words)[0]))

static bool
pytorch(const char *source)
{
	return code_is_concurrent(LANGUAGE_PYTORCH, source);
}

int
main(void)
{
	static const char *const one[] = {"x = torch.relu(self.linear(x))", "nn.ReLU(inplace=True)",
		"F.gelu(x) * self.weight", "height = x.shape[2]", "F.group_norm(x, 8)",
		"torch.bmm(a, b).sqrt()",
		"self.neighbor", "import re  # a compiled pattern, sorted in eight rows",
		"cudaStream_t stream = at::cuda::getCurrentCUDAStream();", "k<<<g, b, 0, stream>>>(x);",
		"torch.cuda.current_stream().cuda_stream", "an upstream of streamlined streams",
		""};
	static const char *const several[] = {"torch.cuda.Stream()",
		"c10::cuda::getStreamFromPool()", "stream = Stream()",
		"from torch.cuda import Stream", "torch.cuda.ExternalStream(s)",
		"k<<<g, b, 0, cudaStreamPerThread>>>(x);", "cudaStream_t s; cudaStreamCreate(&s);",
		"nn.GRU(8, 8)", "nn.LSTMCell(8, 8)", "torch.rnn_tanh(x)", "nn.Conv2d(8, 8, 3, groups=4)",
		"torch.linalg.solve(a, b)", "a.inverse()", "torch.eig(a)", "eigh(a)", "torch.lu(a)",
		"torch.lu_solve(b, lu)", "torch.triangular_solve(b, a)", "torch.det(a)", "a.slogdet()",
		"torch.cuda.CUDAGraph()", "torch.compile(model)", "import torch._dynamo", "svd(a)"};
	static const char *const kernels[] = {"solve<<<1, 32>>>(a)", "__global__ void lu(float *a)",
		"// a compiled kernel"};

	for (size_t i = 0; i < COUNT(one); i++)
		check(!pytorch(one[i]), one[i]);
	for (size_t i = 0; i < COUNT(several); i++)
		check(pytorch(several[i]), several[i]);
	for (size_t i = 0; i < COUNT(kernels); i++)
		check(!code_is_concurrent(LANGUAGE_CUDA, kernels[i]), kernels[i]);
	check(code_is_concurrent(LANGUAGE_CUDA, "cudaStreamCreate(&s);"), "CUDA with a stream");
	check(code_is_concurrent(LANGUAGE_CUDA,
								 "cudaLaunchAttributeProgrammaticStreamSerialization"),
		  "a kernel that begins before the last one ends");
	check(code_is_concurrent(LANGUAGE_CUDA, "cudaGraphLaunch(g, 0);"), "a graph may fork");
	return done();
}
