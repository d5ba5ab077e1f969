/*
 * tensor.c
 *		What may be said of an array's size: nothing whose sums could overflow.
 */
#include "../../runner/common/tensor.c"

#include "tap.h"

static bool
finishes(uint32_t dtype, uint32_t ndim, int64_t a, int64_t b, int64_t c, size_t bytes)
{
	Tensor		t = {.dtype = dtype,.ndim = ndim,.shape = {a, b, c},.bytes = 1};

	return tensor_finish(&t) && t.bytes == bytes;
}

/* of a view of a x b elements; 0: none */
static uint64_t
span(int64_t a, int64_t b, int64_t stride_a, int64_t stride_b)
{
	Tensor		t = {.dtype = WIRE_UINT8,.ndim = 2,.shape = {a, b}};
	uint64_t	elements;

	return tensor_finish(&t) && tensor_span(&t, (int64_t[]) {stride_a, stride_b}, &elements)
		? elements : 0;
}

/* the largest error that passes for the first of `n` elements of this value, others being right */
static double
allowed(uint32_t dtype, double value, int n, Tolerance tolerance)
{
	double		low = 0,
				high = 4;

	for (int step = 0; step < 40; step++)
	{
		double		error = (low + high) / 2;
		double		d[2][100];
		float		f[2][100];
		Comparison	c;

		for (int i = 0; i < n; i++)
		{
			d[0][i] = value;
			d[1][i] = value + (i == 0 ? error : 0);
			f[0][i] = (float) d[0][i];
			f[1][i] = (float) d[1][i];
		}
		tensor_compare(dtype == WIRE_FLOAT32 ? (void *) f[0] : d[0],
					   dtype == WIRE_FLOAT32 ? (void *) f[1] : d[1], dtype, (size_t) n, &tolerance,
					   &c);
		*(c.equal ? &low : &high) = error;
	}
	return high;
}

/* of either type: within a hundredth of it, as the errors of numbers near 1 are themselves */
static bool
allows(double value, double error, Tolerance tolerance)
{
	return fabs(allowed(WIRE_FLOAT64, value, 100, tolerance) - error) <= 0.01 * error
		&& fabs(allowed(WIRE_FLOAT32, value, 100, tolerance) - error) <= 0.01 * error;
}

#define MANY	500000

/* whether `n` of many elements may be so many tolerances off */
static bool
excuses(int n, float off)
{
	static float expected[MANY],
				found[MANY];
	Tolerance	tolerance = {.atol = 1,.scale = 1,.share = 1,.widen = 1,
	.misses = TOLERANCE_MISSES,.farthest = TOLERANCE_FARTHEST};
	Comparison	c;

	memset(found, 0, sizeof(found));
	for (int i = 0; i < n; i++)
		found[(i * 7919 + 4095) % MANY] = off;
	tensor_compare(expected, found, WIRE_FLOAT32, MANY, &tolerance, &c);
	return c.equal && c.mismatches == (size_t) n;
}

/* the bases of the first and the second elements of arrays of two */
static bool
bases(const float *arrays, uint32_t n, float first, float second)
{
	return tensor_base(arrays, 2 * sizeof(float), n, WIRE_FLOAT32, 0) == first
		&& tensor_base(arrays, 2 * sizeof(float), n, WIRE_FLOAT32, 1) == second;
}

/* whether each float16 is the number that the compiler takes it for */
static bool
halves(void)
{
	bool		good = true;

	for (uint32_t bits = 0; bits < 65536; bits++)
	{
		uint16_t	half = (uint16_t) bits;
		_Float16	value;

		memcpy(&value, &half, sizeof(value));
		good = good && (isnan((double) value) ? isnan(tensor_load(&half, WIRE_FLOAT16, 0))
						: tensor_load(&half, WIRE_FLOAT16, 0) == (double) value);
	}
	return good;
}

/* four elements in two rows, changed */
static bool
changes(Change change, double a, double b, double c, double d)
{
	const float from[4] = {1, 0, 3, 2.5f};
	float		to[4];

	tensor_change(from, to, WIRE_FLOAT32, 4, &change);
	return to[0] == (float) a && to[1] == (float) b && to[2] == (float) c && to[3] == (float) d;
}

/* two rows of three elements along the last axis or, `after` them, the first, thinned */
static bool
thins(uint64_t after, bool sample, const float *expected)
{
	const float from[6] = {1, 2, 6, -4, 0, 7};
	Thinning	thin = {.rows = after > 1 ? 3 : 2,.length = after > 1 ? 2 : 3,.after = after,
	.dtype = WIRE_FLOAT32,.sample = sample};
	float		to[6];

	for (uint64_t row = 0; row < thin.rows; row++)
		tensor_thin(from, to, &thin, row);
	return memcmp(to, expected, sizeof(to)) == 0;
}

