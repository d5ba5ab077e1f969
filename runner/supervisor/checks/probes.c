/*
 * probes.c
 *		Inputs that a task's generator rarely makes, on which candidates must be right, too.
 *
 * Code may leave work out that its task's inputs do not need: uniform numbers make a product of
 * matrices nearly one of their sums, and a softmax without its maximum overflows for none of them.
 * So both sides also run inputs of the same shapes that are changed: their mean is another, they
 * are larger, a few elements are, or are 0, all rows are the same. Large numbers that are held
 * from the second step on keep the gates of a recurrent network as they are, so that its last state
 * is that of its first step. Inputs that are a little smaller can't be told from ordinary ones by
 * looking at some of them, and are not what a constant stands for. Runs on probes do not count.
 *
 * A probe counts where the reference gives finite numbers. It tells work that was left out, not
 * rounding: an output may be off by the share of the signal that no output may exceed. It may be
 * off by more where the reference moves by more when its inputs have the precision of TF32 or
 * bfloat16.
 */
#include "supervisor/checks/checks.h"

#define PICKS			4096	/* elements of an input that tell what it is like */
#define OFF_CENTRE		0.25	/* standard deviations that a mean is off 0, to become 0 */
#define SCALE			128.0	/* exp() of what was near 1 overflows; not of half precision */
#define SCALE_LESS		8.0		/* where the reference overflows, too */
#define OUTLIERS		8
#define OUTLIER_LEAST	64.0	/* times as large as the element was */
#define OUTLIER_SHARE	8		/* one of this share of the elements has the sum of all */
#define LARGEST			0x1p14	/* half precision holds these, and some of their sums */
#define HALF_LARGEST	96.0	/* half precision holds products of these; exp() overflows */
#define HALF_MOST		65504.0	/* the largest float16 */
#define HALF_TAIL		8		/* deviations, which no output of billions is off by */
#define HALF_ROUNDING	0x1p-10	/* two units of float16, to which code may have rounded results */
#define HALF_RTOL		0x1p-7	/* two units of bfloat16: a tolerance that half precision keeps */
#define FEW_UNITS		8		/* in the last place, by which rounding moves a constant number */
#define SPARSE			0.01	/* share of the elements from which on zeros mean something */
#define MOVES_MOST		20.0	/* the whole signal: what moves farther must only be finite */
#define LEAST_SCALE		0x1p-100	/* above what a clamped exponential leaves in place of 0 */
#define WINDOW_MISSES	0.1		/* of the elements, in a window's probe */
#define MISSED_LEAST	2		/* probes in windows that code was wrong on, */
#define MISSED_SHARE	8		/* and one in so many: right code meets a step now and then */
#define SLOW_RUN		0.2		/* seconds */
#define SLOW_PROBES		3		/* probes, if a run takes SLOW_RUN or longer */
#define OTHERS			(PROBE_INPUTS - PROBE_OUTLIERS)	/* kinds after the first two */

static const char *const words[PROBE_INPUTS] = {
	"inputs whose mean is another",
	"inputs that are many times as large",
	"inputs of which a few elements are large",
	"inputs of which some elements are 0",
	"inputs whose rows are all the same",
	"large inputs that are held from the second step on",
	"large inputs that are held from the second step of another axis on",
	"inputs that are a little smaller"
};

/* Features of an input. */
typedef struct Like
{
	double		mean;			/* of the elements that are not 0 */
	double		deviation;
	double		largest;
	bool		plain;			/* numbers of many values, which stand for no integers */
	bool		ones;			/* one value (integers: 1), as of a mask that leaves out nothing */
	bool		sparse;
} Like;

static bool
look(Measure *m, Arena *arena, uint32_t slot, int input, Like *like)
{
	const Tensor *tensor = &m->inputs.tensor[input];
	size_t		count = tensor->elements < PICKS ? tensor->elements : PICKS;
	double		value[PICKS];
	double		other[2] = {NAN, NAN};
	size_t		zeros = 0,
				integers = 0;
	double		squares = 0;

	*like = (Like) {0};
	if (!m->backend->arrays->pick(m, m->backend->arrays->input(m, arena, slot, input), tensor,
								  count, value))
		return false;
	for (size_t i = 0; i < count; i++)
	{
		double		x = value[i];

		zeros += x == 0;
		integers += x == trunc(x);
		like->mean += x;
		squares += x * x;
		like->largest = fmax(like->largest, fabs(x));
		if (isnan(other[0]))
			other[0] = x;
		else if (x != other[0] && isnan(other[1]))
			other[1] = x;
		like->plain = like->plain || (x != other[0] && x != other[1]);
	}
	like->plain = like->plain && integers < count && isfinite(squares);
	like->ones = zeros == 0 && isnan(other[1]) && count > OUTLIERS
		&& (tensor_dtype_is_float(tensor->dtype) || other[0] == 1);
	like->sparse = (double) zeros > SPARSE * (double) count;
	if (zeros < count)
	{
		like->mean /= (double) (count - zeros);
		squares /= (double) (count - zeros);
		like->deviation = sqrt(fmax(squares - like->mean * like->mean, 0));
	}
	return true;
}

