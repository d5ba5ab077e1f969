/*
 * element.h
 *		Elements of arrays: as numbers, and how far one is off; the same on a CPU and on a GPU.
 */
#ifndef CUDAL1_ELEMENT_H
#define CUDAL1_ELEMENT_H

#include <string.h>

#include "common/tolerance.h"
#include "common/wire.h"

/* float16 and bfloat16 of a value, ties to even; without a branch, for many side by side */
TOLERANCE_INLINE uint16_t
half_of(float value)
{
	uint32_t	bits;
	uint32_t	sign;
	uint32_t	normal;
	uint32_t	tiny;
	uint32_t	half;
	float		shifted;

	memcpy(&bits, &value, sizeof(bits));
	sign = bits & 0x80000000;
	bits ^= sign;
	normal = ((bits + 0xFFF + ((bits >> 13) & 1)) >> 13) - (112 << 10);
	/* below 2^-14 the sum's last place is float16's */
	memcpy(&shifted, &bits, sizeof(shifted));
	shifted += 0.5f;
	memcpy(&tiny, &shifted, sizeof(tiny));
	half = bits < 0x38800000 ? tiny - 0x3F000000 : normal;
	half = bits >= 0x477FF000 ? 0x7C00 : half;
	half = bits > 0x7F800000 ? 0x7E00 : half;
	return (uint16_t) (half | sign >> 16);
}

TOLERANCE_INLINE uint16_t
bfloat_of(float value)
{
	uint32_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = (bits & 0x7FFFFFFF) > 0x7F800000 ? bits | 0x400000 : bits + 0x7FFF + ((bits >> 16) & 1);
	return (uint16_t) (bits >> 16);
}

/* the float whose bits these are, of which the exponent is off by `shift` */
TOLERANCE_INLINE float
tensor_float(uint32_t bits, float shift)
{
	float		value;

	memcpy(&value, &bits, sizeof(value));
	return value * shift;
}

/* the value of a float16; its largest exponent stands for what is not finite */
TOLERANCE_INLINE float
of_half(uint32_t half)
{
	return tensor_float((half & 0x8000) << 16 | (half & 0x7FFF) << 13
						| ((half & 0x7C00) == 0x7C00 ? 0x7F800000 : 0), 0x1p112f);
}

TOLERANCE_INLINE float
of_bfloat(uint32_t bfloat)
{
	return tensor_float(bfloat << 16, 1);
}

/* an element of any type: of a floating point type x, else n */
TOLERANCE_INLINE void
tensor_store(void *out, uint32_t dtype, uint64_t i, double x, int64_t n)
{
	switch (dtype)
	{
#define DTYPE(NAME, name, type, store, ...) \
	case WIRE_##NAME: \
		((type *) out)[i] = (type) (store); \
		break;
#include "common/dtypes.h"
	}
}

TOLERANCE_INLINE double
tensor_load(const void *in, uint32_t dtype, uint64_t i)
{
	switch (dtype)
	{
#define DTYPE(NAME, name, type, store, load, ...) \
	case WIRE_##NAME: \
	{ \
		type		e = ((const type *) in)[i]; \
		\
		return (double) (load); \
	}
#include "common/dtypes.h"
	}
	return NAN;
}

/*
 * By how many tolerances x, an element of a floating point type, is off the expected y; infinity
 * where one of both is not finite, 0 where both are the same.
 */
TOLERANCE_INLINE double
tensor_error(double y, double x, uint32_t dtype, uint64_t i, const Tolerance *t)
{
	double		allowed;

	if (x == y || (x != x && y != y))
		return 0;
	if (!isfinite(x) || !isfinite(y))
		return INFINITY;
	allowed = tolerance_of(t, y, t->scale * (t->scales ? t->scales[i] : 1),
						   t->bases ? tensor_load(t->bases, dtype, i) : t->base);
	return allowed > 0 ? fabs(x - y) / allowed : INFINITY;
}

/* The base of an element over `n` arrays that lie `stride` bytes apart; NaN does not count. */
TOLERANCE_INLINE double
tensor_base(const void *arrays, uint64_t stride, uint32_t n, uint32_t dtype, uint64_t i)
{
	double		low = NAN,
				high = NAN;

	for (uint32_t k = 0; k < n; k++)
	{
		double		value = tensor_load((const char *) arrays + k * stride, dtype, i);

		low = fmin(low, value);
		high = fmax(high, value);
	}
	return tolerance_base(low, high);
}

/* Rows of an array of floating point numbers, of which less is left. */
typedef struct Thinning
{
	uint64_t	rows;
	uint64_t	length;			/* elements of a row */
	uint64_t	after;			/* how far they lie apart */
	uint32_t	dtype;
	uint32_t	sample;			/* every second element, which counts twice; 0: the mean for each */
} Thinning;

TOLERANCE_INLINE void
tensor_thin(const void *from, void *to, const Thinning *thin, uint64_t row)
{
	uint64_t	first = row / thin->after * thin->after * thin->length + row % thin->after;
	double		sum = 0;

	for (uint64_t i = 0; i < thin->length; i++)
		sum += tensor_load(from, thin->dtype, first + i * thin->after);
	for (uint64_t i = 0; i < thin->length; i++)
	{
		uint64_t	at = first + i * thin->after;

		tensor_store(to, thin->dtype, at, !thin->sample ? sum / (double) thin->length
					 : i % 2 > 0 ? 0 : 2 * tensor_load(from, thin->dtype, at), 0);
	}
}

#endif							/* CUDAL1_ELEMENT_H */
