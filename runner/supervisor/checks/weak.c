/*
 * weak.c
 *		Whether code that does no work would be right.
 *
 * A task pays for nothing where zeros are right, or what the reference gives for another input, or
 * copies of inputs, or what it gives for less of an input, or for an input whose first steps are
 * one, or means of the outputs. So these are compared with the outputs that are expected of a
 * candidate, when a task is measured for the first time. Probes do not count here: code can tell
 * them from the task's own inputs, and do the work for them alone.
 */
#include "supervisor/checks/checks.h"

typedef enum Answer
{
	ANSWER_ZEROS,
	ANSWER_OTHER,				/* the outputs for the first input */
	ANSWER_COPY,				/* of an input of the same type and size */
	ANSWER_MEANS,				/* of the outputs along an axis, the first, and those after it */
	/* the reference's for every second element of an array, or for the means of its rows */
	ANSWER_SAMPLE = ANSWER_MEANS + WIRE_MAX_DIMS,
	ANSWER_MOMENT,
	ANSWER_STEPS,				/* the reference's where the first half of the steps are the same */
	ANSWERS
} Answer;

#define ROW_MOST		((uint64_t) 1 << 22)	/* elements of a row whose mean is taken */
#define EXACT			0.05	/* tolerances: means that come so near are the work, as of a sum */

static const char *const words[ANSWERS] = {
	[ANSWER_ZEROS] = "zeros",
	[ANSWER_OTHER] = "the output for other inputs",
	[ANSWER_COPY] = "a copy of an input",
	[ANSWER_MEANS... ANSWER_SAMPLE - 1] = "the means of the outputs along an axis",
	[ANSWER_SAMPLE] = "work on half of an input, which counts twice",
	[ANSWER_MOMENT] = "work on the means of an input's rows",
	[ANSWER_STEPS] = "work on the second half of an input's steps",
};

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

/* The rows of an array along an axis; false: they have one element, or too many. */
static bool
rows_along(const Tensor *t, uint32_t axis, Thinning *thin)
{
	*thin = (Thinning) {.dtype = t->dtype,.after = 1};
	if (axis >= t->ndim || t->elements == 0 || !tensor_dtype_is_float(t->dtype))
		return false;
	thin->length = (uint64_t) t->shape[axis];
	thin->rows = t->elements / thin->length;
	for (uint32_t d = axis + 1; d < t->ndim; d++)
		thin->after *= (uint64_t) t->shape[d];
	return thin->length > 1 && thin->length <= ROW_MOST;
}

/* The pairs of elements of an array; false: it has none. */
static bool
pairs_of(const Tensor *t, Thinning *thin)
{
	*thin = (Thinning) {.dtype = t->dtype,.rows = t->elements / 2,.length = 2,.after = 1,
	.sample = 1};
	return thin->rows > 0 && tensor_dtype_is_float(t->dtype);
}

/* The means of an output along an axis, each instead of its elements; NULL: it has none. */
static const char *
means_of(Measure *m, const char *expected, const Tensor *t, uint32_t axis, char *memory)
{
	Thinning	thin;

	return rows_along(t, axis, &thin) && m->backend->arrays->thin(m, expected, memory, &thin)
		? memory : NULL;
}

/*
 * An input whose first steps are as the one in the middle; false: it is no sequence. Series and
 * tokens have their steps along the second of two axes. Bytes are masks.
 */
static bool
forget_steps(const Tensor *t, Change *change)
{
	uint32_t	axis = t->ndim == 2 ? 1 : probes_steps(t);
	bool		mask = !tensor_dtype_is_float(t->dtype) && tensor_dtype(t->dtype)->size == 1;

	*change = (Change) {.factor = 1,.before = true};
	if (t->ndim < 2 || t->elements == 0 || t->shape[axis] < 4 || mask)
		return false;
	probes_repeat(t, axis, (uint64_t) t->shape[axis] / 2, change);
	return true;
}