/* matrices that may be symmetric or triangular */
static bool
is_square(const Tensor *t)
{
	return t->ndim >= 2 && t->shape[t->ndim - 1] == t->shape[t->ndim - 2];
}

/* whether the task's own tolerance lets code compute with half precision */
static bool
admits_half(const Measure *m)
{
	return m->job->tolerance.rtol >= HALF_RTOL;
}

static bool
is_half(uint32_t dtype)
{
	return tensor_dtype(dtype)->size <= 2;
}

static void
draw_outliers(Measure *m, const Tensor *t, const Like *like, Change *change)
{
	uint64_t	side = is_square(t) ? (uint64_t) t->shape[t->ndim - 1] : 1;
	double		large = (double) t->elements / OUTLIER_SHARE;
	/* bfloat16 holds products of larger ones */
	double		largest = t->dtype == WIRE_FLOAT16 || admits_half(m) ? HALF_LARGEST : LARGEST;

	change->large = fmin(fmax(large, OUTLIER_LEAST), fmax(largest / like->largest, 2));
	for (int k = 0; k < OUTLIERS && (size_t) k < t->elements / OUTLIER_SHARE + 1; k++)
	{
		uint64_t	at = random_below(&m->random, t->elements);

		change->outlier[change->outliers++] = at;
		/* Change the element across the diagonal, too. */
		if (side > 1)
			change->outlier[change->outliers++] = at - at % (side * side) + at % side * side
				+ at / side % side;
	}
}

/* half of the precision that code may compute with: of TF32, or of bfloat16 */
static double
coarse(const Measure *m, uint32_t dtype)
{
	return dtype == WIRE_FLOAT64 ? 0x1p-20
		: fmax(0x1p-11, tensor_dtype(admits_half(m) ? WIRE_BFLOAT16 : dtype)->epsilon / 2);
}

uint32_t
probes_steps(const Tensor *t)
{
	uint32_t	longest = 0;

	for (uint32_t d = 1; d + 1 < t->ndim; d++)
		if (t->shape[d] > t->shape[longest])
			longest = d;
	return longest;
}

void
probes_repeat(const Tensor *t, uint32_t axis, uint64_t index, Change *change)
{
	if (t->ndim == 0)
		return;
	change->after = 1;
	for (uint32_t d = axis + 1; d < t->ndim; d++)
		change->after *= (uint64_t) t->shape[d];
	change->length = (uint64_t) t->shape[axis];
	change->repeated = index;
}

/* The change of an input by a probe; false: the input stays as it is. */
static bool
change_for(Measure *m, ProbeKind kind, double scale, const Tensor *t, const Like *like,
		   Change *change)
{
	uint32_t	axis;

	*change = (Change) {.factor = 1};
	if (kind >= PROBES)
	{
		change->nudge = kind == PROBE_ROUNDED ? scale * tensor_dtype(t->dtype)->epsilon
			: coarse(m, t->dtype);
		/* Rows that are all the same become others, as rounding makes distances between them. */
		change->apart = kind == PROBE_ROUNDED_COARSELY;
		return tensor_dtype_is_float(t->dtype) && (kind != PROBE_ROUNDED || !is_half(t->dtype));
	}
	if (!like->plain && !(like->ones && kind == PROBE_ZEROS))
		return false;
	switch (kind)
	{
		case PROBE_CENTRE:
			change->shift = fabs(like->mean) > OFF_CENTRE * like->deviation ? like->mean
				: -like->deviation;
			return true;
		case PROBE_SCALE:
			/* rounding of half precision decides what large differences become, as of a softmax */
			change->factor = admits_half(m) ? HALF_LARGEST / like->largest : scale;
			return !is_half(t->dtype) && change->factor > 1;
		case PROBE_OUTLIERS:
			draw_outliers(m, t, like, change);
			/* Where none may be so large, the others become small. */
			change->factor = fmin(change->large / OUTLIER_LEAST, 1);
			change->large = fmax(change->large, OUTLIER_LEAST);
			return true;
		case PROBE_ZEROS:
			change->halved = like->ones;
			if (!like->ones)
				draw_outliers(m, t, like, change);
			change->large = 0;
			return true;
		case PROBE_ROWS:
			probes_repeat(t, 0, 0, change);
			return t->ndim >= 2 && t->shape[0] > 1 && !is_square(t) && !like->sparse;
		case PROBE_HELD:
		case PROBE_HELD_ACROSS:
			change->factor = scale;
			axis = probes_steps(t); /* the longest; across it, the first of the others */
			probes_repeat(t, kind == PROBE_HELD ? axis : axis == 0 ? 1 : 0, 1, change);
			return t->ndim >= (kind == PROBE_HELD ? 2 : 3) && change->length > 2 && !is_square(t)
				&& !like->sparse && !is_half(t->dtype);
		case PROBE_NEAR:
			change->factor = 1 - 1.0 / (double) (8 << random_below(&m->random, 4));
			return true;
		default:
			return false;
	}
}

