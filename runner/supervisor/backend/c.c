/*
 * c.c
 *		C on a CPU: compiled code in a process of exec-c, its arrays in shared memory.
 */
#define _GNU_SOURCE
#include <string.h>

#include "supervisor/backend/parts.h"

static bool
c_make_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare)
{
	return host_make_arena(m, arena, slots, false);
}

static bool
c_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	const Signature *s = &m->job->signature;

	for (uint32_t r = 0; r < n; r++)
	{
		char	   *slot = arena->master + slots[r] * arena->input_slot_bytes;
		char	   *direct = arena->inputs + slots[r] * arena->input_slot_bytes;
		int			in = 0;

		for (int i = 0; i < s->arguments; i++)
		{
			const Argument *a = &s->argument[i];
			RandomKey	key;

			if (a->role != ROLE_IN && a->role != ROLE_INOUT)
				continue;
			random_key(&m->random, &key);
			random_fill((a->role == ROLE_IN && arena->direct ? direct : slot) + m->input[in].offset,
						a->tensor.dtype, a->tensor.elements, a->init, a->low, a->high, &key);
			in++;
		}
	}
	return true;
}

static ExecutorResult
c_start(Measure *m, Executor *executor, Side code, Side side, int seat, const Arena *arena)
{
	const char *environment[] = {"PATH", "/usr/bin:/bin", "LANG", "C", NULL};
	Sandbox		sandbox = {.environment = environment,.no_proc = true};

	return native_start(m, executor, code, arena, "exec-c", &sandbox);
}

static bool
c_stage(Measure *m, const Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	const Signature *s = &m->job->signature;

	for (uint32_t r = 0; r < n; r++)
	{
		const char *from = arena->master + slots[r] * arena->input_slot_bytes;
		char	   *in_slot = arena->inputs + slots[r] * arena->input_slot_bytes;
		char	   *out_slot = arena->outputs + slots[r] * arena->output_slot_bytes;
		int			in = 0,
					out = 0;

		for (int i = 0; i < s->arguments; i++)
		{
			switch (s->argument[i].role)
			{
				case ROLE_IN:
					host_forget(in_slot + m->input[in].offset, m->input[in].bytes);
					if (!arena->direct)
						memcpy(in_slot + m->input[in].offset, from + m->input[in].offset,
							   m->input[in].bytes);
					in++;
					break;
				case ROLE_INOUT:
					host_forget(out_slot + m->output[out].offset, m->output[out].bytes);
					memcpy(out_slot + m->output[out].offset, from + m->input[in].offset,
						   m->input[in].bytes);
					in++;
					out++;
					break;
				case ROLE_OUT:
					if (m->trial & TRIAL_ZEROED)
						memset(out_slot + m->output[out].offset, 0, m->output[out].bytes);
					else
						host_noise(m, out_slot + m->output[out].offset, m->output[out].bytes);
					out++;
					break;
				case ROLE_SCALAR:
					break;
			}
		}
	}
	return true;
}

static void
c_unstage(Measure *m, const Arena *arena, uint32_t slot)
{
	host_noise(m, arena->inputs + slot * arena->input_slot_bytes, arena->input_slot_bytes);
	host_noise(m, arena->outputs + slot * arena->output_slot_bytes, arena->output_slot_bytes);
}

/* inputs are read-only in executors */
static void
c_blank(Measure *m, const Arena *arena, uint32_t slot, bool staged)
{
	char	   *from = arena->outputs + slot * arena->output_slot_bytes;
	size_t		at = 0;

	for (int i = 0; i < m->outputs && staged; i++)
	{
		host_noise(m, from + at, m->output[i].offset - at);
		at = m->output[i].offset + m->output[i].bytes;
	}
	host_noise(m, from + at, arena->output_slot_bytes - at);
	if (slot + 1 == arena->slots)
		host_blank_end(m, arena->outputs, arena->slots * arena->output_slot_bytes);
}

static bool
c_read_outputs(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
			   uint32_t slot, void *out)
{
	char	   *to = out;

	for (int i = 0; i < m->outputs; i++)
	{
		memcpy(to, arena->outputs + slot * arena->output_slot_bytes + m->output[i].offset,
			   m->output[i].bytes);
		to += measure_gathered(&m->output[i]);
	}
	return true;
}

const Backend backend_c = {
	.make_arena = c_make_arena,
	.generate = c_generate,
	.start = c_start,
	.stage = c_stage,
	.unstage = c_unstage,
	.blank = c_blank,
	.read = c_read_outputs,
	.cold_seconds = 2e-6,
	HOST_CALLS,
};
