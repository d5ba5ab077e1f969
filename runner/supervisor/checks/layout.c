/*
 * layout.c
 *		Which arrays go into a run and come out of it, and where each lies in its slot.
 */
#define _GNU_SOURCE
#include <string.h>

#include "supervisor/gpu/cuda.h"
#include "supervisor/checks/layout.h"
#include "supervisor/outcome.h"
#include "supervisor/session.h"

static size_t
align(size_t bytes)
{
	return bytes >= 4096 ? (bytes + 4095) & ~(size_t) 4095 : (bytes + 63) & ~(size_t) 63;
}

/* places the inputs (and, in shared memory, the outputs) within their slots */
static void
place_inputs(Measure *m)
{
	size_t		at = 0;

	for (int i = 0; i < m->inputs; i++)
	{
		m->input[i].offset = at;
		at += align(m->input[i].bytes);
	}
	m->input_slot_bytes = align(at);
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
		m->output_bytes += measure_gathered(&m->output[i]);
	}
	m->output_slot_bytes = shared ? align(at) : 0;
}

/* inout arrays are made with the inputs and staged among the outputs */
void
layout_from_signature(Measure *m)
{
	const Signature *s = &m->job->signature;

	for (int i = 0; i < s->arguments; i++)
	{
		const Argument *a = &s->argument[i];

		if (a->role == ROLE_IN || a->role == ROLE_INOUT)
			m->input[m->inputs++] = a->tensor;
		if (a->role == ROLE_OUT || a->role == ROLE_INOUT)
			m->output[m->outputs++] = a->tensor;
	}
	place_inputs(m);
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

static bool
take_inputs(Measure *m)
{
	uint32_t	n = m->generator.control->tensors;

	if (n > WIRE_MAX_TENSORS)
		return conclude(m, OUTCOME_UNVERIFIED, "get_inputs gives more than %d arguments",
						WIRE_MAX_TENSORS);
	m->inputs = (int) n;
	for (uint32_t i = 0; i < n; i++)
	{
		WireTensor	t = m->generator.control->table[i];

		if (t.dtype >= WIRE_PY_INT)
		{
			m->input[i] = (Tensor) {.dtype = t.dtype,.ndim = t.ndim};
			m->input_value[i] = t.address;
		}
		else if (!take_array(m, "get_inputs gives", &t, &m->input[i]))
			return false;
	}
	place_inputs(m);
	return fits(m, "get_inputs gives", m->input_slot_bytes,
				m->gpu ? 0 : (size_t) m->job->profile.memory_mb << 20);
}

bool
layout_from_generator(Measure *m)
{
	Arena		empty;
	bool		good;

	arena_init(&empty);
	good = measure_arena(m, &empty, 1, 0) && take_inputs(m);
	arena_destroy(&empty);
	return good;
}

bool
layout_from_reference(Measure *m, Executor *executor)
{
	uint32_t	n = executor->control->tensors;

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
	return fits(m, "the reference returns", m->output_bytes,
				m->gpu ? m->gpu->pool_bytes : (size_t) m->job->profile.memory_mb << 20);
}
