/*
 * c.c
 *		C on a CPU: compiled code in a process of exec-c, its arrays in shared memory.
 */
#include "supervisor/backend/parts.h"

#define CACHE_LINE		64		/* bytes; on other processors at least as many */

static bool
c_generate(Measure *m, Arena *arena, uint32_t n)
{
	for (uint32_t r = 0; r < n; r++)
		for (int i = 0; i < m->inputs.n; i++)
		{
			const Argument *a = m->inputs.parameter[i];
			RandomKey	key;

			random_key(&m->random, &key);
			random_fill(arena->master + r * arena->input_slot_bytes + m->inputs.tensor[i].offset,
						a->tensor.dtype, a->tensor.elements, a->init, a->low, a->high, &key);
		}
	return true;
}

static ExecutorResult
c_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	Sandbox		sandbox = {.no_proc = true};

	return native_start(m, executor, side, arena, "exec-c", &sandbox);
}

/* Each input to its slot, or where it is an output as well to that of the outputs. */
static bool
c_bring(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	const char *from = arena->master + slot * arena->input_slot_bytes;
	char	   *in_slot = arena->inputs + slot * arena->input_slot_bytes;
	char	   *out_slot = arena->outputs + slot * arena->output_slot_bytes;

	for (int i = 0; i < m->inputs.n; i++)
	{
		const Tensor *input = &m->inputs.tensor[i];
		int			output = m->inputs.parameter[i]->output;

		memcpy(output < 0 ? in_slot + input->offset : out_slot + m->output[output].offset,
			   from + input->offset, input->bytes);
	}
	return true;
}

static bool
c_stage(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	host_unstage(m, arena, slot);
	if (m->trial.changes & TRIAL_ZEROED)
		memset(arena->outputs + slot * arena->output_slot_bytes, 0, arena->output_slot_bytes);
	return c_bring(m, arena, side, slot);
}

/* The memory for a run's outputs lies in caches, as that of a caller does who uses it again. */
static void
c_warm(const Arena *arena, uint32_t slot)
{
	const volatile char *outputs = arena->outputs + slot * arena->output_slot_bytes;

	for (size_t at = 0; at < arena->output_slot_bytes; at += CACHE_LINE)
		(void) outputs[at];
}

static uint64_t
c_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run, int output,
		  uint64_t element)
{
	const Tensor *t = &m->output[output];

	return (uint64_t) (uintptr_t) (arena->outputs + run * arena->output_slot_bytes + t->offset
								   + element * tensor_dtype_size(t->dtype));
}

static bool
c_peek(Measure *m, Executor *executor, const uint64_t *address, int n, size_t size,
	   uint64_t *value)
{
	for (int i = 0; i < n; i++)
		memcpy(&value[i], (const void *) (uintptr_t) address[i], size);
	return true;
}

static bool
c_read(Measure *m, Executor *executor, const Arena *arena, uint32_t slot, int output,
	   const WireTensor *listed, void *out)
{
	const char *from = arena->outputs + slot * arena->output_slot_bytes;

	memcpy(out, from + m->output[output].offset, m->output[output].bytes);
	return true;
}

/* the source has its own folder, so that messages and __FILE__ name no other */
static bool
c_compiler(Measure *m, Compiler *compiler, bool lines)
{
	*compiler = (Compiler) {
		.argv = {"/usr/bin/gcc", "-O3", "-march=native", "-shared", "-fPIC", lines ? "-g" : "-s",
			"-std=gnu17", "-fdiagnostics-color=never", "-w", "-o", COMPILED, "code.c", "-lm"},
		.source = "code.c",
		.flags = "-O3 -march=native -shared -fPIC -s -std=gnu17"};
	return true;
}

const Backend backend_c = {
	HOST_CALLS,
	.builds.compiler = c_compiler,
	.builds.tool = "gcc",
	.builds.version = "gcc -dumpfullversion 2>/dev/null",
	.generate = c_generate,
	.start = c_start,
	.stage = c_stage,
	.bring = c_bring,
	.warm = c_warm,
	.element = c_element,
	.peek = c_peek,
	.read = c_read,
};
