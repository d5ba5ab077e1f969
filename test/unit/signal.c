/*
 * signal.c
 *		What is taken for the signal of an output, and how far its elements may be off then.
 */
#define _GNU_SOURCE
#include "../../runner/common/tensor.c"
#include "../../runner/supervisor/checks/signal.c"
#include "../../runner/common/text.c"
#include "../../runner/supervisor/outcome.c"

#include "tap.h"

#define INPUTS	5
#define ROWS	96
#define COLUMNS	64
#define N		(ROWS * COLUMNS)

static float outputs[INPUTS][N];
static Job	job = {.tolerance = {.rtol = -1,.atol = -1}};
static Measure m;

void *
measure_alloc(Measure *measure, size_t bytes)
{
	return malloc(bytes);
}

void
measure_free(Measure *measure, void *memory)
{
	free(memory);
}

static bool
host_pick(Measure *measure, const void *array, const Tensor *tensor, size_t count, double *values)
{
	for (size_t i = 0; i < count; i++)
		values[i] = tensor_load(array, tensor->dtype, tolerance_pick(tensor->elements, count, i));
	return true;
}

static bool
host_bases(Measure *measure, const void *arrays, uint32_t n, const Tensor *tensor, void *bases)
{
	for (size_t i = 0; i < tensor->elements; i++)
		tensor_store(bases, tensor->dtype, i,
					 tensor_base(arrays, measure->output_bytes, n, tensor->dtype, i), 0);
	return true;
}

static bool
host_take(Measure *measure, void *memory, const void *from, size_t bytes)
{
	memcpy(memory, from, bytes);
	return true;
}

static const ArrayCalls arrays = {.pick = host_pick,.bases = host_bases,.take = host_take};
static const Backend backend = {.arrays = &arrays};

static double
normal(void)
{
	double		sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double) rand() / RAND_MAX;
	return sum;
}

typedef float Element(int input, int row, int column);

static float
scores(int input, int row, int column)
{
	return (float) normal();
}

static float
beside_mean(int input, int row, int column)
{
	return 2000 + (float) normal();
}

static float
masked(int input, int row, int column)
{
	return column > row ? -1e9f : (float) normal();
}

static float
masked_by_chance(int input, int row, int column)
{
	return rand() % 2 ? -3.4e38f : (float) normal();
}

static float
masked_mostly(int input, int row, int column)
{
	return rand() % 20 < 19 ? -1e9f : (float) normal();
}

static float
leaky(int input, int row, int column)
{
	double		value = normal();

	return (float) (value < 0 ? value / 100 : value);
}

static float
one_large(int input, int row, int column)
{
	return row + column == 0 ? 1e8f * (float) normal() : (float) normal();
}

static float
boxes(int input, int row, int column)
{
	return column < 8 ? 1000 * (float) normal() : (float) normal();
}

/* a fifth of the columns are tiny */
static float
boxes_and_tiny(int input, int row, int column)
{
	return (column * 5 / COLUMNS == 2 ? 1e-3f : 640) * (float) normal();
}

/* sums that hardly change, of which those of a column are nearly 0 */
static float
hardly_changing(int input, int row, int column)
{
	return (column == 9 ? 0 : 1) + 1e-6f * (float) normal();
}

static float
heavy(int input, int row, int column)
{
	return (float) exp(4 * normal());
}

/* magnitudes of any order */
static float
any_order(int input, int row, int column)
{
	return (float) exp(60 * ((double) rand() / RAND_MAX - 1));
}

/* a mask beside them */
static float
any_order_masked(int input, int row, int column)
{
	return column > row ? -1e9f : any_order(input, row, column);
}

/* of an element of the first output that was learnt */
static double
allowed(int row, int column)
{
	const Tolerance *t = &m.tolerance[0];
	int			i = row * COLUMNS + column;

	return tolerance_of(t, outputs[0][i], t->scale * (t->scales ? t->scales[i] : 1),
						t->bases ? ((const float *) t->bases)[i] : t->base);
}

