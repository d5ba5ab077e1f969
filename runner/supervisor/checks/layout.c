/*
 * layout.c
 *		Which arrays go into a run and come out of it, and where each lies in its slot; single runs.
 */
#include "supervisor/checks/checks.h"

static size_t
align(size_t bytes)
{
	return bytes >= 4096 ? (bytes + 4095) & ~(size_t) 4095 : (bytes + 63) & ~(size_t) 63;
}

static void
place_outputs(Measure *m, bool shared)
{
	size_t		at = 0;

	m->output_bytes = 0;
	for (int i = 0; i < m->outputs; i++)
	{
		m->output[i].offset = at;
		at += align(m->output[i].bytes);
		m->output[i].gathered = m->output_bytes;
		m->output_bytes += measure_gathered(&m->output[i]);
	}
	m->output_slot_bytes = shared ? align(at) : 0;
}

/* inout arrays are made with the inputs and staged among the outputs */
void
layout_from_signature(Measure *m)
{
	const Signature *s = &m->job->signature;
	size_t		at = 0;

	for (int i = 0; i < s->arguments; i++)
	{
		const Argument *a = &s->argument[i];

		if (a->input >= 0)
		{
			m->inputs.parameter[m->inputs.n] = a;
			m->inputs.tensor[m->inputs.n] = a->tensor;
			m->inputs.tensor[m->inputs.n++].offset = at;
			at += align(a->tensor.bytes);
		}
		if (a->output < 0)
			continue;
		m->inputs.comes_in[m->outputs] = a->input >= 0;
		m->output[m->outputs++] = a->tensor;
	}
	m->inputs.slot_bytes = align(at);
	place_outputs(m, true);
}

/*
 * pytorch: what a task's own code says of its arrays is no more than its memory holds (0:
 * whatever). Views of few elements, many times over, could be larger, and the supervisor's copies
 * of them would take the host's memory.
 */
static bool
fits(Measure *m, const char *who, size_t bytes, size_t limit)
{
	return limit == 0 || bytes <= limit
		|| conclude(m, OUTCOME_UNVERIFIED,
					"%s arrays of %zu MiB together, more than a run's memory holds (%zu MiB)", who,
					bytes >> 20, limit >> 20);
}

/* an array as a copy of its entry in the table has it */
static bool
take_array(Measure *m, const char *who, const WireTensor *t, Tensor *array)
{
	*array = (Tensor) {.dtype = t->dtype,.ndim = t->ndim};
	memcpy(array->shape, t->shape, sizeof(t->shape));
	return tensor_finish(array)
		|| conclude(m, OUTCOME_UNVERIFIED, "%s an array of an unsupported type or size", who);
}

/*
 * An argument as the generator has laid it out. A tensor with gaps or repeated elements stands in
 * m->inputs.tensor as the memory that it reaches, so what fills or changes inputs needs no strides.
 */
static bool
take_input(Measure *m, const WireTensor *t, Tensor *input)
{
	Tensor		view;
	uint64_t	span;

	if (t->dtype >= WIRE_PY_INT)
	{
		*input = (Tensor) {.dtype = t->dtype,.ndim = t->ndim,.offset = t->address};
		return t->ndim == 0
			|| (t->address % 8 == 0 && t->address < m->inputs.slot_bytes)
			|| conclude(m, OUTCOME_UNVERIFIED, "get_inputs gives a number that lies nowhere");
	}
	if (!take_array(m, "get_inputs gives", t, &view))
		return false;
	*input = view;
	if (view.elements > 0)
	{
		if (!tensor_span(&view, t->stride, &span))
			return conclude(m, OUTCOME_UNVERIFIED,
							"get_inputs gives an array with unsupported strides");
		if (span != view.elements || tensor_overlaps(&view, t->stride))
			*input = (Tensor) {.dtype = t->dtype,.ndim = 1,.shape = {(int64_t) span}};
		if (!tensor_finish(input) || input->bytes > m->inputs.slot_bytes
			|| t->address > m->inputs.slot_bytes - input->bytes)
			return conclude(m, OUTCOME_UNVERIFIED, "get_inputs gives an array that lies nowhere");
	}
	input->offset = t->address;
	return true;
}

