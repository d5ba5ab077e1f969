/*
 * signal.c
 *		What changes in an output when the inputs change, which tolerances are a share of.
 *
 * The reference's outputs for several inputs tell it. The signal is how far elements lie from their
 * medians over the inputs. The scale of an output is a quartile of these distances: the upper one,
 * where they reach it without a gap, as those of a leaky rectifier do, which are small for half of
 * the elements; else the lower one, so that neither a mask's -1e9, nor a constant, nor one element
 * of 1e8 counts. Along an axis whose indices differ in scale, as columns of boxes and of scores do,
 * each index has a factor of its own.
 *
 * A few thousand elements, drawn from all parts of an output, tell the scales. Only the bases need
 * all elements, and only where a constant is so large that rtol times it is a good part of the
 * signal. An element has a base only where it hardly changes: of outputs that differ by orders of
 * magnitude, as those of a softmax, each is its own signal.
 */
#include <float.h>

#include "supervisor/checks/checks.h"

#define OUTPUTS			16		/* outputs that tell the signal, at most */
#define PICKS			16384	/* elements of an output that tell its scales */
#define LOWER_QUARTILE	0.319	/* of the distances of normal numbers, in standard deviations */
#define UPPER_QUARTILE	1.15
#define STEPS			16		/* from one distance to the next that is looked at, of all */
#define GAP				8.0		/* times, from one step to the next */
#define FEW				64		/* distances that have no quartile but a root mean square */
#define GROUP			256		/* distances that tell the factor of an index, about */
#define GROUPS_MOST		1024	/* of neighbouring indices of an axis, which share a factor */
#define GROUPS_DIFFER	4.0		/* times, where an axis has factors at all */
#define GROUPS_CHANCE	8.0		/* deviations of a group's mean, which differs so by no chance */
#define SCALES_MOST		((size_t) 1 << 28)	/* elements of an output that may have factors */
#define SHARE			0.05	/* of the signal, the most that is tolerated */

/* Values of an output that were picked, and their spread. */
typedef struct Picked
{
	const Tensor *tensor;
	uint32_t	n;				/* inputs */
	size_t		count;			/* elements that were picked */
	double	   *value;			/* picked values, input by input */
	double	   *distance;		/* distances that are not 0 */
	size_t	   *element;		/* element of each distance */
	size_t		distances;
} Picked;