/* whether half of many numbers, equal ones apart, are nudged, by a unit in the last place to 0 */
static bool
nudges(bool apart)
{
	static double from[1000],
				to[1000];
	int			nudged = 0;

	for (int i = 0; i < 1000; i++)
		from[i] = apart ? 1.5 : 1 + i / 1000.0;
	tensor_change(from, to, WIRE_FLOAT64, 1000,
				  &(Change) {.factor = 1,.nudge = 0x1p-52,.apart = apart});
	for (int i = 0; i < 1000; i++)
		if (to[i] != from[i])
			nudged += to[i] == nextafter(from[i], 0)
				|| to[i] == nextafter(nextafter(from[i], 0), 0) ? 1 : 1000;
	return nudged > 400 && nudged < 600;
}

/* whether so many picks of n elements ascend and end in the last part */
static bool
picks(uint64_t n, uint64_t count)
{
	uint64_t	last = 0;

	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	at = tolerance_pick(n, count, i);

		if (at >= n || (i > 0 && at <= last))
			return false;
		last = at;
	}
	return last >= n - 2 * (n / count) - n % count;
}

/* two values that differ, in words */
static bool
says(uint32_t dtype, double one, double other, const char *text)
{
	char		value[2][TENSOR_VALUE_BYTES];
	char		both[2 * TENSOR_VALUE_BYTES + 2];

	tensor_describe_values(dtype, one, other, value);
	snprintf(both, sizeof(both), "%s, %s", value[0], value[1]);
	return strcmp(both, text) == 0;
}

