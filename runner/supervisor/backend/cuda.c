/*
 * cuda.c
 *		CUDA: compiled code in a process of exec-cuda, its arrays in memory of the GPU.
 */
#define _GNU_SOURCE
#include <string.h>

#include "supervisor/backend/parts.h"
#include "supervisor/gpu/cuda.h"

static ExecutorResult
cuda_start(Measure *m, Executor *executor, Side code, Side side, int seat, const Arena *arena)
{
	const char *environment[24] = {"PATH", "/usr/bin:/bin", "LANG", "C", NULL};
	/*
	 * the CUDA driver looks into /proc; with exec-cuda for process 1 there is no other process to
	 * be found there
	 */
	Sandbox		sandbox = {.environment = environment,.first = true};
	Arena		own = gpu_arena_of(arena, side);
	int			n = gpu_sandbox(m->gpu, &sandbox, environment, 4);

	/* a context's queues for streams are half of what takes time to make and to end */
	if (!strcasestr(m->job->reference, "stream")
		&& !strcasestr(m->code[SIDE_CANDIDATE]->source, "stream"))
	{
		environment[n++] = "CUDA_DEVICE_MAX_CONNECTIONS";
		environment[n++] = "1";
	}
	return native_start(m, executor, code, &own, "exec-cuda", &sandbox);
}

const Backend backend_cuda = {
	.make_arena = gpu_make_arena,
	.generate = gpu_generate,
	.start = cuda_start,
	.read = gpu_read,
	.cold_seconds = 2e-6,
	GPU_CALLS,
};