/* What the reference gives for less of an input of a slot; `ran`: it gives something. */
static bool
answer_less(Checks *c, Answer answer, int input, uint32_t slot, char *memory, bool *ran)
{
	Measure    *m = c->m;
	const ArrayCalls *arrays = m->backend->arrays;
	const Tensor *t = &m->inputs.tensor[input];
	uint32_t	scratch = c->slots;
	Thinning	thin;
	Change		change;

	*ran = false;
	if (c->spare == 0
		|| !(answer == ANSWER_SAMPLE ? pairs_of(t, &thin)
			 : answer == ANSWER_STEPS ? forget_steps(t, &change)
			 : rows_along(t, t->ndim - 1, &thin)))
		return true;
	return arrays->copy(m, &c->arena, slot, scratch)
		&& (answer == ANSWER_STEPS
			? arrays->change(m, &c->arena, slot, scratch, input, &change)
			: arrays->thin(m, arrays->input(m, &c->arena, slot, input),
						   arrays->input(m, &c->arena, scratch, input), &thin))
		&& probes_run(c, scratch, c->seeds[slot], memory, ran);
}

/* The largest input of which less gives other outputs, or whose steps may be forgotten; or -1. */
static bool
choose_input(Checks *c, Answer answer, char *memory, int *input)
{
	const Tensor *t = c->m->inputs.tensor;

	*input = -1;
	for (int i = 0; i < c->m->inputs.n; i++)
	{
		bool		ran;
		Agreement	a = {.differ = false};

		if (*input >= 0 && t[i].elements <= t[*input].elements)
			continue;
		if (!answer_less(c, answer, i, 0, memory, &ran)
			|| (ran && !measure_agree(c->m, c->expected, memory, c->m->tolerance, &a)))
			return false;
		if (ran && (a.differ || answer == ANSWER_STEPS))
			*input = i;
	}
	return true;
}

/* whether an answer is right for the input of a slot; `memory`: the answer, or room for one */
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
		const char *found = answer == ANSWER_OTHER ? c->expected + at
			: answer == ANSWER_COPY ? copy_of_input(m, c, t, slot)
			: answer < ANSWER_MEANS || answer >= ANSWER_SAMPLE ? memory + at
			: means_of(m, expected + at, t, (uint32_t) (answer - ANSWER_MEANS), memory + at);
		Comparison	differ = {.equal = false};

		if (m->result->outcome != OUTCOME_NONE
			|| (found && !m->backend->arrays->compare(m, expected + at, found, o, &m->tolerance[o],
													 &differ)))
			return false;
		*right = differ.equal && (answer != ANSWER_MOMENT || differ.error > EXACT);
	}
	return true;
}

static bool
passes(Checks *c, Answer answer, char *memory, bool *right)
{
	bool		less = answer >= ANSWER_SAMPLE;
	int			input = 0;

	if (less && !choose_input(c, answer, memory, &input))
		return false;
	*right = input >= 0 && (answer != ANSWER_OTHER || c->n > 1);
	for (uint32_t i = answer == ANSWER_OTHER; i < c->n && *right; i++)
		if ((less && !answer_less(c, answer, input, i, memory, right))
			|| (*right && !is_right(c, answer, memory, i, right)))
			return false;
	return true;
}

bool
weak_note(Checks *c)
{
	Measure    *m = c->m;
	char	   *memory = m->backend->arrays->alloc(m, m->output_bytes);
	char	   *nothing;
	int			answers = 0;	/* that were looked at */
	bool		right = false;
	bool		good;

	/* Where there is no room, another measurement may tell. */
	if (!memory)
		return true;
	nothing = measure_zeroed(1, m->output_bytes);
	good = m->backend->arrays->take(m, memory, nothing, m->output_bytes);
	free(nothing);
	while (good && !right && answers < ANSWERS)
		good = passes(c, answers++, memory, &right);
	if (good)
		json_object_set_new(m->result->evidence, "weak", right ? json_string(words[answers - 1])
							: json_false());
	measure_free(m, memory);
	return good;
}
