/*
 * values.c
 *		Lists of measured numbers.
 */
#include <math.h>
#include <stdlib.h>

#include "src/score.h"
#include "supervisor/time/time.h"

void
values_append(Values *values, double value)
{
	if (values->n == values->size)
	{
		size_t		size = values->size ? 2 * values->size : 64;
		double	   *v = realloc(values->v, size * sizeof(double));

		if (!v)
			return;
		values->v = v;
		values->size = size;
	}
	values->v[values->n++] = value;
}

double
values_median(const Values *values)
{
	return values->n > 0 ? cudal1_score_median(values->v, values->n) : NAN;
}
