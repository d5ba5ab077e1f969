/*
 * tolerance.h
 *		How far an element of an output may be off, and how an input is made another one: the same
 *		on a CPU and on a GPU.
 */
#ifndef CUDAL1_TOLERANCE_H
#define CUDAL1_TOLERANCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define TOLERANCE_INLINE __host__ __device__ static inline
#else
#define TOLERANCE_INLINE static inline
#endif

/*
 * Of floating point outputs, a share of the elements may miss by up to so many tolerances, and one
 * of many: among millions, one is as far off as none of a thousand is.
 */
#define TOLERANCE_MISSES		1e-4
#define TOLERANCE_FARTHEST		4
#define TOLERANCE_ONE			1000	/* elements, of which one may miss so */

#define TOLERANCE_MOVES			4	/* tolerance of right code over what the reference moves by */
#define TOLERANCE_WIDEST		64.0
#define TOLERANCE_MANY			0.01	/* of the elements; fewer lie near a step of a function */
#define TOLERANCE_STEPS			8	/* elements at a step in right code, over those seen */
#define TOLERANCE_SHARE_MOST	0.5 /* of the signal, where the reference moves by much of it */

#define TOLERANCE_STEADY		0.1 /* of an element, the most that the range of a steady one is */

/* docs/tasks.md, "Comparison", has the rule, and checks/signal.c makes its numbers */
typedef struct Tolerance
{
	double		rtol;			/* relative to the expected element; < 0: the dtype's default */
	double		atol;			/* relative to `scale`; < 0: likewise */
	double		scale;			/* how far elements lie from their medians */
	double		base;			/* of all elements: what is no signal; 0 where all is */
	double		share;			/* of the signal, the most that is tolerated */
	double		widen;			/* times rtol and atol, for what the reference itself moves by */
	double		rounding;		/* relative to the expected element, always tolerated */
	double		sums;			/* what sums lose, relative to the element or a typical one */
	double		size;			/* of a typical element that hardly changes, over `scale`; or 0 */
	double		lost;			/* of the signal, the most that sums may lose */
	double		misses;			/* a share of the elements, which may miss */
	double		farthest;		/* by so many tolerances */
	const float *scales;		/* of each element, times `scale`; NULL: 1 */
	const void *bases;			/* of each element, in the output's type; NULL: `base` for all */
} Tolerance;

/* of two numbers; libc's functions also look for NaN, and are not made for many side by side */
TOLERANCE_INLINE double
tolerance_least(double a, double b)
{
	return a < b ? a : b;
}

TOLERANCE_INLINE double
tolerance_most(double a, double b)
{
	return a > b ? a : b;
}

/* the largest deviation that is tolerated of an element `y`, whose scale and base these are */
TOLERANCE_INLINE double
tolerance_of(const Tolerance *t, double y, double scale, double base)
{
	double		usual = t->widen * (t->atol * scale + t->rtol * fabs(y));
	double		signal = scale + fabs(y - base);
	double		sums = t->sums * tolerance_most(fabs(y), t->size * scale);
	double		least = tolerance_most(tolerance_least(sums, t->lost * signal),
									   t->rounding * fabs(y));

	return tolerance_most(tolerance_least(usual, t->share * signal), least);
}

/*
 * Widens a tolerance where rounding moves the reference itself: all but a few of its elements by up
 * to `moves` tolerances, and `share` of them by more than one. Where many move, right code does,
 * too, also by much of the signal.
 */
TOLERANCE_INLINE void
tolerance_widen(Tolerance *t, double moves, double share)
{
	t->widen = fmin(fmax(TOLERANCE_MOVES * moves, 1.0), TOLERANCE_WIDEST);
	if (share > TOLERANCE_MANY)
		t->share = fmax(t->share, fmin(2 * moves * t->share, TOLERANCE_SHARE_MOST));
}

/*
 * Lets elements miss where rounding moved `steps` of the reference's `n` by more, the farthest by
 * `moves` tolerances. They lie at a step of a function, as of rint(), and tell of the others
 * nothing. Where many do, right code that rounds otherwise has others of its own.
 */
TOLERANCE_INLINE void
tolerance_steps(Tolerance *t, uint64_t steps, uint64_t n, double moves)
{
	double		share = (double) steps / (double) n;
	double		few = fmin(TOLERANCE_STEPS * (share + 1 / (double) n), TOLERANCE_MANY);

	if (steps == 0)
		return;
	t->misses = fmax(t->misses, fmax(few, 2 * fmin(share, TOLERANCE_MANY)));
	t->farthest = fmax(t->farthest, TOLERANCE_MOVES * moves);
}

/*
 * The base of an element whose outputs for several inputs lie from `low` to `high`: 0, except where
 * it hardly changes. The base of such an element lies below its outputs, because one that were its
 * own base would have no signal.
 */
TOLERANCE_INLINE double
tolerance_base(double low, double high)
{
	return high - low <= TOLERANCE_STEADY * fabs(low) ? low - (high - low) / 2 : 0;
}

/*
 * The i-th of `count` elements that stand for all `n`, in order. Each is drawn from one of as many
 * equal parts, so that no axis is met in step.
 */
TOLERANCE_INLINE uint64_t
tolerance_pick(uint64_t n, uint64_t count, uint64_t i)
{
	uint64_t	part = n / count;
	uint64_t	mixed = (i + 1) * 0x9E3779B97F4A7C15u;

	mixed ^= mixed >> 29;
	mixed *= 0xBF58476D1CE4E5B9u;
	mixed ^= mixed >> 32;
	return count >= n ? i : i * part + mixed % part;
}

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
	uint64_t	repeated;		/* its index, of which all after it, or before, have the elements */
	double		nudge;			/* half of the elements are off by this share, towards 0, */
	bool		apart;			/* each by a lot of its own: equal elements become others */
	uint32_t	outliers;
	bool		before;			/* indices before the repeated one have its elements */
	bool		halved;			/* half of the elements become 0 */
} Change;

/* The element of the other input that an element is made of. */
TOLERANCE_INLINE uint64_t
change_source(const Change *c, uint64_t i)
{
	uint64_t	index = c->after > 0 ? i / c->after % c->length : 0;

	return (c->before ? index < c->repeated : index > c->repeated)
		? i - (index - c->repeated) * c->after : i;
}

/* The changed value of element i, x, if that is no outlier. */
TOLERANCE_INLINE double
change_of(const Change *c, double x, uint64_t i)
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
	/* numbers that stand for integers stay */
	u.number = x;
	mixed = (u.bits + (c->apart ? i : 0)) * 0x9E3779B97F4A7C15u;
	if (c->nudge > 0 && mixed >> 63 && x != trunc(x))
		x -= x * c->nudge;
	return x;
}

/* The factor of element i after `factor`: 0, `large` for outliers, else 1. */
TOLERANCE_INLINE double
change_large(const Change *c, uint64_t i)
{
	if (c->halved && i * 0x9E3779B97F4A7C15u >> 63)
		return 0;
	for (uint32_t k = 0; k < c->outliers; k++)
		if (i == c->outlier[k])
			return c->large;
	return 1;
}

#endif							/* CUDAL1_TOLERANCE_H */