bool
probes_make(Measure *m, Arena *arena, ProbeKind kind, double scale, uint32_t from, uint32_t to,
			bool *changed)
{
	*changed = false;
	if (!m->backend->arrays->copy(m, arena, from, to))
		return false;
	for (int i = 0; i < m->inputs.n; i++)
	{
		const Tensor *t = &m->inputs.tensor[i];
		Change		change;
		Like		like;

		if (t->elements == 0)
			continue;
		if (!look(m, arena, from, i, &like))
			return false;
		/* Half precision does not hold sums of products of two that are large. */
		if ((kind == PROBE_SCALE && admits_half(m) && *changed)
			|| !change_for(m, kind, scale, t, &like, &change))
			continue;
		*changed = true;
		if (!m->backend->arrays->change(m, arena, from, to, i, &change))
			return false;
	}
	return true;
}

/*
 * Whether an output is a single number, as a loss is, which code could guess. Half precision is
 * left out, since its own errors are as large as what changes.
 */
static bool
is_number(const Measure *m, int output)
{
	const Tensor *t = &m->output[output];

	return t->elements == 1 && tensor_dtype_is_float(t->dtype) && !is_half(t->dtype)
		&& !m->facts.half;
}

/*
 * The signal of a single number is how far it lies from that of another input, which is changed
 * likewise. A number that is the same for both, but for rounding, is its own signal.
 */
static void
learn_number(Measure *m, int output, const char *expected, const char *other, Tolerance *t)
{
	const Tensor *tensor = &m->output[output];
	double		y = m->backend->arrays->element(m, expected, tensor->dtype, 0);
	double		z = m->backend->arrays->element(m, other, tensor->dtype, 0);

	if (fabs(y - z) <= FEW_UNITS * tensor_dtype(tensor->dtype)->epsilon * fmax(fabs(y), fabs(z))
		|| !isfinite(y) || !isfinite(z))
		return;
	t->scale = fabs(y - z);
	t->base = tolerance_base(fmin(y, z), fmax(y, z));
}

/* The tolerance: the share of the signal, whose base is that of elements that have changed. */
static bool
learn_tolerance(Checks *c, Probe *probe, const char *expected, int output, size_t at)
{
	Measure    *m = c->m;
	Tolerance  *t = &probe->tolerance[output];

	*t = m->tolerance[output];
	if (probe->kind == PROBE_NEAR || !tensor_dtype_is_float(m->output[output].dtype)
		|| m->output[output].elements == 0)
		return true;
	t->bases = NULL;
	t->size = 0;
	t->atol = INFINITY;
	if (admits_half(m))
		t->rounding = fmax(t->rounding, HALF_ROUNDING);
	if (!signal_of_change(m, output, c->expected + at, expected + at, t))
		return false;
	if (is_number(m, output) && c->n > 1)
		learn_number(m, output, expected + at, c->found + m->output_bytes + at, t);
	if (m->output[output].dtype != WIRE_FLOAT64)
		t->scale = fmax(t->scale, LEAST_SCALE);
	return true;
}

/* whether half precision, which code may use, holds ordinary outputs by far, but not these */
static bool
is_beyond_half(const Measure *m, const Tolerance *ordinary, const Tolerance *t)
{
	return admits_half(m) && fabs(t->base) + HALF_TAIL * t->scale > HALF_MOST
		&& ordinary->scale * fmax(ordinary->size, 1) < HALF_MOST / HALF_TAIL;
}

