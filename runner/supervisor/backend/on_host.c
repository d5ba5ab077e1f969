/*
 * on_host.c
 *		Runs on a CPU: arenas in shared memory, outputs compared by the supervisor.
 */
#include "supervisor/backend/parts.h"

bool
host_make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	if (!arena_create(arena, slots, m->inputs.slot_bytes, m->output_slot_bytes, m->backend->module))
		return conclude(m, OUTCOME_LOST, "no memory for %u slots of %zu bytes: %s", slots,
						m->inputs.slot_bytes + m->output_slot_bytes, strerror(errno));
	return !m->backend->module || torch_hand_arena(m, arena);
}

static void
write_noise(Measure *m, char *out, size_t bytes)
{
	size_t		at = (size_t) random_below(&m->random, NOISE_BYTES / 2);

	while (bytes > 0)
	{
		size_t		n = bytes < NOISE_BYTES - at ? bytes : NOISE_BYTES - at;

		memcpy(out, m->noise + at, n);
		out += n;
		bytes -= n;
		at = 0;
	}
}

/*
 * Noise to all that executors of either side can read, the gaps between arrays included. Slots of
 * modules have no outputs.
 */
void
host_unstage(Measure *m, const Arena *arena, uint32_t slot)
{
	write_noise(m, arena->inputs + slot * arena->input_slot_bytes, arena->input_slot_bytes);
	write_noise(m, arena->outputs + slot * arena->output_slot_bytes, arena->output_slot_bytes);
}

bool
host_prepare(Measure *m, const Arena *arena, Side side, uint32_t n)
{
	for (uint32_t slot = 0; slot < n; slot++)
		host_unstage(m, arena, slot);
	return true;
}

static void *
host_alloc(Measure *m, size_t bytes)
{
	return malloc(bytes + 1);
}

static void
host_free(Measure *m, void *memory)
{
	free(memory);
}

static bool
host_compare(Measure *m, const void *expected, const void *found, int output,
			 const Tolerance *tolerance, Comparison *result)
{
	const Tensor *t = &m->output[output];

	tensor_compare(expected, found, t->dtype, t->elements, tolerance, result);
	return true;
}

static void *
host_input(Measure *m, const Arena *arena, uint32_t slot, int input)
{
	return arena->master + slot * arena->input_slot_bytes + m->inputs.tensor[input].offset;
}

static bool
host_copy(Measure *m, const Arena *arena, uint32_t from, uint32_t to)
{
	size_t		bytes = arena->input_slot_bytes;

	memcpy(arena->master + to * bytes, arena->master + from * bytes, bytes);
	return true;
}

static bool
host_change(Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
			const Change *change)
{
	tensor_change(host_input(m, arena, from, input), host_input(m, arena, to, input),
				  m->inputs.tensor[input].dtype, m->inputs.tensor[input].elements, change);
	return true;
}

static bool
host_pick(Measure *m, const void *array, const Tensor *tensor, size_t count, double *values)
{
	for (size_t i = 0; i < count; i++)
		values[i] = tensor_load(array, tensor->dtype, tolerance_pick(tensor->elements, count, i));
	return true;
}

static bool
host_bases(Measure *m, const void *outputs, uint32_t n, const Tensor *tensor, void *bases)
{
	for (size_t i = 0; i < tensor->elements; i++)
		tensor_store(bases, tensor->dtype, i,
					 tensor_base(outputs, m->output_bytes, n, tensor->dtype, i), 0);
	return true;
}

static bool
host_thin(Measure *m, const void *from, void *to, const Thinning *thin)
{
	for (uint64_t row = 0; row < thin->rows; row++)
		tensor_thin(from, to, thin, row);
	return true;
}

static bool
host_take(Measure *m, void *memory, const void *from, size_t bytes)
{
	memcpy(memory, from, bytes);
	return true;
}

static double
host_element(Measure *m, const void *array, uint32_t dtype, uint64_t element)
{
	return tensor_load(array, dtype, element);
}

const ArrayCalls host_arrays = {
	.alloc = host_alloc, .free = host_free, .take = host_take, .input = host_input,
	.copy = host_copy, .change = host_change, .compare = host_compare, .pick = host_pick,
	.bases = host_bases, .thin = host_thin, .element = host_element,
};
