/*
 * outputs.c
 *		Reads what a run has left, while its process is stopped, and compares it.
 */
#include <float.h>

#include "supervisor/checks/checks.h"

/* an element that is not written yet is off by far more */
#define ANSWER_TOLERANCES	8.0

static bool
check_count(Measure *m, Side side, uint32_t tensors)
{
	if (tensors == (uint32_t) m->outputs)
		return true;
	measure_cause(m, side, "count");
	return conclude(m, outcome_of(side, OUTCOME_WRONG_OUTPUT),
					"%s returns %u tensor%s instead of %d", name_of_side(side), tensors,
					tensors == 1 ? "" : "s", m->outputs);
}

static bool
is_like(const Tensor *layout, const WireTensor *found)
{
	return found->dtype == layout->dtype && found->ndim == layout->ndim
		&& memcmp(found->shape, layout->shape, layout->ndim * sizeof(int64_t)) == 0;
}

/* Whether a module's tensor is of the type and shape of an output. */
static bool
check_layout(Measure *m, Side side, int output, const WireTensor *found)
{
	const Tensor *layout = &m->output[output];
	Tensor		other = {.dtype = found->dtype, .ndim = found->ndim < WIRE_MAX_DIMS ? found->ndim
		: WIRE_MAX_DIMS};
	Outcome		outcome = outcome_of(side, OUTCOME_WRONG_OUTPUT);
	uint64_t	span;
	bool		elsewhere = false;
	char		want[200],
				have[200];

	if (is_like(layout, found))
	{
		/* executors copy what overlaps itself; strides of an empty array may be anything */
		if (layout->elements == 0 || !tensor_span(layout, found->stride, &span)
			|| !tensor_overlaps(layout, found->stride))
			return true;
		tensor_describe(layout, want, sizeof(want));
		measure_cause(m, side, "memory");
		return conclude(m, outcome, "output %d, %s, overlaps itself: each element of a result has "
						"a place of its own", output, want);
	}
	memcpy(other.shape, found->shape, sizeof(other.shape));
	tensor_describe(layout, want, sizeof(want));
	tensor_describe(&other, have, sizeof(have));
	measure_cause(m, side, found->dtype == layout->dtype ? "shape" : "dtype");
	if (side == SIDE_REFERENCE)
		return conclude(m, outcome, "output %d of the reference is %s for one input and %s for "
						"another; outputs whose type or shape depends on the values of inputs are "
						"not supported", output, want, have);
	for (int i = 0; i < m->outputs && !elsewhere; i++)
		elsewhere = is_like(&m->output[i], found);
	return conclude(m, outcome, "output %d is %s, expected %s%s", output, have, want, elsewhere
					? ". Outputs are compared in the order in which they are returned, a dict's in "
					"the order of its items, whatever its keys" : "");
}

bool
measure_read(Measure *m, Executor *executor, const Arena *arena, uint32_t run, uint32_t slot,
			 void *out)
{
	double		started = clock_now();
	const WireTensor *table = m->backend->module ? executor_listed(executor, run, m->outputs)
		: NULL;
	Side		side = executor_side(executor);
	WireStretch stretch;
	bool		good = !table || check_count(m, side, executor->control->tensors);

	for (int i = 0; good && i < m->outputs; i++)
	{
		good = (!table || check_layout(m, side, i, &table[i]))
			&& m->backend->read(m, executor, arena, slot, i,
								(char *) out + m->output[i].gathered);
		/* Two results in one memory are none. */
		if (good && m->outputs > 1 && m->backend->overwrite)
			good = m->backend->overwrite(m, executor, run, i, &stretch);
	}
	measure_spent(m, SPENT_COMPARE, started);
	return good;
}

void *
measure_alloc(Measure *m, size_t bytes)
{
	void	   *memory = m->backend->arrays->alloc(m, bytes);

	if (!memory)
		conclude(m, OUTCOME_LOST, "no memory for outputs of %zu bytes", bytes);
	return memory;
}

void
measure_free(Measure *m, void *memory)
{
	if (memory)
		m->backend->arrays->free(m, memory);
}

static void
describe_index(const Tensor *tensor, size_t index, char *text, size_t size)
{
	size_t		length = 0;
	size_t		stride = tensor->elements;

	text[0] = '\0';
	for (uint32_t d = 0; d < tensor->ndim && length < size; d++)
	{
		stride /= (size_t) tensor->shape[d];
		length += (size_t) snprintf(text + length, size - length, "%s%zu", d ? ", " : "",
									(index / stride) % (size_t) tensor->shape[d]);
	}
}

/* whether floats are smaller than the smallest normal number of float32, so that zeros will do */
static bool
underflows(const Measure *m, int output)
{
	return tensor_dtype_is_float(m->output[output].dtype)
		&& m->output[output].dtype != WIRE_FLOAT64 && m->tolerance[output].scale > 0
		&& m->tolerance[output].scale < FLT_MIN;
}

