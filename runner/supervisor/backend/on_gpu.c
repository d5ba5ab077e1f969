/*
 * on_gpu.c
 *		Runs on a GPU: arenas that executors import, single runs, memory for groups.
 */
#include "common/clock.h"
#include "supervisor/backend/parts.h"
#include "supervisor/beside.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/outcome.h"
#include "supervisor/session.h"

bool
gpu_make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	arena_init(arena);
	arena->slots = slots;
	arena->input_slot_bytes = m->input_slot_bytes;
	arena->output_slot_bytes = m->output_slot_bytes;
	return gpu_arena_create(m, arena);
}

bool
gpu_run(Measure *m, Executor *executor, Side side, uint32_t slot, double timeout, double *elapsed)
{
	ExecutorResult result = executor_command(executor, WIRE_RUN, 1, measure_run_flags(m, executor),
											 0, timeout, elapsed);

	m->result->clock_seconds += *elapsed;
	return measure_failed(m, side, executor, result, "in a run");
}

size_t
gpu_arena_limit(const Measure *m)
{
	return m->gpu->arena_bytes;
}

bool
gpu_begin_pair(Measure *m, Arena *arena)
{
	double		started = clock_now();
	bool		good;

	gpu_note_state(m);
	gpu_arena_draw(m, arena);
	good = m->job->language != LANGUAGE_PYTORCH || gpu_pools_draw(m);
	measure_spent(m, SPENT_MEMORY, started);
	return good;
}

int
gpu_room(Measure *m, int n)
{
	return measure_room_beside(m, n, 0);
}