/* whether outputs are finite, as far as ordinary ones are, and how far they move */
static bool
judge_probe(Checks *c, Probe *probe, const char *expected, const char *moved, bool *counts)
{
	Measure    *m = c->m;

	*counts = true;
	for (int o = 0; o < m->outputs && *counts; o++)
	{
		Tolerance  *t = &probe->tolerance[o];
		size_t		at = m->output[o].gathered;
		Comparison	ordinary;
		Moves		moves;

		if (!learn_tolerance(c, probe, expected, o, at)
			|| !m->backend->arrays->compare(m, c->expected + at, expected + at, o, t, &ordinary)
			|| !signal_moves(m, o, expected + at, moved + at, t, &moves))
			return false;
		probe->infinite += ordinary.infinite;
		m->facts.depends |= ordinary.mismatches > 0 && probe->kind != PROBE_NEAR;
		/* elements that are equal have no order, of which an index would tell */
		if (!tensor_dtype_is_float(m->output[o].dtype))
		{
			*counts = moves.farther == 0 && probe->kind != PROBE_ROWS
				&& probe->kind != PROBE_HELD && probe->kind != PROBE_HELD_ACROSS;
			/* Others become equal beside large ones, so the floating-point outputs alone tell. */
			if (probe->kind == PROBE_SCALE || probe->kind == PROBE_OUTLIERS)
				t->misses = 1;
		}
		else if (moves.all.infinite > ordinary.infinite || !isfinite(moves.all.error)
				 || is_beyond_half(m, &m->tolerance[o], t))
			*counts = false;
		else if (probe->kind == PROBE_NEAR)
		{
			double		widest = fmin(TOLERANCE_MOVES * moves.usual, TOLERANCE_WIDEST);

			/* Steps that ordinary inputs come near to, though the first one has not. */
			tolerance_steps(t, moves.all.error > widest, m->output[o].elements, moves.all.error);
			m->tolerance[o] = *t;
		}
		else
		{
			t->share = moves.usual * TOLERANCE_MOVES > MOVES_MOST ? INFINITY
				: t->share * fmax(1, TOLERANCE_MOVES * moves.usual);
			tolerance_steps(t, moves.farther, m->output[o].elements, moves.all.error);
		}
	}
	return true;
}

bool
probes_run(Checks *c, uint32_t slot, uint64_t seed, char *out, bool *ran)
{
	Measure    *m = c->m;

	*ran = checks_run_slot(m, &c->reference, &c->arena, slot, seed, out);
	if (*ran || executor_cancelled || m->result->outcome == OUTCOME_LOST)
		return *ran;
	m->result->outcome = OUTCOME_NONE;
	m->result->detail[0] = '\0';
	json_object_del(m->result->evidence, "detector");
	measure_end(m, &c->reference);
	return measure_launch(m, &c->reference, SIDE_REFERENCE, 0, &c->arena)
		&& checks_run_slot(m, &c->reference, &c->arena, 0, c->seeds[0], c->found);
}

/*
 * Runs the reference on another input, changed likewise, where a number's signal needs it. Inputs
 * that are near to ordinary ones have the tolerance of these.
 */
static bool
run_another(Checks *c, const Probe *probe, bool *ran)
{
	Measure    *m = c->m;
	bool		needed = false;
	bool		changed;

	for (int o = 0; o < m->outputs && c->n > 1 && probe->kind != PROBE_NEAR; o++)
		needed = needed || is_number(m, o);
	return !needed
		|| (probes_make(m, &c->arena, probe->kind, probe->scale,
						(uint32_t) (probe->kind + 1) % c->n, c->slots, &changed)
			&& probes_run(c, c->slots, c->seeds[0], c->found + m->output_bytes, ran));
}

static uint32_t
slot_of(const Checks *c, int probe)
{
	return c->slots + 1 + (uint32_t) probe;
}

