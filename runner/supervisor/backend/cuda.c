/*
 * cuda.c
 *		CUDA: compiled code in a process of exec-cuda, its arrays in memory of the GPU.
 */
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

	gpu_sandbox(m, &sandbox, environment, 4);
	return native_start(m, executor, code, &own, "exec-cuda", &sandbox);
}

const Backend backend_cuda = {
	.make_arena = gpu_make_arena,
	.generate = gpu_generate,
	.start = cuda_start,
	.read = gpu_read,
	GPU_CALLS,
};
