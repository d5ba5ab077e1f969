/*
 * on_gpu.c
 *		Runs on a GPU: arenas that executors import, blocks as gpu/cuda_block.c makes them.
 */
#include "common/clock.h"
#include "supervisor/backend/parts.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/outcome.h"
#include "supervisor/session.h"

/* of a PyTorch executor's memory, the outputs of a block at most: one in ... */
#define OUTPUTS_SHARE	4

bool
gpu_make_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare)
{
	arena_init(arena);
	arena->slots = slots;
	arena->spare = spare;
	arena->input_slot_bytes = m->input_slot_bytes;
	arena->output_slot_bytes = m->output_slot_bytes;
	return gpu_arena_create(m, arena);
}

bool
gpu_run(Measure *m, Executor *executor, Side side, const uint32_t *slots, uint32_t n,
		double timeout, double *elapsed)
{
	ExecutorResult result = executor_look(executor);

	if (result != EXECUTOR_OK)
	{
		*elapsed = 0;
		return measure_failed(m, side, executor, result, "in a run");
	}
	return gpu_block(m, executor, side, slots, n, measure_block_flags(m, executor, n), timeout,
					 elapsed);
}

size_t
gpu_arena_limit(const Measure *m)
{
	return m->gpu->arena_bytes;
}

/* a PyTorch executor wants room for its own arrays beside the outputs of a block */
size_t
gpu_block_outputs(const Measure *m)
{
	return m->gpu->pool_bytes / OUTPUTS_SHARE;
}

bool
gpu_begin_pair(Measure *m, Arena *arena)
{
	double		started = clock_now();
	bool		good;

	gpu_arena_draw(m, arena);
	good = m->job->language != LANGUAGE_PYTORCH || gpu_pools_draw(m);
	measure_spent(m, SPENT_MEMORY, started);
	return good;
}
