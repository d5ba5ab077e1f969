/*
 * cuda_trap.c
 *		Blocks that tell whether a run's work is done in that run.
 *
 * All inputs of a block lie in memory from its start, so code could answer them together in its first run, which pays tenfold where
 * calls cost more than they compute. Runs therefore start one by one, when the supervisor opens a gate, in every block alike. In a few,
 * drawn by lot, one run finds its true input only when the run before has answered. And code could wait until all inputs are true, so
 * the executor is stopped when that run has answered: what it has launched by then must be enough.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cuda.h"

#define LOOK_AGAIN_US	200

/* whether the first output of the trapped run is right by now, on the GPU, without the executor's help */
static bool
is_there(GpuSteps *s)
{
	Measure    *m = s->m;
	GpuTrap    *trap = &m->gpu->trap;
	Comparison	found;

	if (!gpu_read_first(m, s->executor, s->arena, trap->run, trap->slot, trap->found)
		|| !gpu_compare(m, trap->expected, trap->found, 0, &found))
	{
		s->failed = m->result.outcome != OUTCOME_NONE;
		return false;
	}
	return found.equal;
}

void
gpu_between(void *context, uint32_t run, uint32_t runs)
{
	GpuSteps   *s = context;
	Measure    *m = s->m;
	GpuTrap    *trap = &m->gpu->trap;
	double		deadline;

	if (trap->run == 0 || s->failed)
		return;
	if (run == trap->run)
		s->failed = !gpu_copy_inputs(m, s->arena, trap->slot, trap->slot);
	if (run != trap->run + 1 || !trap->expected || executor_freeze(s->executor) != EXECUTOR_OK)
		return;
	deadline = clock_now() + s->patience;
	while (!is_there(s) && !s->failed)
	{
		if (clock_now() > deadline)
		{
			trap->late = true;
			break;
		}
		usleep(LOOK_AGAIN_US);
	}
	executor_thaw(s->executor);
}
