/*
 * torch.c
 *		PyTorch on either device: where inputs come from, processes begin, and outputs are listed.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "common/clock.h"
#include "supervisor/backend/parts.h"
#include "supervisor/outcome.h"

bool
torch_hand_arena(Measure *m, Arena *arena)
{
	ExecutorResult result = EXECUTOR_OK;
	WireOp		op = m->generating ? WIRE_ARENA : WIRE_DESCRIBE;
	double		start = clock_now();

	/* One generator runs the task's code for a whole measurement; it gets each new arena. */
	if (m->generating)
		m->generator.handed = arena->master_fd;
	else
		result = executor_fork(&m->generator, &m->generator_zygote,
							   (int[]) {arena->master_fd, m->code[SIDE_REFERENCE]->source_fd}, 2,
							   START_SECONDS);
	m->generating = true;
	if (result != EXECUTOR_OK)
		return measure_failed(m, SIDE_REFERENCE, &m->generator, EXECUTOR_BROKEN,
							  "at the start of the generator");
	executor_freeze(&m->generator);
	m->generator.control->slot_bytes = m->input_slot_bytes;
	m->generator.control->gpu_bytes[0] = wire_gpu_bytes(arena->slots * m->input_slot_bytes);
	m->generator.control->gpu_bytes[1] = 0;
	random_key(&m->random, &m->generator.secret);
	result = executor_command(&m->generator, op, arena->slots, 0, 0, m->job->profile.build_seconds,
							  NULL);
	measure_spent(m, SPENT_INPUTS, start);
	return measure_failed(m, SIDE_REFERENCE, &m->generator, result, "in get_inputs");
}

bool
torch_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	ExecutorResult result;

	memcpy(m->generator.control->slots, slots, n * sizeof(*slots));
	random_key(&m->random, &m->generator.secret);
	result = executor_command(&m->generator, WIRE_GENERATE, n, 0, 0, m->job->profile.build_seconds,
							  NULL);
	return measure_failed(m, SIDE_REFERENCE, &m->generator, result, "in get_inputs");
}

ExecutorResult
torch_fork(Measure *m, Executor *executor, int seat, const int *fds, int nfds)
{
	ExecutorResult result = executor_fork(executor, &m->zygote[seat], fds, nfds, START_SECONDS);

	if (result == EXECUTOR_OK)
		sched_setaffinity(executor->pid, sizeof(m->cores), &m->cores);
	return result;
}