int
main(void)
{
	Change		held = {.factor = 1,.after = 2,.length = 6,.repeated = 1};
	Change		late = {.factor = 1,.after = 2,.length = 6,.repeated = 3,.before = true};
	Tolerance	usual = {.rtol = 1e-2,.atol = 1e-3,.scale = 2,.share = 0.05,.widen = 1,
	.misses = TOLERANCE_MISSES,.farthest = TOLERANCE_FARTHEST};
	Tolerance	constant = usual;
	Tolerance	rounded = usual;
	Tolerance	wide = usual;
	Tolerance	steps = usual;
	Tolerance	moved = usual;
	Tolerance	few = usual;
	Tolerance	none = usual;
	float		factor[100] = {10};
	Tolerance	factors = usual;
	Comparison	c;

	constant.base = 100;
	rounded.rounding = 0.1;
	wide.widen = 3;
	tolerance_widen(&steps, 5, 1e-3);
	tolerance_widen(&moved, 5, 0.1);
	factors.scales = factor;
	check(steps.widen == 20 && steps.share == usual.share,
		  "where few elements move, no more of the signal may be off");
	check(moved.widen == 20 && moved.share == 0.5, "where many move, half of it may");
	tolerance_steps(&few, 8, 1000, 50);
	tolerance_steps(&none, 0, 1000, 50);
	check(few.misses == 0.016 && few.farthest == 200 && few.widen == 1,
		  "elements at a step may miss, and others be no farther off for that");
	check(none.misses == TOLERANCE_MISSES && none.farthest == TOLERANCE_FARTHEST,
		  "where there is no step, as few as ever");
	check(tensor_dtype(WIRE_INT64)->epsilon == 0 && tensor_dtype(WIRE_PY_INT)->epsilon == 0,
		  "integers and numbers of Python have no rounding");
	check(finishes(WIRE_FLOAT32, 2, 16, 1024, 0, 65536), "elements times their size");
	check(finishes(WIRE_FLOAT64, 0, 0, 0, 0, 8), "no dimension is one element");
	check(finishes(WIRE_FLOAT64, 3, 0, (int64_t) 1 << 62, (int64_t) 1 << 62, 0),
		  "none of however many are none");
	check(finishes(WIRE_UINT8, 1, (int64_t) 1 << 40, 0, 0, TENSOR_MAX_BYTES), "the largest");
	check(!finishes(WIRE_UINT8, 1, ((int64_t) 1 << 40) + 1, 0, 0, ((size_t) 1 << 40) + 1),
		  "one element more is too large");
	check(!finishes(WIRE_FLOAT64, 1, ((int64_t) 1 << 61) - (1 << 17), 0, 0, (size_t) 0 - (1 << 20)),
		  "so is what fits a size and overflows a sum");
	check(!finishes(WIRE_FLOAT64, 2, (int64_t) 1 << 31, (int64_t) 1 << 31, 0, 0),
		  "a product that overflows");
	check(!finishes(WIRE_FLOAT64, 2, (int64_t) 1 << 62, (int64_t) 1 << 62, 0, 0),
		  "one that overflows before the size");
	check(!finishes(WIRE_FLOAT64, 1, -1, 0, 0, 0), "a negative size");
	check(!finishes(0, 1, 1, 0, 0, 0) && !finishes(WIRE_PY_INT, 1, 1, 0, 0, 0), "no element type");
	check(!finishes(WIRE_UINT8, WIRE_MAX_DIMS + 1, 1, 1, 1, 1), "too many dimensions");
	check(span(3, 5, 5, 1) == 15 && span(3, 5, 1, 3) == 15,
		  "a view without gaps reaches as far as it has elements, whichever way it is turned");
	check(span(3, 5, 100, 1) == 205 && span(3, 5, 0, 0) == 1,
		  "farther with gaps, and not at all if all lie in one place");
	check(span(1, 1, INT64_MAX, INT64_MAX) == 1, "a stride that is never taken may be any");
	check(span(3, 5, -1, 1) == 0, "backwards is no view");
	check(span(2, 2, (int64_t) 1 << 41, 1) == 0, "nor is what reaches farther than memory");
	check(span((1 << 25) + 1, 1, (int64_t) 1 << 39, 1) == 0, "a product that overflows to none");
	check(span(3, 3, INT64_MAX, INT64_MAX) == 0, "nor does a sum overflow");
	check(allows(0, 2e-3, usual) && allows(1, 1.2e-2, usual),
		  "a tolerance is a share of the scale and of the element");
	check(allows(100, 0.1, constant) && allows(90, 0.6, constant),
		  "and at most a share of the scale and of what an element is off its base");
	check(allows(1, 0.1, rounded), "rounding is always tolerated");
	check(allows(1, 3.6e-2, wide),
		  "what moves by itself has a wider tolerance");
	check(allows(0, 2e-2, factors), "elements have scales of their own");
	check(excuses(50, 3) && !excuses(51, 3), "one of 10,000 elements may miss");
	check(!excuses(1, 5), "but not by more than four tolerances");
	tensor_compare((int64_t[2]) {1, 2}, (int64_t[2]) {1, 3}, WIRE_INT64, 2, &wide, &c);
	check(!c.equal && c.first == 1, "integers have no tolerance");
	tensor_compare((float[3]) {NAN, INFINITY, 1}, (float[3]) {NAN, INFINITY, 1}, WIRE_FLOAT32, 3,
				   &usual, &c);
	check(c.equal && c.infinite == 2, "NaN equals NaN, an infinity itself");
	tensor_compare((float[2]) {1, 1}, (float[2]) {NAN, 1}, WIRE_FLOAT32, 2, &usual, &c);
	check(!c.equal && isinf(c.error), "and no number");
	check(bases((float[]) {101, 7, 100, 7, 104, NAN}, 3, 98, 7)
		  && bases((float[]) {-101, -1e9f, -100, -1e9f}, 2, -101.5f, -1e9f),
		  "what hardly changes has a base below it, a constant itself");
	check(bases((float[]) {1, 100, 3, 80, 2, 90}, 3, 0, 0)
		  && bases((float[]) {INFINITY, NAN, 1, NAN}, 2, 0, 0), "what changes has none");
	check(picks(1000, 1000) && picks(1001, 1000) && picks(123456789, 16384) && picks(5, 5),
		  "picks come from all parts");
	check(halves(), "a float16 is read as the number that it stands for");
	check(changes((Change) {.factor = 1}, 1, 0, 3, 2.5)
		  && changes((Change) {.factor = 2,.shift = 1}, 0, 0, 4, 3),
		  "an input is shifted and scaled, but for its zeros");
	check(changes((Change) {.factor = 1,.outliers = 2,.outlier = {1, 3},.large = 10}, 1, 0, 3, 25),
		  "some elements are made large");
	check(changes((Change) {.factor = 1,.after = 2,.length = 2}, 1, 0, 1, 0),
		  "rows are made the same");
	check(change_source(&held, 3) == 3 && change_source(&held, 4) == 2
		  && change_source(&held, 11) == 3 && change_source(&held, 12) == 12
		  && change_source(&held, 15) == 15 && change_source(&held, 23) == 15,
		  "or all after the second");
	check(change_source(&late, 1) == 7 && change_source(&late, 4) == 6
		  && change_source(&late, 6) == 6 && change_source(&late, 11) == 11
		  && change_source(&late, 12) == 18, "or all before the fourth");
	check(changes((Change) {.factor = 1,.nudge = 0.25}, 1, 0, 3, 2.5)
		  || changes((Change) {.factor = 1,.nudge = 0.25}, 1, 0, 3, 1.875),
		  "numbers that stand for integers are not nudged");
	check(nudges(false) && nudges(true), "half of the others are");
	check(thins(1, false, (float[6]) {3, 3, 3, 1, 1, 1})
		  && thins(3, false, (float[6]) {-1.5f, 1, 6.5f, -1.5f, 1, 6.5f}),
		  "rows along an axis become their means");
	check(thins(1, true, (float[6]) {2, 0, 12, -8, 0, 14}),
		  "or every second element counts twice");
	check(says(WIRE_FLOAT32, 25.334190368, 25.05578041, "25.33419, 25.05578"),
		  "values with the digits of a float32");
	check(says(WIRE_FLOAT64, 0.123456789012, 0.123456789, "0.12345678901, 0.123456789"),
		  "with more where they are needed to tell them apart");
	check(says(WIRE_INT64, 469810812346, 469810812345, "469810812346, 469810812345")
		  && says(WIRE_BOOL, 1, 0, "1, 0"), "and integers whole");
	check(says(WIRE_FLOAT32, -NAN, -INFINITY, "nan, -inf"), "or what is no number");
	return done();
}
