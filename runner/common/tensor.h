/*
 * tensor.h
 *		Element types, layouts, and the comparison of outputs.
 */
#ifndef CUDAL1_TENSOR_H
#define CUDAL1_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/element.h"

/*
 * The most bytes of an array: so few that no sum over the arrays of all runs of a window can
 * overflow, whatever a process says of its arrays.
 */
#define TENSOR_MAX_BYTES	((size_t) 1 << 40)

typedef struct Tensor
{
	uint32_t	dtype;
	uint32_t	ndim;
	int64_t		shape[WIRE_MAX_DIMS];
	size_t		elements;
	size_t		bytes;
	size_t		offset;			/* within its slot */
	size_t		gathered;		/* of an output: among those of a run that was read */
} Tensor;

/* a row of dtypes.h */
typedef struct Dtype
{
	const char *name;
	size_t		size;			/* 0: there is no such type */
	double		epsilon;		/* the distance of 1 from the next number; 0: it is no float */
	double		rtol;
	double		atol;
	bool		signature;
} Dtype;

extern const Dtype *tensor_dtype(uint32_t dtype);
/* of a signature's array: 0 if unknown */
extern uint32_t tensor_dtype_parse(const char *name);
extern bool tensor_dtype_is_float(uint32_t dtype);

/* fills in elements and bytes; false: above TENSOR_MAX_BYTES, or a dimension is negative */
extern bool tensor_finish(Tensor *tensor);

/*
 * Elements from the first to the last of a view that is not empty, both included; strides in
 * elements. False where one is negative, or the view reaches farther than TENSOR_MAX_BYTES
 * elements: code says where its outputs lie, and none of this may overflow.
 */
extern bool tensor_span(const Tensor *layout, const int64_t *stride, uint64_t *span);

/*
 * Whether elements of a view share a place, as those of a repeated row do. True also for a few
 * views that interleave without sharing any. Strides are not negative.
 */
extern bool tensor_overlaps(const Tensor *layout, const int64_t *stride);

/*
 * Whether two views, not empty, share no place. Views that interleave are told apart where they
 * have the same strides, as pieces of an array have. Strides are not negative.
 */
extern bool tensor_apart(uint64_t address, const Tensor *layout, const int64_t *stride,
						 uint64_t other_address, const Tensor *other, const int64_t *other_stride);

/*
 * How many elements the i-th element of a view lies from the first, or nonsense if the strides are.
 * On a GPU as well.
 */
TOLERANCE_INLINE uint64_t
tensor_place(const Tensor *layout, const int64_t *stride, uint64_t i)
{
	uint64_t	place = 0;

	for (int d = (int) layout->ndim - 1; d >= 0; d--)
	{
		place += i % (uint64_t) layout->shape[d] * (uint64_t) stride[d];
		i /= (uint64_t) layout->shape[d];
	}
	return place;
}

/* "float32 [16, 1024]" */
extern void tensor_describe(const Tensor *tensor, char *text, size_t size);

/* two elements that differ: integers whole, others with 7 digits or as many as tell them apart */
#define TENSOR_VALUE_BYTES	32
extern void tensor_describe_values(uint32_t dtype, double one, double other,
								   char text[2][TENSOR_VALUE_BYTES]);

typedef struct Comparison
{
	bool		equal;
	/* largest deviation, in tolerances; infinity where NaN or integers differ */
	double		error;
	size_t		mismatches;
	size_t		first;			/* index of the first mismatch */
	double		expected;		/* there */
	double		found;
	size_t		infinite;		/* expected elements that are no finite number */
} Comparison;

/* whether outputs of `n` elements count as equal; `exact`: an element is right or wrong */
extern bool tensor_equal(const Tolerance *tolerance, bool exact, size_t n, const Comparison *c);

/*
 * By tolerance_of(), rtol and atol being numbers and no defaults. Integers and booleans have no
 * tolerance. NaN equals NaN, an infinity itself.
 */
extern void tensor_compare(const void *expected, const void *found, uint32_t dtype, size_t n,
						   const Tolerance *tolerance, Comparison *result);

/* `n` elements of a floating point type from one place to another, changed */
extern void tensor_change(const void *from, void *to, uint32_t dtype, size_t n,
						  const Change *change);

#endif							/* CUDAL1_TENSOR_H */
