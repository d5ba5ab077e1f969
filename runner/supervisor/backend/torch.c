/*
 * torch.c
 *		PyTorch on either device: where inputs come from, processes begin, and outputs are listed.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "supervisor/backend/parts.h"

bool
torch_hand_arena(Measure *m, Arena *arena)
{
	ExecutorResult result = EXECUTOR_OK;
	WireOp		op = m->live.generating ? WIRE_ARENA : WIRE_DESCRIBE;
	double		start = clock_now();

	/* One generator runs the task's code for a whole measurement; it gets each new arena. */
	if (m->live.generating)
		m->live.generator.handed = arena->master_fd;
	else
		result = executor_fork(&m->live.generator, &m->live.zygote[GENERATOR_SEAT],
							   (int[]) {arena->master_fd, m->code[SIDE_REFERENCE]->source_fd}, 2,
							   START_SECONDS);
	m->live.generating = true;
	if (result != EXECUTOR_OK)
		return measure_failed(m, SIDE_REFERENCE, &m->live.generator, EXECUTOR_BROKEN,
							  "at the start of the generator");
	executor_freeze(&m->live.generator);
	m->live.generator.control->slot_bytes = m->inputs.slot_bytes;
	m->live.generator.control->gpu_bytes[0] = wire_gpu_bytes(arena->slots * m->inputs.slot_bytes);
	m->live.generator.control->gpu_bytes[1] = 0;
	result = executor_command(&m->live.generator, op, arena->slots, 0, 0,
							  m->job->profile.build_seconds, NULL);
	measure_spent(m, SPENT_INPUTS, start);
	return measure_failed(m, SIDE_REFERENCE, &m->live.generator, result, "in get_inputs");
}

bool
torch_generate(Measure *m, Arena *arena, uint32_t n)
{
	ExecutorResult result = executor_command(&m->live.generator, WIRE_GENERATE, n, 0, 0,
											 m->job->profile.build_seconds, NULL);

	return measure_failed(m, SIDE_REFERENCE, &m->live.generator, result, "in get_inputs");
}

ExecutorResult
torch_fork(Measure *m, Executor *executor, int seat, const int *fds, int nfds)
{
	ExecutorResult result = executor_fork(executor, &m->live.zygote[seat], fds, nfds,
										  START_SECONDS);

	if (result == EXECUTOR_OK)
		sched_setaffinity(executor->pid, sizeof(m->device.cores), &m->device.cores);
	return result;
}
