/*
 * values.h
 *		Lists of measured numbers.
 */
#ifndef CUDAL1_VALUES_H
#define CUDAL1_VALUES_H

#include <stddef.h>

typedef struct Values
{
	double	   *v;
	size_t		n;
	size_t		size;
} Values;

extern void values_append(Values *values, double value);

/* NAN where there are none */
extern double values_median(const Values *values);

#endif							/* CUDAL1_VALUES_H */
