/*
 * arrays.h
 *		Arrays given as arguments of functions, checked and unpacked.
 */
#ifndef CUDAL1_ARRAYS_H
#define CUDAL1_ARRAYS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

/*
 * Elements of a one-dimensional array; an empty array gives n = 0.  Where `nulls` is NULL a NULL
 * element is an error, else *nulls says which elements are NULL.  `argument` names the array in
 * messages.
 */
extern Datum *cudal1_array_unpack(ArrayType *array, const char *argument, int *n, bool **nulls);

/* Unpacks an array of float8; NaN and infinities are errors. */
extern double *cudal1_array_float8(ArrayType *array, const char *argument, int *n, bool **nulls);

/* a one-dimensional array of n values; nulls may be NULL */
extern ArrayType *cudal1_array_from_float8(const double *values, const bool *nulls, int n);

#endif							/* CUDAL1_ARRAYS_H */
