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

/* the root mean square of two floats, as a comparison with two others tells it */
static double
rms(float a, float b, float other)
{
	Comparison	c;

	tensor_compare((float[]) {a, b}, (float[]) {other, other}, WIRE_FLOAT32, 2,
				   (Tolerance) {.rtol = -1,.atol = -1}, &c);
	return c.rms;
}

/*
 * The largest error that passes for the first of `n` elements that are expected to be `value`, the
 * others of which are found, where outputs have `elements` other than 0 (0: not known), and few of
 * them a root mean square of 1
 */
static double
allowed(uint32_t dtype, double value, int n, double elements)
{
	Tolerance	tolerance = {.rtol = 0,.atol = 1e-3,.elements = elements,
	.rms = elements > 0 && elements < 10};
	double		low = 0,
				high = 1;

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
					   dtype == WIRE_FLOAT32 ? (void *) f[1] : d[1], dtype, (size_t) n, tolerance,
					   &c);
		*(c.equal ? &low : &high) = error;
	}
	return high;
}

/* of either type: within a hundredth of it, as the errors of numbers near 1 are themselves */
static bool
allows(double value, int n, double elements, double error)
{
	return fabs(allowed(WIRE_FLOAT64, value, n, elements) - error) <= 0.01 * error
		&& fabs(allowed(WIRE_FLOAT32, value, n, elements) - error) <= 0.01 * error;
}

static double
scale(uint32_t dtype, const void *y, size_t n, double *count)
{
	double		squares = 0;

	*count = 0;
	tensor_scale(y, dtype, n, &squares, count);
	return squares;
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
	double		n;

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
	check(rms(3, -3, -3) == 3 && rms(3, -3, 0) == 3,
		  "a root mean square, whether what is compared is right or not");
	check(fabs(rms(1e-40f, -1e-40f, 0) / 1e-40 - 1) < 1e-3, "of numbers that are not normal");
	check(isnan(rms(INFINITY, 1, 0)) && isnan(rms(NAN, 1, 1)), "none of what is not finite");
	check(allows(1, 100, 0, 1e-3) && allowed(WIRE_FLOAT32, 0, 100, 0) < 1e-9,
		  "the tolerance is relative to the root mean square");
	check(allows(0, 100, 1, 1e-3 / sqrt(2)), "zeros have that of outputs for other inputs");
	check(allows(1e-4, 1, 1, 1e-3 / sqrt(2)), "one element, which may be small by luck, too");
	check(allows(1e-4, 100, 100, 1e-7), "many can't, and have their own");
	check(allows(1, 100, 25, 2e-3), "for as many as others have that are not 0");
	check(allows(1, 25, 100, 1e-3), "if not more are finite");
	check(scale(WIRE_FLOAT32, (float[]) {3, 0, -4, -0.0f}, 4, &n) == 25 && n == 2
		  && scale(WIRE_FLOAT64, (double[]) {3, 0, NAN, -4}, 4, &n) == 25 && n == 2
		  && scale(WIRE_FLOAT32, (float[]) {1e-30f, 0}, 2, &n) > 9e-61 && n == 1
		  && scale(WIRE_FLOAT32, (float[]) {3, INFINITY, 0, 1e30f}, 4, &n) > 9e59 && n == 2,
		  "what is not 0, and is finite, is what tolerances scale with");
	check(says(WIRE_FLOAT32, 25.334190368, 25.05578041, "25.33419, 25.05578"),
		  "values with the digits of a float32");
	check(says(WIRE_FLOAT64, 0.123456789012, 0.123456789, "0.12345678901, 0.123456789"),
		  "with more where they are needed to tell them apart");
	check(says(WIRE_INT64, 469810812346, 469810812345, "469810812346, 469810812345")
		  && says(WIRE_BOOL, 1, 0, "1, 0"), "and integers whole");
	check(says(WIRE_FLOAT32, -NAN, -INFINITY, "nan, -inf"), "or what is no number");
	return done();
}
