/*
 * change.h
 *		How an input is made another one, the same on a CPU and on a GPU.
 */
#ifndef CUDAL1_CHANGE_H
#define CUDAL1_CHANGE_H

#include "common/tolerance.h"

#define CHANGE_OUTLIERS		16		/* elements of an input that are made large, at most */

/*
 * Of floating point elements that are not 0. Zeros stay, so that an input that is triangular or
 * sparse remains so.
 */
typedef struct Change
{
	double		shift;			/* taken away first */
	double		factor;			/* then multiplied by; never 0 */
	uint64_t	outlier[CHANGE_OUTLIERS];	/* elements that are multiplied by `large`, too */
	double		large;
	uint64_t	after;			/* elements of an index of the axis that is repeated; 0: none is */
	uint64_t	length;			/* of that axis */
	uint64_t	repeated;		/* its index, of which all after it have the elements */
	double		nudge;			/* half of the elements are off by this share, towards 0 */
	uint32_t	outliers;
} Change;

/* The element of the other input that an element is made of. */
TOLERANCE_INLINE uint64_t
change_source(const Change *c, uint64_t i)
{
	uint64_t	index = c->after > 0 ? i / c->after % c->length : 0;

	return index > c->repeated ? i - (index - c->repeated) * c->after : i;
}

/* The changed value of an element that is no outlier. */
TOLERANCE_INLINE double
change_of(const Change *c, double x)
{
	uint64_t	mixed;
	union
	{
		double		number;
		uint64_t	bits;
	}			u;

	if (x == 0 || x != x)
		return x;
	x = (x - c->shift) * c->factor;
	/* equal elements stay equal, and so do numbers that stand for integers */
	u.number = x;
	mixed = u.bits * 0x9E3779B97F4A7C15u;
	if (c->nudge > 0 && mixed >> 63 && x != trunc(x))
		x -= x * c->nudge;
	return x;
}

/* The factor of element i after `factor`: `large` for outliers, else 1. */
TOLERANCE_INLINE double
change_large(const Change *c, uint64_t i)
{
	for (uint32_t k = 0; k < c->outliers; k++)
		if (i == c->outlier[k])
			return c->large;
	return 1;
}

#endif							/* CUDAL1_CHANGE_H */
