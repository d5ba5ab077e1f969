/*
 * arrays.c
 *		Arrays given as arguments of functions, checked and unpacked.
 *
 * A reward, a time or a log-probability that is NaN comes from a mistake of the caller.  So every
 * element is checked, and the message names the argument and the element.
 */
#include "arrays.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

Datum *
cudal1_array_unpack(ArrayType *array, const char *argument, int *n, bool **nulls)
{
	Datum	   *elements;
	bool	   *are_null;
	int16		length;
	bool		by_value;
	char		alignment;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"%s\" must be a one-dimensional array", argument),
				 errdetail("It has %d dimensions.", ARR_NDIM(array))));
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &elements, &are_null,
					  n);
	for (int i = 0; i < *n && nulls == NULL; i++)
		if (are_null[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not contain NULL", argument),
					 errdetail("Element %d is NULL.", i + 1)));
	if (nulls != NULL)
		*nulls = are_null;
	return elements;
}

double *
cudal1_array_float8(ArrayType *array, const char *argument, int *n, bool **nulls)
{
	Datum	   *elements = cudal1_array_unpack(array, argument, n, nulls);
	double	   *values = palloc(Max(*n, 1) * sizeof(double));

	for (int i = 0; i < *n; i++)
	{
		values[i] = nulls != NULL && (*nulls)[i] ? 0 : DatumGetFloat8(elements[i]);
		if (!isfinite(values[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" must contain finite numbers only", argument),
					 errdetail("Element %d is %s.", i + 1, isnan(values[i]) ? "NaN" : "infinite")));
	}
	return values;
}

ArrayType *
cudal1_array_from_float8(const double *values, const bool *nulls, int n)
{
	Datum	   *elements = palloc(Max(n, 1) * sizeof(Datum));
	int			dimension = n;
	int			lower = 1;

	for (int i = 0; i < n; i++)
		elements[i] = Float8GetDatum(values[i]);
	return construct_md_array(elements, unconstify(bool *, nulls), 1, &dimension, &lower,
							  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}