static int
ascending(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * The scale of these distances, which are put in order: a standard deviation, if they are those of
 * normal numbers. From the lower quartile on it goes up to the upper one, but across no gap: beyond
 * one lies what is no signal.
 */
static double
scale_of(double *distance, size_t n)
{
	double		squares = 0;

	if (n == 0)
		return 0;
	qsort(distance, n, sizeof(*distance), ascending);
	if (n >= FEW)
	{
		size_t		at = n / 4;

		while (at < 3 * n / 4 && distance[at + n / STEPS] <= GAP * distance[at])
			at += n / STEPS;
		return at < 3 * n / 4 ? distance[n / 4] / LOWER_QUARTILE : distance[at] / UPPER_QUARTILE;
	}
	for (size_t i = 0; i < n; i++)
		squares += distance[i] * distance[i];
	return sqrt(squares / (double) n);
}

/*
 * The values that an element takes, in order, and how many there are. Those that it takes again for
 * another input, as of a mask, are none where it has two others, and an element that has one other
 * tells nothing. Zeros, which a rectifier makes, count as often as they come.
 */
static size_t
values_of(const Picked *p, size_t i, double *value)
{
	double		sorted[OUTPUTS] = {0};
	size_t		n = 0;
	size_t		values = 0;
	size_t		zeros = 0;
	size_t		unique = 0;

	for (uint32_t k = 0; k < p->n; k++)
		if (!isnan(p->value[k * p->count + i]))
			sorted[n++] = p->value[k * p->count + i];
	qsort(sorted, n, sizeof(*sorted), ascending);
	for (size_t k = 0; k < n; k++)
	{
		bool		again = (k > 0 && sorted[k] == sorted[k - 1])
			|| (k + 1 < n && sorted[k] == sorted[k + 1]);

		if (sorted[k] == 0 || !again)
			value[values++] = sorted[k];
		zeros += sorted[k] == 0;
	}
	if (values > zeros)
		return values > 1 || p->n < 2 ? values : 0;
	/* All are taken again. */
	for (size_t k = 0; k < n; k++)
		if (k == 0 || sorted[k] == 0 || sorted[k] != sorted[k - 1])
			value[unique++] = sorted[k];
	return unique;
}

static bool
pick(Measure *m, Picked *p, const char *outputs)
{
	for (uint32_t k = 0; k < p->n; k++)
		if (!m->backend->arrays->pick(m, outputs + k * m->output_bytes, p->tensor, p->count,
							  p->value + k * p->count))
			return false;
	for (size_t i = 0; i < p->count; i++)
	{
		double		value[OUTPUTS] = {0};
		size_t		n = values_of(p, i, value);
		double		median = p->n < 2 || n == 0 ? 0 : value[(n - 1) / 2];

		for (size_t k = 0; k < n; k++)
		{
			double		distance = fabs(value[k] - median);

			if (!isfinite(distance) || distance == 0)
				continue;
			p->distance[p->distances] = distance;
			p->element[p->distances++] = i;
		}
	}
	return true;
}

/* the elements of an index of an axis */
static size_t
elements_after(const Tensor *tensor, uint32_t axis)
{
	size_t		after = 1;

	for (uint32_t d = axis + 1; d < tensor->ndim; d++)
		after *= (size_t) tensor->shape[d];
	return after;
}

/* The groups of an axis: how many, and the distances of each in turn, up to its `ends` */
static size_t
find_groups(const Picked *p, uint32_t axis, size_t *ends, double *sorted)
{
	size_t		length = (size_t) p->tensor->shape[axis];
	size_t		after = elements_after(p->tensor, axis);
	size_t		groups = p->distances / GROUP;

	groups = groups < length ? groups : length;
	groups = groups < GROUPS_MOST ? groups : GROUPS_MOST;
	if (groups < 2)
		return 0;
	memset(ends, 0, (groups + 1) * sizeof(*ends));
	for (int pass = 0; pass < 2; pass++)
	{
		for (size_t i = 0; i < p->distances; i++)
		{
			uint64_t	at = tolerance_pick(p->tensor->elements, p->count, p->element[i]);
			size_t		group = at / after % length * groups / length;

			if (pass == 0)
				ends[group + 1]++;
			else
				sorted[ends[group]++] = p->distance[i];
		}
		for (size_t g = 0; g < groups && pass == 0; g++)
			ends[g + 1] += ends[g];
	}
	return groups;
}

/*
 * By how much groups differ in scale, as a logarithm; 0 where they do not. Means of logarithms tell
 * it, because a quartile is another where a group has a few more of the small elements by chance.
 */
static double
spread_of(const double *sorted, const size_t *ends, size_t groups)
{
	double		sum = 0,
				squares = 0,
				least = INFINITY,
				most = -INFINITY;
	size_t		fewest = SIZE_MAX;
	size_t		all = ends[groups - 1];
	double		spread;

	for (size_t g = 0; g < groups; g++)
	{
		size_t		first = g > 0 ? ends[g - 1] : 0;
		double		group = 0;

		if (ends[g] - first < FEW)
			continue;
		for (size_t i = first; i < ends[g]; i++)
		{
			group += log(sorted[i]);
			squares += log(sorted[i]) * log(sorted[i]);
		}
		sum += group;
		group /= (double) (ends[g] - first);
		least = fmin(least, group);
		most = fmax(most, group);
		fewest = ends[g] - first < fewest ? ends[g] - first : fewest;
	}
	spread = most - least;
	squares = squares / (double) all - sum / (double) all * (sum / (double) all);
	return spread > log(GROUPS_DIFFER)
		&& spread > GROUPS_CHANCE * sqrt(squares / (double) fewest) ? spread : 0;
}

/* divides distances and multiplies the elements' factors by those of an axis's groups */
static void
apply_factors(Picked *p, uint32_t axis, double scale, size_t *ends, double *sorted, float *all)
{
	const Tensor *tensor = p->tensor;
	size_t		length = (size_t) tensor->shape[axis];
	size_t		after = elements_after(tensor, axis);
	size_t		groups = find_groups(p, axis, ends, sorted);
	float		factor[GROUPS_MOST] = {0};

	/* by now each group ends where it is said to, and begins where the one before ends */
	for (size_t g = 0; g < groups; g++)
	{
		size_t		first = g > 0 ? ends[g - 1] : 0;
		size_t		n = ends[g] - first;

		factor[g] = n < FEW ? 1 : (float) (scale_of(sorted + first, n) / scale);
	}
	for (size_t i = 0; i < tensor->elements; i++)
		all[i] *= factor[i / after % length * groups / length];
	for (size_t i = 0; i < p->distances; i++)
	{
		uint64_t	at = tolerance_pick(tensor->elements, p->count, p->element[i]);

		p->distance[i] /= factor[at / after % length * groups / length];
	}
}

/*
 * Gives each element its factor, if any axis has some. The axis that differs most comes first,
 * because it makes others seem to differ. False after conclude()
 */
static bool
make_factors(Measure *m, Picked *p, Tolerance *t)
{
	const Tensor *tensor = p->tensor;
	size_t		ends[GROUPS_MOST + 1];
	double	   *sorted = measure_zeroed(p->distances, sizeof(*sorted));
	float	   *all = NULL;
	bool		good = true;

	for (uint32_t n = 0; n < tensor->ndim && tensor->elements <= SCALES_MOST; n++)
	{
		uint32_t	axis = 0;
		double		most = 0;

		for (uint32_t d = 0; d < tensor->ndim; d++)
		{
			size_t		groups = find_groups(p, d, ends, sorted);
			double		spread = groups > 0 ? spread_of(sorted, ends, groups) : 0;

			axis = spread > most ? d : axis;
			most = fmax(most, spread);
		}
		if (most == 0)
			break;
		if (!all)
		{
			all = measure_zeroed(tensor->elements, sizeof(*all));
			for (size_t i = 0; i < tensor->elements; i++)
				all[i] = 1;
		}
		apply_factors(p, axis, t->scale, ends, sorted, all);
	}
	if (all)
	{
		size_t		bytes = tensor->elements * sizeof(*all);
		void	   *memory = measure_alloc(m, bytes);

		good = memory && m->backend->arrays->take(m, memory, all, bytes);
		t->scales = memory;
	}
	free(all);
	free(sorted);
	return good;
}

static double
base_of(const Picked *p, size_t i)
{
	return tensor_base(p->value, p->count * sizeof(double), p->n, WIRE_FLOAT64, i);
}

/* whether the bases make the tolerance of any element less than rtol and atol do */
static bool
needs_bases(const Picked *p, const Tolerance *t)
{
	for (size_t i = 0; i < p->count; i++)
	{
		double		base = base_of(p, i);

		for (uint32_t k = 0; k < p->n; k++)
		{
			double		y = p->value[k * p->count + i];

			if (isfinite(y)
				&& tolerance_of(t, y, t->scale, base) < tolerance_of(t, y, t->scale, 0))
				return true;
		}
	}
	return false;
}

/* The element type whose precision an output has: single has that of the half it is made of. */
static uint32_t
precision_of(const Measure *m, const Tensor *tensor)
{
	return tensor->dtype == WIRE_FLOAT32 && m->facts.half ? m->facts.half : tensor->dtype;
}

/*
 * What sums as long as the largest input lose: their errors grow with the root of their length.
 * Half precision is summed in float32. Never more than rtol.
 */
static double
lost_by_sums(const Measure *m, uint32_t dtype, double rtol)
{
	size_t		length = 1;
	double		epsilon = dtype == WIRE_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;

	for (int i = 0; i < m->inputs.n; i++)
		length = m->inputs.tensor[i].elements > length ? m->inputs.tensor[i].elements : length;
	return fmin(rtol, 2 * tensor_dtype(dtype)->epsilon + epsilon / 2 * sqrt((double) length));
}

/*
 * The typical size of an output's elements where most of those that change do so by little. One of
 * them that is nearly 0 is a sum of terms as large as the others' are, and loses as much.
 */
static double
typical_size(const Picked *p, double *size)
{
	size_t		n = 0;

	for (size_t i = 0; i < p->distances; i++)
	{
		double		base = base_of(p, p->element[i]);

		if (base != 0)
			size[n++] = fabs(base);
	}
	qsort(size, n, sizeof(*size), ascending);
	return 2 * n > p->distances ? size[n / 2] : 0;
}

static bool
learn_output(Measure *m, Picked *p, const char *outputs, Tolerance *t)
{
	if (!pick(m, p, outputs))
		return false;
	t->rounding = fmin(t->rtol, 2 * tensor_dtype(precision_of(m, p->tensor))->epsilon);
	t->sums = lost_by_sums(m, precision_of(m, p->tensor), t->rtol);
	t->lost = TOLERANCE_SHARE_MOST;
	if (p->distances > 0)
	{
		double	   *sorted = measure_zeroed(p->distances, sizeof(*sorted));

		memcpy(sorted, p->distance, p->distances * sizeof(*sorted));
		t->scale = scale_of(sorted, p->distances);
		t->size = typical_size(p, sorted) / t->scale;
		free(sorted);
		/* Sums lose so much of the signal that some of right code's lose more. */
		if (t->sums * t->size > t->share)
			t->misses = TOLERANCE_MANY;
		if (!make_factors(m, p, t))
			return false;
	}
	if (p->n < 2 || !needs_bases(p, t))
		return true;
	t->bases = measure_alloc(m, p->tensor->bytes);
	return t->bases
		&& m->backend->arrays->bases(m, outputs, p->n, p->tensor, (void *) (uintptr_t) t->bases);
}

bool
signal_learn(Measure *m, const char *outputs, uint32_t n)
{
	const Tolerance *given = &m->job->tolerance;
	const Dtype *dtype;
	bool		good = true;

	signal_forget(m);
	n = n < OUTPUTS ? n : OUTPUTS;
	for (int o = 0; o < m->outputs && good; outputs += measure_gathered(&m->output[o++]))
	{
		const Tensor *tensor = &m->output[o];
		Picked		p = {.tensor = tensor, .n = n,
		.count = tensor->elements < PICKS ? tensor->elements : PICKS};
		Tolerance  *t = &m->tolerance[o];

		*t = (Tolerance) {.widen = 1};
		if (!tensor_dtype_is_float(tensor->dtype) || p.count == 0)
			continue;
		dtype = tensor_dtype(precision_of(m, tensor));
		t->rtol = given->rtol >= 0 ? given->rtol : dtype->rtol;
		t->atol = given->atol >= 0 ? given->atol : dtype->atol;
		t->share = fmax(SHARE, fmax(t->rtol, t->atol));
		t->misses = TOLERANCE_MISSES;
		t->farthest = TOLERANCE_FARTHEST;
		p.value = measure_zeroed(p.count * n, sizeof(double));
		p.distance = measure_zeroed(p.count * n, sizeof(double));
		p.element = measure_zeroed(p.count * n, sizeof(size_t));
		good = learn_output(m, &p, outputs, t);
		free(p.value);
		free(p.distance);
		free(p.element);
	}
	return good;
}

bool
signal_of_change(Measure *m, int output, const void *ordinary, const void *changed, Tolerance *t)
{
	const Tensor *tensor = &m->output[output];
	Tensor		factors = {.dtype = WIRE_FLOAT32,.elements = tensor->elements};
	size_t		count = tensor->elements < PICKS ? tensor->elements : PICKS;
	double	   *value = measure_zeroed(3 * count, sizeof(*value));
	double	   *before = value + count;
	double	   *factor = before + count;
	size_t		n = 0;
	size_t		distances = 0;
	bool		good = m->backend->arrays->pick(m, ordinary, tensor, count, before)
		&& m->backend->arrays->pick(m, changed, tensor, count, value)
		&& (!t->scales || m->backend->arrays->pick(m, t->scales, &factors, count, factor));
	for (size_t i = 0; i < count && good; i++)
	{
		if (value[i] == before[i] || !isfinite(value[i]))
			continue;
		factor[n] = t->scales ? factor[i] : 1;
		value[n++] = value[i];
	}
	t->base = 0;
	if (n >= FEW && !t->scales)
	{
		memcpy(before, value, n * sizeof(*value));
		qsort(before, n, sizeof(*before), ascending);
		/* Values that are all the same are the signal. */
		if (before[0] < before[n - 1])
			t->base = before[n / 2];
	}
	for (size_t i = 0; i < n; i++)
		if (value[i] != t->base)
			value[distances++] = fabs(value[i] - t->base) / factor[i];
	t->scale = scale_of(value, distances);
	free(value);
	return good;
}

/* counts the elements that move by more than so many tolerances; false after conclude() */
static bool
count_movers(Measure *m, int output, const void *expected, const void *moved, Tolerance t,
			 double times, size_t *n)
{
	Comparison	c = {0};
	bool		good;

	t.widen *= times;
	t.share *= times;
	t.rounding *= times;
	t.sums *= times;
	t.lost *= times;
	good = m->backend->arrays->compare(m, expected, moved, output, &t, &c);
	*n = c.mismatches;
	return good;
}

bool
signal_moves(Measure *m, int output, const void *expected, const void *moved, const Tolerance *t,
			 Moves *moves)
{
	size_t		few = (size_t) (TOLERANCE_MANY * (double) m->output[output].elements);
	Comparison *all = &moves->all;

	if (!m->backend->arrays->compare(m, expected, moved, output, t, all))
		return false;
	moves->usual = all->error;
	moves->farther = tensor_dtype_is_float(m->output[output].dtype) ? 0 : all->mismatches;
	if (moves->farther == 0 && all->error > 1.0 / TOLERANCE_MOVES)
	{
		moves->usual = 0.5 / TOLERANCE_MOVES;
		do
		{
			moves->usual *= 2;
			if (!count_movers(m, output, expected, moved, *t, moves->usual, &moves->farther))
				return false;
		} while (moves->farther > few && moves->usual < TOLERANCE_WIDEST);
		moves->usual = fmin(moves->usual, all->error);
	}
	return true;
}

void
signal_forget(Measure *m)
{
	for (int o = 0; o < WIRE_MAX_TENSORS; o++)
	{
		measure_free(m, (void *) (uintptr_t) m->tolerance[o].scales);
		measure_free(m, (void *) (uintptr_t) m->tolerance[o].bases);
		m->tolerance[o].scales = NULL;
		m->tolerance[o].bases = NULL;
	}
}