static bool
take_inputs(Measure *m)
{
	const WireControl *control = m->live.generator.control;
	uint32_t	n = control->tensors;

	if (n > WIRE_MAX_TENSORS)
		return conclude(m, OUTCOME_UNVERIFIED, "get_inputs gives more than %d arguments",
						WIRE_MAX_TENSORS);
	m->inputs.n = (int) n;
	m->facts.same_inputs = (m->live.generator.value & WIRE_VALUE_SAME) != 0;
	m->inputs.slot_bytes = control->slot_bytes;
	if (m->inputs.slot_bytes > TENSOR_MAX_BYTES || m->inputs.slot_bytes % 64 != 0)
		return conclude(m, OUTCOME_UNVERIFIED, "get_inputs gives arrays of an unsupported size");
	memcpy(m->inputs.argument, control->table, sizeof(m->inputs.argument));
	memcpy(m->inputs.traits, control->traits, sizeof(m->inputs.traits));
	for (uint32_t i = 0; i < n; i++)
		if (!take_input(m, &m->inputs.argument[i], &m->inputs.tensor[i]))
			return false;
	return fits(m, "get_inputs gives", m->inputs.slot_bytes,
				m->backend->apart ? 0 : m->device.array_bytes);
}

bool
layout_from_generator(Measure *m)
{
	Arena		empty;
	bool		good;

	arena_init(&empty);
	good = m->backend->make_arena(m, &empty, 1) && take_inputs(m);
	arena_destroy(&empty);
	return good;
}

/* Learns from a first run of a PyTorch reference what holds for all others. */
static bool
learn_outputs(Measure *m, Executor *executor)
{
	uint32_t	n = executor->control->tensors;

	if (m->outputs > 0)
		return true;
	m->facts.seeds_runs = (executor->value & WIRE_VALUE_RANDOM) != 0;
	if (m->facts.same_inputs && !m->facts.seeds_runs)
		return conclude(m, OUTCOME_UNVERIFIED, "each call of get_inputs gives the same inputs, "
						"or each process those of another, so code could know them before; draw "
						"them, for instance by torch.rand");
	if (n < 1 || n > WIRE_MAX_TENSORS)
		return conclude(m, OUTCOME_UNVERIFIED,
						"the reference returns %u tensors; 1 to %d are supported", n,
						WIRE_MAX_TENSORS);
	m->outputs = (int) n;
	for (uint32_t i = 0; i < n; i++)
	{
		WireTensor	t = executor->control->table[i];

		if (!take_array(m, "the reference returns", &t, &m->output[i]))
			return false;
	}
	place_outputs(m, false);
	return fits(m, "the reference returns", m->output_bytes, m->device.array_bytes);
}

bool
checks_run_slot(Measure *m, Executor *executor, Arena *arena, uint32_t slot, uint64_t seed,
				char *out)
{
	if (!m->backend->stage(m, arena, executor_side(executor), slot)
		|| !measure_single(m, executor, slot, seed)
		|| (!executor->hostile && !learn_outputs(m, executor))
		|| (out && !measure_read(m, executor, arena, 0, slot, out)))
		return false;
	measure_progress(m, "checking", false);
	return true;
}

bool
checks_runs(Measure *m, Executor *executor, Arena *arena, uint32_t n, bool backwards,
			const uint64_t *seeds, char *out)
{
	double	   *time = &m->member->time[executor_side(executor)];

	for (uint32_t run = 0; run < n; run++)
	{
		uint32_t	i = backwards ? n - 1 - run : run;

		if (!checks_run_slot(m, executor, arena, i, seeds[i],
							 out ? out + i * m->output_bytes : NULL))
			return false;
		if (*time == 0 || executor->last.took < *time)
			*time = executor->last.took;
	}
	return true;
}
