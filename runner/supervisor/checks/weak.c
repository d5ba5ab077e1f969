/*
 * weak.c
 *		Whether code that does no work would be right.
 *
 * A server measures such code as null candidates (sql/46-certification.sql). Where there is none,
 * zeros, what the reference gives for another input, copies of inputs and means of the outputs are
 * compared with the outputs that are expected of a candidate. Probes do not count here: code can
 * tell them from the task's own inputs, and do the work for them alone.
 */
#include <stdlib.h>

#include "supervisor/checks/checks.h"

typedef enum Answer
{
	ANSWER_ZEROS,
	ANSWER_OTHER,				/* the outputs for the first input */
	ANSWER_COPY,				/* of an input of the same type and size */
	ANSWER_MEANS,				/* of the outputs along an axis, the first, and those after it */
	ANSWERS = ANSWER_MEANS + WIRE_MAX_DIMS
} Answer;

#define MEANS_MOST		((size_t) 1 << 22)	/* elements of an output whose means are taken */

static const char *const words[] = {"zeros", "the output for other inputs", "a copy of an input",
"the means of the outputs along an axis"};

static const char *
copy_of_input(Measure *m, const Checks *c, const Tensor *output, uint32_t slot)
{
	for (int i = 0; i < m->inputs.n; i++)
	{
		const Tensor *t = &m->inputs.tensor[i];

		if (t->dtype == output->dtype && t->elements == output->elements)
			return m->backend->arrays->input(m, &c->arena, slot, i);
	}
	return NULL;
}

/* The means of an output along an axis, each instead of its elements; NULL: it has none. */
static const char *
means_of(Measure *m, const char *expected, const Tensor *t, uint32_t axis, char *memory)
{
	size_t		length = axis < t->ndim ? (size_t) t->shape[axis] : 0;
	size_t		after = 1;
	double	   *value;
	void	   *means;
	bool		good;

	if (length < 2 || t->elements > MEANS_MOST || !tensor_dtype_is_float(t->dtype))
		return NULL;
	for (uint32_t d = axis + 1; d < t->ndim; d++)
		after *= (size_t) t->shape[d];
	value = calloc(t->elements, sizeof(*value));
	means = malloc(t->bytes);
	good = value && means && m->backend->arrays->pick(m, expected, t, t->elements, value);
	for (size_t i = 0; good && i < t->elements; i++)
	{
		size_t		first = i - i / after % length * after;

		if (i != first)
			value[first] += value[i];
	}
	for (size_t i = 0; good && i < t->elements; i++)
		tensor_store_float(means, t->dtype, i,
						   value[i - i / after % length * after] / (double) length);
	good = good && m->backend->arrays->take(m, memory, means, t->bytes);
	free(value);
	free(means);
	return good ? memory : NULL;
}

/* whether an answer is right for the input of a slot; `memory`: zeros, or room for others */
static bool
is_right(Checks *c, Answer answer, char *memory, uint32_t slot, bool *right)
{
	Measure    *m = c->m;
	const char *expected = c->expected + slot * m->output_bytes;

	*right = true;
	for (int o = 0; o < m->outputs && *right; o++)
	{
		const Tensor *t = &m->output[o];
		size_t		at = t->gathered;
		const char *found = answer == ANSWER_ZEROS ? memory + at
			: answer == ANSWER_OTHER ? c->expected + at
			: answer == ANSWER_COPY ? copy_of_input(m, c, t, slot)
			: means_of(m, expected + at, t, (uint32_t) (answer - ANSWER_MEANS), memory + at);
		Comparison	differ = {.equal = false};

		if (m->result->outcome != OUTCOME_NONE
			|| (found && !m->backend->arrays->compare(m, expected + at, found, o, &m->tolerance[o],
													 &differ)))
			return false;
		*right = differ.equal;
	}
	return true;
}

static bool
passes(Checks *c, Answer answer, char *memory, bool *right)
{
	*right = answer != ANSWER_OTHER || c->n > 1;
	for (uint32_t i = answer == ANSWER_OTHER; i < c->n && *right; i++)
		if (!is_right(c, answer, memory, i, right))
			return false;
	return true;
}

bool
weak_note(Checks *c)
{
	Measure    *m = c->m;
	char	   *nothing = calloc(1, m->output_bytes + 1);
	char	   *memory = measure_alloc(m, m->output_bytes);
	bool		right = false;
	bool		good = (nothing && memory
						&& m->backend->arrays->take(m, memory, nothing, m->output_bytes))
		|| conclude(m, OUTCOME_LOST, "no memory for outputs of %zu bytes", m->output_bytes);

	for (int answer = 0; answer < ANSWERS && good && !right; answer++)
	{
		const char *said = words[answer < ANSWER_MEANS ? answer : ANSWER_MEANS];

		good = passes(c, answer, memory, &right);
		if (good && right)
			json_object_set_new(m->result->evidence, "weak", json_string(said));
	}
	measure_free(m, memory);
	free(nothing);
	return good;
}
