/*
 * advantages.c
 *		Group-relative advantages (CUDA-L1, eq. 4).
 *
 * A trainer computes these itself, and can check itself against the functions here.  They work in
 * double precision and decide the edge cases.  A group of equal rewards carries no information, and
 * neither does a group of one, so their advantages are exactly 0 and not rounding errors divided by
 * a small epsilon.  A reward that was discarded is NULL, and takes no part.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "arrays.h"
#include "score.h"

PG_FUNCTION_INFO_V1(cudal1_group_advantages);

#define SMOOTHED_LIMIT	1.5		/* bound of the absolute z score in the smoothed variant */

typedef enum Deviation
{
	DEVIATION_NONE,
	DEVIATION_POPULATION,
	DEVIATION_SAMPLE,
} Deviation;

typedef struct Variant
{
	const char *name;
	Deviation	deviation;
	double		epsilon;		/* added to the deviation */
	bool		leave_one_out;	/* the baseline is the mean of the others */
	double		limit;			/* of the absolute value; 0: none */
} Variant;

static const Variant variants[] = {
	{"paper", DEVIATION_POPULATION, 0, false, 0},
	{"trl", DEVIATION_SAMPLE, 1e-4, false, 0},
	{"verl", DEVIATION_SAMPLE, 1e-6, false, 0},
	{"openrlhf", DEVIATION_SAMPLE, 1e-9, false, 0},
	{"dr_grpo", DEVIATION_NONE, 0, false, 0},
	{"rloo", DEVIATION_NONE, 0, true, 0},
	{"smoothed", DEVIATION_POPULATION, 0, false, SMOOTHED_LIMIT},
};

static const Variant *
find_variant(const char *name)
{
	for (int i = 0; i < lengthof(variants); i++)
		if (strcmp(variants[i].name, name) == 0)
			return &variants[i];
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("variant \"%s\" does not exist", name),
			 errhint("Valid variants are \"paper\", \"trl\", \"verl\", \"openrlhf\","
					 " \"dr_grpo\", \"rloo\" and \"smoothed\".")));
}

/* Advantages of n >= 2 rewards that are not all equal, in place. */
static void
compute_advantages(double *rewards, int n, const Variant *variant)
{
	double		mean = cudal1_score_mean(rewards, n);
	double		largest = 0;
	double		squares = 0;
	double		divisor = 1;

	for (int i = 0; i < n; i++)
	{
		rewards[i] -= mean;
		largest = fmax(largest, fabs(rewards[i]));
	}
	if (variant->leave_one_out)
		divisor = (double) (n - 1) / n;
	else if (variant->deviation != DEVIATION_NONE)
	{
		/* scaled, so that squares neither overflow nor underflow */
		for (int i = 0; i < n; i++)
			squares += (rewards[i] / largest) * (rewards[i] / largest);
		if (variant->deviation == DEVIATION_SAMPLE)
			divisor = largest * sqrt(squares / (n - 1)) + variant->epsilon;
		else
			divisor = largest * sqrt(squares / n) + variant->epsilon;
	}
	for (int i = 0; i < n; i++)
	{
		rewards[i] /= divisor;
		/* before it is cut, because the limit is also the smaller of the limit and NaN */
		if (!isfinite(rewards[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("rewards are too far apart")));
		if (variant->limit > 0)
			rewards[i] = fmax(-variant->limit, fmin(variant->limit, rewards[i]));
	}
}

/* cudal1_group_advantages(rewards float8[], variant text) RETURNS float8[], STRICT */
Datum
cudal1_group_advantages(PG_FUNCTION_ARGS)
{
	const Variant *variant = find_variant(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	int			n;
	int			members = 0;
	bool	   *nulls;
	double	   *rewards = cudal1_array_float8(PG_GETARG_ARRAYTYPE_P(0), "rewards", &n, &nulls);
	double	   *group = palloc(Max(n, 1) * sizeof(double));
	bool		equal = true;

	for (int i = 0; i < n; i++)
		if (!nulls[i])
		{
			group[members++] = rewards[i];
			equal &= rewards[i] == group[0];
		}

	if (equal)
		memset(group, 0, Max(n, 1) * sizeof(double));
	else
		compute_advantages(group, members, variant);

	for (int i = 0, member = 0; i < n; i++)
		rewards[i] = nulls[i] ? 0 : group[member++];
	PG_RETURN_ARRAYTYPE_P(cudal1_array_from_float8(rewards, nulls, n));
}
