/*
 * torch_cpu.c
 *		PyTorch on a CPU: inputs in shared memory, outputs wherever the process has them.
 */
#define _GNU_SOURCE
#include <string.h>

#include "supervisor/backend/parts.h"
#include "supervisor/outcome.h"
#include "supervisor/checks/outputs.h"

static bool
torch_cpu_make_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare)
{
	return host_make_arena(m, arena, slots, true) && torch_hand_arena(m, arena);
}

static ExecutorResult
torch_cpu_start(Measure *m, Executor *executor, Side code, Side side, int seat, const Arena *arena)
{
	return torch_fork(m, executor, seat, (int[]) {arena->inputs_fd, m->code[code]->source_fd}, 2);
}

static bool
torch_cpu_stage(Measure *m, const Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		char	   *slot = arena->inputs + slots[i] * arena->input_slot_bytes;

		host_forget(slot, arena->input_slot_bytes);
		memcpy(slot, arena->master + slots[i] * arena->input_slot_bytes, arena->input_slot_bytes);
	}
	return true;
}

static void
torch_cpu_unstage(Measure *m, const Arena *arena, uint32_t slot)
{
	host_noise(m, arena->inputs + slot * arena->input_slot_bytes, arena->input_slot_bytes);
}

/* inputs are writable, and staged with their gaps */
static void
torch_cpu_blank(Measure *m, const Arena *arena, uint32_t slot, bool staged)
{
	if (!staged)
		torch_cpu_unstage(m, arena, slot);
	if (slot + 1 == arena->slots)
		host_blank_end(m, arena->inputs, arena->slots * arena->input_slot_bytes);
}

static bool
torch_cpu_inputs_same(Measure *m, const Arena *arena, Side side, uint32_t slot, bool *same)
{
	*same = memcmp(arena->inputs + slot * arena->input_slot_bytes,
				   arena->master + slot * arena->input_slot_bytes, arena->input_slot_bytes) == 0;
	return true;
}

static bool
torch_cpu_read_outputs(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
					   uint32_t slot, void *out)
{
	WireTensor	table[WIRE_MAX_TENSORS];
	char	   *to = out;

	if (!measure_table(m, executor, side, run, table))
		return false;
	for (int i = 0; i < m->outputs; i++)
	{
		ExecutorResult result;

		if (!measure_check_layout(m, side, i, &table[i]))
			return false;
		result = executor_read_tensor(executor, &table[i], &m->output[i], to);
		if (result != EXECUTOR_OK)
			return measure_failed(m, side, executor, result, "as an output was read");
		to += measure_gathered(&m->output[i]);
	}
	return true;
}

const Backend backend_torch_cpu = {
	.make_arena = torch_cpu_make_arena,
	.generate = torch_generate,
	.start = torch_cpu_start,
	.stage = torch_cpu_stage,
	.unstage = torch_cpu_unstage,
	.blank = torch_cpu_blank,
	.read = torch_cpu_read_outputs,
	.inputs_same = torch_cpu_inputs_same,
	.outputs_apart = true,
	.cold_seconds = 20e-6,
	HOST_CALLS,
};
