/*
 * tensor.c
 *		What may be said of an array's size: nothing whose sums could overflow.
 */
#include "../../runner/tensor.c"

#include "tap.h"

static bool
finishes(uint32_t dtype, uint32_t ndim, int64_t a, int64_t b, int64_t c, size_t bytes)
{
	Tensor		t = {.dtype = dtype,.ndim = ndim,.shape = {a, b, c},.bytes = 1};

	return tensor_finish(&t) && t.bytes == bytes;
}

int
main(void)
{
	check(finishes(WIRE_FLOAT32, 2, 16, 1024, 0, 65536), "elements times their size");
	check(finishes(WIRE_FLOAT64, 0, 0, 0, 0, 8), "no dimension is one element");
	check(finishes(WIRE_FLOAT64, 3, 0, (int64_t) 1 << 62, (int64_t) 1 << 62, 0), "none of however many are none");
	check(finishes(WIRE_UINT8, 1, (int64_t) 1 << 40, 0, 0, TENSOR_MAX_BYTES), "the largest");
	check(!finishes(WIRE_UINT8, 1, ((int64_t) 1 << 40) + 1, 0, 0, ((size_t) 1 << 40) + 1), "one element more is too large");
	check(!finishes(WIRE_FLOAT64, 1, ((int64_t) 1 << 61) - (1 << 17), 0, 0, (size_t) 0 - (1 << 20)), "so is what fits a size and overflows a sum");
	check(!finishes(WIRE_FLOAT64, 2, (int64_t) 1 << 31, (int64_t) 1 << 31, 0, 0), "a product that overflows");
	check(!finishes(WIRE_FLOAT64, 2, (int64_t) 1 << 62, (int64_t) 1 << 62, 0, 0), "one that overflows before the size");
	check(!finishes(WIRE_FLOAT64, 1, -1, 0, 0, 0), "a negative size");
	check(!finishes(0, 1, 1, 0, 0, 0) && !finishes(WIRE_PY_INT, 1, 1, 0, 0, 0), "no element type");
	check(!finishes(WIRE_UINT8, WIRE_MAX_DIMS + 1, 1, 1, 1, 1), "too many dimensions");
	return done();
}
