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

/* whether `found` passes for both of two elements of 0, of others' root mean square */
static bool
passes(uint32_t dtype, double found, double others)
{
	Comparison	c;
	float		f[2] = {(float) found, (float) found};
	double		d[2] = {found, found};

	tensor_compare((double[]) {0, 0}, dtype == WIRE_FLOAT32 ? (void *) f : d, dtype, 2,
				   (Tolerance) {.rtol = 1e-3,.atol = 1e-3,.rms = others}, &c);
	return c.equal && c.rms == 0;
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
	check(passes(WIRE_FLOAT32, 9e-4, 1) && !passes(WIRE_FLOAT32, 1.1e-3, 1)
		  && passes(WIRE_FLOAT64, 9e-4, 1) && !passes(WIRE_FLOAT64, 1.1e-3, 1)
		  && !passes(WIRE_FLOAT32, 1e-30, 0),
		  "zeros have the tolerance of the outputs for other inputs");
	check(says(WIRE_FLOAT32, 25.334190368, 25.05578041, "25.33419, 25.05578"),
		  "values with the digits of a float32");
	check(says(WIRE_FLOAT64, 0.123456789012, 0.123456789, "0.12345678901, 0.123456789"),
		  "with more where they are needed to tell them apart");
	check(says(WIRE_INT64, 469810812346, 469810812345, "469810812346, 469810812345")
		  && says(WIRE_BOOL, 1, 0, "1, 0"), "and integers whole");
	check(says(WIRE_FLOAT32, -NAN, -INFINITY, "nan, -inf"), "or what is no number");
	return done();
}
