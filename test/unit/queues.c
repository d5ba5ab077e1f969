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
has_one_queue(const char *source)
{
	Job			job = {.reference = "x + 1"};
	Member		member = {.code.source = source};
	Measure		m = {.job = &job,.members = &member,.nmembers = 1};

	return one_queue_will_do(&m);
}

int
main(void)
{
	static const char *const one[] = {"x = torch.relu(self.linear(x))", "nn.ReLU(inplace=True)",
		"F.gelu(x) * self.weight", "height = x.shape[2]", "F.group_norm(x, 8)",
		"torch.bmm(a, b).sqrt()",
		"self.neighbor", "import re  # a compiled pattern, sorted in eight rows",
		"extern \"C\" void solve(const float *x)", ""};
	static const char *const several[] = {"torch.cuda.Stream()",
		"c10::cuda::getStreamFromPool()", "from torch.cuda import Stream",
		"k<<<g, b, 0, cudaStreamPerThread>>>(x);", "cudaStream_t s; cudaStreamCreate(&s);",
		"cudaLaunchAttributeProgrammaticStreamSerialization", "cudaGraphLaunch(g, 0);",
		"nn.GRU(8, 8)", "nn.LSTMCell(8, 8)", "torch.rnn_tanh(x)", "nn.Conv2d(8, 8, 3, groups=4)",
		"torch.linalg.solve(a, b)", "a.inverse()", "torch.eig(a)", "eigh(a)", "torch.lu(a)",
		"torch.lu_solve(b, lu)", "torch.triangular_solve(b, a)", "torch.det(a)", "a.slogdet()",
		"torch.cuda.CUDAGraph()", "torch.compile(model)", "import torch._dynamo", "svd(a)"};

	for (size_t i = 0; i < COUNT(one); i++)
		check(has_one_queue(one[i]), one[i]);
	for (size_t i = 0; i < COUNT(several); i++)
		check(!has_one_queue(several[i]), several[i]);
	return done();
}