static bool
learn_probe(Checks *c, ProbeKind kind, double scale)
{
	Measure    *m = c->m;
	int			i = m->facts.probes;
	Probe	   *probe = &m->facts.probe[i];
	uint32_t	slot = slot_of(c, i);
	bool		changed;
	bool		counts;
	bool		good;

	if (!probes_make(m, &c->arena, kind, scale, (uint32_t) kind % c->n, slot, &counts))
		return false;
	if (!counts)
		return true;
	*probe = (Probe) {.kind = kind,.scale = scale};
	if (!c->probed[i])
		c->probed[i] = measure_alloc(m, m->output_bytes);
	if (!c->probed[i])
		return false;
	/* The process may have kept something, so outputs that move little are right. */
	if (!probes_run(c, slot, c->seeds[0], c->probed[i], &counts)
		|| (counts && !run_another(c, probe, &counts)))
		return false;
	m->trial.changes = c->wider && m->facts.half ? TRIAL_WIDER : 0;
	good = !counts || (probes_make(m, &c->arena, PROBE_ROUNDED_COARSELY, 1, slot, c->slots,
								   &changed)
					   && probes_run(c, c->slots, c->seeds[0], c->found, &counts));
	m->trial.changes = 0;
	if (!good || (counts && !judge_probe(c, probe, c->probed[i], c->found, &counts)))
		return false;
	m->facts.probes += counts;
	return true;
}

bool
probes_learn(Checks *c)
{
	Measure    *m = c->m;
	json_t	   *kinds = json_array();
	bool		slow = m->member->time[SIDE_REFERENCE] >= SLOW_RUN;
	int			most = slow ? SLOW_PROBES : PROBE_INPUTS;
	uint64_t	lot = slow ? random_below(&m->random, OTHERS) : 0;
	bool		good = true;

	for (int k = 0; k < PROBE_INPUTS && good; k++)
	{
		ProbeKind	kind = k < PROBE_OUTLIERS ? k
			: PROBE_OUTLIERS + (k - PROBE_OUTLIERS + lot) % OTHERS;
		int			before = m->facts.probes;

		if (slot_of(c, before) >= c->slots + c->spare || before >= most
			|| (m->job->no_probes & 1u << kind))
			continue;
		good = learn_probe(c, kind, admits_half(m) ? SCALE_LESS : SCALE);
		if (good && kind == PROBE_SCALE && m->facts.probes == before && !admits_half(m))
			good = learn_probe(c, kind, SCALE_LESS);
	}
	for (int i = 0; i < m->facts.probes; i++)
		json_array_append_new(kinds, json_string(probe_names[m->facts.probe[i].kind]));
	if (m->facts.moves_parameters)
		json_array_append_new(kinds, json_string(probe_names[PROBE_PARAMETERS]));
	json_object_set_new(m->result->evidence, "probes", kinds);
	return good;
}

/* whether the outputs of a window's probe are wrong in few elements, as few others' are */
static bool
may_miss(Measure *m, const Probe *probe, const char *expected, const char *found, bool *may)
{
	Tolerance	tolerance[WIRE_MAX_TENSORS];
	Agreement	a;

	memcpy(tolerance, probe->tolerance, sizeof(tolerance));
	for (int o = 0; o < m->outputs; o++)
	{
		tolerance[o].misses = fmax(tolerance[o].misses, WINDOW_MISSES);
		tolerance[o].farthest = INFINITY;
	}
	if (!measure_agree(m, expected, found, tolerance, &a))
		return false;
	m->member->missed++;
	*may = a.wrong < 0 && (m->member->missed < MISSED_LEAST
						   || m->member->missed * MISSED_SHARE < m->member->probed);
	return true;
}

bool
probes_compare(Measure *m, const Probe *probe, const char *expected, const char *found,
			   bool in_window)
{
	Agreement	a;
	bool		may = false;

	m->member->probed += in_window;
	if (!measure_agree(m, expected, found, probe->tolerance, &a))
		return false;
	/* The reference may overflow for some inputs that are changed so. */
	if (a.wrong < 0 || (in_window && a.infinite > probe->infinite))
		return true;
	if (in_window && !may_miss(m, probe, expected, found, &may))
		return false;
	if (may)
		return true;
	json_object_set_new(m->result->evidence, "cause", json_string("probe"));
	json_object_set_new(m->result->evidence, "probe", json_string(probe_names[probe->kind]));
	return measure_blame(m, &a, SIDE_CANDIDATE, words[probe->kind]);
}

bool
probes_check(Checks *c)
{
	Measure    *m = c->m;

	for (int i = 0; i < m->facts.probes; i++)
	{
		if (!checks_run_slot(m, &c->candidate, &c->arena, slot_of(c, i), c->seeds[0], c->found)
			|| !probes_compare(m, &m->facts.probe[i], c->probed[i], c->found, false))
			return false;
		m->result->checks++;
	}
	return true;
}
