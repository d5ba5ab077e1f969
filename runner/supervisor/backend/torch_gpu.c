/*
 * torch_gpu.c
 *		PyTorch on a GPU: inputs and outputs in memory of the GPU, which PyTorch's processes
 *		allocate from a pool of their own.
 */
#include <stdio.h>

#include "supervisor/backend/parts.h"
#include "supervisor/build/build.h"
#include "supervisor/gpu/cuda.h"

static bool
torch_gpu_make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	return gpu_make_arena(m, arena, slots) && torch_hand_arena(m, arena);
}

static ExecutorResult
torch_gpu_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	Arena		own = gpu_arena_of(arena, side);
	struct GpuMemory *pool = gpu_pool_create(m);
	ExecutorResult result;

	if (!pool)
		return EXECUTOR_BROKEN;
	result = torch_fork(m, executor, seat,
						(int[]) {own.inputs_fd, m->code[side]->source_fd, pool->fd}, 3);
	executor->pool = pool;
	executor->pool_bytes = pool->bytes;
	executor->release = gpu_pool_destroy;
	return result;
}

static void
torch_gpu_interpreter(Measure *m, Interpreter *i, Sandbox *sandbox, InterpreterUse use)
{
	const Gpu  *gpu = m->gpu;

	i->pairs = gpu_sandbox(m, sandbox, i->environment, i->pairs, use != USE_AHEAD);
	if (use == USE_FORKS)
	{
		/* the memory of PyTorch's allocator comes through it */
		snprintf(i->preload, sizeof(i->preload), "%s/libcudal1pool.so", m->options->libdir);
		interpreter_set(i, "LD_PRELOAD", i->preload);
	}
	if (!gpu->toolkit[0])
		return;
	snprintf(i->tools, sizeof(i->tools), "%s/bin:", gpu->toolkit);
	if (m->builds.kinds)
	{
		snprintf(i->arch, sizeof(i->arch), "%d.%d", gpu->nvml.major_capability,
				 gpu->nvml.minor_capability);
		interpreter_set(i, "CUDA_HOME", gpu->toolkit);
		interpreter_set(i, "TORCH_CUDA_ARCH_LIST", i->arch);
	}
}

const Backend backend_torch_gpu = {
	.module = true,
	.builds.interpreter = torch_gpu_interpreter,
	.make_arena = torch_gpu_make_arena,
	.generate = torch_generate,
	.start = torch_gpu_start,
	.poke = gpu_poke,
	GPU_CALLS,
};