bool
measure_agree(Measure *m, const char *expected, const char *found, const Tolerance *tolerances,
			  Agreement *a)
{
	double		started = clock_now();

	*a = (Agreement) {.wrong = -1};
	for (int i = 0; i < m->outputs; i++)
	{
		size_t		at = m->output[i].gathered;
		Comparison	c;

		if (!m->backend->arrays->compare(m, expected + at, found + at, i, &tolerances[i], &c))
			return false;
		if (!c.equal && a->wrong < 0)
		{
			a->wrong = i;
			a->c = c;
		}
		a->error = fmax(a->error, c.error);
		a->differ |= (c.mismatches > 0 || c.error > 0) && !underflows(m, i);
		a->infinite += c.infinite;
	}
	measure_spent(m, SPENT_COMPARE, started);
	return true;
}

/* Whether a finite element of an answer is near what is expected, as its outputs are compared. */
static bool
is_near(Measure *m, int output, uint64_t element, double y, double x)
{
	const Tolerance *t = &m->tolerance[output];
	const ArrayCalls *arrays = m->backend->arrays;
	uint32_t	dtype = m->output[output].dtype;
	double		scale = t->scales ? arrays->element(m, t->scales, WIRE_FLOAT32, element) : 1;
	double		base = t->bases ? arrays->element(m, t->bases, dtype, element) : t->base;

	return fabs(x - y) <= ANSWER_TOLERANCES * tolerance_of(t, y, t->scale * scale, base);
}

bool
measure_agree_at(Measure *m, int output, uint64_t element, const uint64_t *expected,
				 const uint64_t *found, double *excused)
{
	const Tensor *t = &m->output[output];
	double		y = tensor_load(expected, t->dtype, 0);
	double		x = tensor_load(found, t->dtype, 0);
	bool		finite = tensor_dtype_is_float(t->dtype) && isfinite(x) && isfinite(y);
	char		shape[200];
	char		index[200];
	char		value[2][TENSOR_VALUE_BYTES];

	if (x == y || (isnan(x) && isnan(y)) || (finite && is_near(m, output, element, y, x)))
		return true;
	if (m->tolerance[output].farthest > TOLERANCE_FARTHEST
		&& (finite || !tensor_dtype_is_float(t->dtype)) && (*excused)-- >= 1)
		return true;
	tensor_describe(t, shape, sizeof(shape));
	describe_index(t, (size_t) element, index, sizeof(index));
	tensor_describe_values(t->dtype, y, x, value);
	return conclude(m, OUTCOME_WRONG_OUTPUT, "output %d, %s, when a timed run had answered: the "
					"element at [%s] is %s, expected %s", output, shape, index, value[1], value[0]);
}

bool
measure_blame(Measure *m, const Agreement *a, Side blamed, const char *probe)
{
	const char *state = m->facts.state;
	const Tensor *t = &m->output[a->wrong];
	char		shape[200],
				index[200],
				value[2][TENSOR_VALUE_BYTES],
				deviation[80] = "";

	tensor_describe(t, shape, sizeof(shape));
	describe_index(t, a->c.first, index, sizeof(index));
	tensor_describe_values(t->dtype, a->c.expected, a->c.found, value);
	m->result->wrong_error = a->c.error;
	if (blamed == SIDE_REFERENCE)
		return conclude(m, OUTCOME_UNVERIFIED, "the reference does not agree with itself in two "
						"processes and two orders of its inputs: output %d, %s, differs in %zu of "
						"%zu elements%s%s%s", a->wrong, shape, a->c.mismatches, t->elements,
						state[0] ? "; its runs change " : "", state,
						state[0] ? ", and restoring the tensors that they bind does not help" : "");
	/* integers have no tolerance, and NaN deviates by no number */
	if (isfinite(a->c.error))
		snprintf(deviation, sizeof(deviation), "; the largest deviation is %.*g tolerances",
				 a->c.error < 2 ? 4 : 3, a->c.error);
	return conclude(m, OUTCOME_WRONG_OUTPUT, "%s%soutput %d, %s: %zu of %zu elements are wrong, "
					"the first at [%s]: expected %s, found %s%s", probe ? probe : "",
					probe ? ": " : "", a->wrong, shape, a->c.mismatches, t->elements, index,
					value[0], value[1], deviation);
}

bool
measure_compare(Measure *m, const char *expected, const char *found)
{
	Agreement	a;

	if (!measure_agree(m, expected, found, m->tolerance, &a))
		return false;
	if (a.wrong >= 0)
		return measure_blame(m, &a, SIDE_CANDIDATE, NULL);
	m->result->max_error = fmax(m->result->max_error, a.error);
	m->result->checks++;
	return true;
}