/* learns outputs that are made so; the tolerance of an element of the first of them */
static double
tolerance(Element *element, int row, int column)
{
	srand(1);
	for (int k = 0; k < INPUTS; k++)
		for (int at = 0; at < N; at++)
			outputs[k][at] = element(k, at / COLUMNS, at % COLUMNS);
	return signal_learn(&m, (const char *) outputs, INPUTS) ? allowed(row, column) : NAN;
}

/* whether the elements up to the diagonal may be off by a thousandth of themselves */
static bool
are_relative(Element *element)
{
	if (!isfinite(tolerance(element, 0, 0)))
		return false;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column <= row && column < COLUMNS; column++)
			if (allowed(row, column) < 0.999e-3 * outputs[0][row * COLUMNS + column])
				return false;
	return true;
}

/* whether rows have one scale, which columns need not have */
static bool
rows_are_alike(Element *element)
{
	if (!isfinite(tolerance(element, 0, 0)) || !m.tolerance[0].scales)
		return false;
	for (int i = COLUMNS; i < N; i++)
		if (m.tolerance[0].scales[i] != m.tolerance[0].scales[i % COLUMNS])
			return false;
	return true;
}

/* of elements near 0, a ten thousandth of a standard deviation and a thousandth of themselves */
static bool
is_usual(double tolerance)
{
	return tolerance > 3e-5 && tolerance < 6e-3;
}

int
main(void)
{
	double		found;

	m.job = &job;
	m.backend = &backend;
	m.outputs = 1;
	m.output[0] = (Tensor) {.dtype = WIRE_FLOAT32,.ndim = 2,.shape = {ROWS, COLUMNS}};
	tensor_finish(&m.output[0]);
	m.output_bytes = sizeof(outputs[0]);
	m.inputs.n = 1;
	m.inputs.tensor[0] = m.output[0];

	check(is_usual(tolerance(scores, 7, 7)) && !m.tolerance[0].scales && !m.tolerance[0].bases,
		  "an output of one scale needs no more than that");
	found = tolerance(beside_mean, 7, 7);
	check(found > 0.03 && found < 0.3, "a mean is no signal");
	found = tolerance(hardly_changing, 7, 9);
	check(found > 2e-7 && found < 3e-6 && m.tolerance[0].misses == TOLERANCE_MANY,
		  "a sum that is nearly 0 may lose what others lose, up to half of the signal");
	found = tolerance(hardly_changing, 7, 7);
	check(found > 2e-7 && found < 3e-6, "and so may they");
	check(is_usual(tolerance(masked, 80, 7)) && m.tolerance[0].misses == TOLERANCE_MISSES,
		  "nor is a mask");
	check(is_usual(tolerance(masked_by_chance, 7, 7))
		  || is_usual(tolerance(masked_by_chance, 7, 9)),
		  "of places that change, either");
	tolerance(masked_mostly, 7, 7);
	check(m.tolerance[0].scale < 5, "or of nearly all places");
	check(signal_learn(&m, (const char *) outputs, 1) && m.tolerance[0].scale > 1e8,
		  "of a single input all is signal");
	tolerance(leaky, 7, 7);
	check(m.tolerance[0].scale > 0.5 && m.tolerance[0].scale < 1.5,
		  "the small half of a leaky rectifier's is no scale for the other");
	check(is_usual(tolerance(one_large, 0, 1)) && is_usual(tolerance(one_large, 1, 0)),
		  "nor is one large element");
	check(is_usual(tolerance(boxes, 7, 20)), "columns of another scale do not count");
	check(is_usual(tolerance(boxes, 7, 2) / 1000), "and have tolerances of their own");
	check(rows_are_alike(boxes_and_tiny), "whose rows do not differ, as few small elements as "
		  "they have by chance");
	found = tolerance(heavy, 7, 7);
	check(found >= 1e-3 * outputs[0][7 * COLUMNS + 7], "what is large by chance is signal");
	check(are_relative(any_order), "of numbers of any order each is its own signal");
	check(are_relative(any_order_masked) && m.tolerance[0].bases && allowed(0, 1) < 1e4,
		  "also beside a mask, which is none");
	signal_forget(&m);
	return done();
}
