/*
 * advantages.c
 *		Group-relative advantages and the clipped objective (CUDA-L1, eq. 4 and 5).
 *
 * A trainer computes these itself, and can check itself against the functions here.  They work in
 * double precision and decide the edge cases.  A group of equal rewards carries no information, and
 * neither does a group of one, so their advantages are exactly 0 and not rounding errors divided by
 * a small epsilon.  A reward that was discarded is NULL, and takes no part.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "arrays.h"
#include "nearest.h"
#include "score.h"

PG_FUNCTION_INFO_V1(cudal1_group_advantages);
PG_FUNCTION_INFO_V1(cudal1_grpo_objective);

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
	return &variants[cudal1_nearest_row("variant", name, variants, lengthof(variants),
										sizeof(Variant), "Valid variants are \"paper\", \"trl\","
										" \"verl\", \"openrlhf\", \"dr_grpo\", \"rloo\" and"
										" \"smoothed\".")];
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

static ArrayType *
required_array(FunctionCallInfo fcinfo, int position, const char *argument)
{
	cudal1_argument_required(fcinfo, position, argument);
	return PG_GETARG_ARRAYTYPE_P(position);
}

/* a number of at least 0, below `limit` where that is positive */
static double
required_number(FunctionCallInfo fcinfo, int position, const char *argument, double limit)
{
	double		value = PG_ARGISNULL(position) ? get_float8_nan() : PG_GETARG_FLOAT8(position);

	if (!isfinite(value) || value < 0 || (limit > 0 && value >= limit))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 limit > 0 ?
				 errmsg("argument \"%s\" must be at least 0 and below %g", argument, limit) :
				 errmsg("argument \"%s\" must be a finite number of at least 0", argument)));
	return value;
}

static void
check_length(int length, int tokens, const char *argument)
{
	if (length != tokens)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"%s\" must have one element for each token", argument),
				 errdetail("It has %d elements for %d tokens.", length, tokens)));
}

/* the arguments of an objective, checked; arrays hold one element a token unless said otherwise */
typedef struct Batch
{
	int			tokens;
	int			sequences;
	int32	   *lengths;		/* of sequences, in tokens */
	double	   *logp;
	double	   *logp_old;
	double	   *logp_ref;		/* NULL: no reference policy */
	double	   *advantages;
	bool		advantage_by_token; /* false: one element a sequence */
	double		low;			/* the ratio is clipped to [1 - low, 1 + high] */
	double		high;
	double		beta;			/* weight of the divergence from the reference policy */
	bool		mean_by_token;	/* false: the mean over sequences of their means over tokens */
} Batch;

typedef struct Objective
{
	double		value;
	double		kl;
	int64		clipped;		/* tokens whose ratio was clipped */
} Objective;

static void
read_log_probabilities(FunctionCallInfo fcinfo, Batch *batch)
{
	int			length;

	batch->logp = cudal1_array_float8(required_array(fcinfo, 0, "logp"), "logp",
									  &batch->tokens, NULL);
	batch->logp_old = cudal1_array_float8(required_array(fcinfo, 1, "logp_old"), "logp_old",
										  &length, NULL);
	check_length(length, batch->tokens, "logp_old");
	if (!PG_ARGISNULL(2))
	{
		batch->logp_ref = cudal1_array_float8(PG_GETARG_ARRAYTYPE_P(2), "logp_ref", &length, NULL);
		check_length(length, batch->tokens, "logp_ref");
	}
}

static void
read_sequences(FunctionCallInfo fcinfo, Batch *batch)
{
	int			nadvantages;
	int64		total = 0;

	batch->advantages = cudal1_array_float8(required_array(fcinfo, 3, "advantages"), "advantages",
											&nadvantages, NULL);
	batch->lengths = cudal1_array_int4(required_array(fcinfo, 4, "lengths"), "lengths",
									   &batch->sequences);
	for (int s = 0; s < batch->sequences; s++)
	{
		if (batch->lengths[s] < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"lengths\" must contain numbers of at least 1 only"),
					 errdetail("Element %d is %d.", s + 1, batch->lengths[s])));
		total += batch->lengths[s];
	}
	if (batch->sequences == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"lengths\" must have at least one element")));
	if (total != batch->tokens)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"lengths\" must add up to the number of tokens"),
				 errdetail("It adds up to %lld for %d tokens.", (long long) total, batch->tokens)));
	if (nadvantages != batch->sequences && nadvantages != batch->tokens)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"advantages\" must have one element for each sequence or one for"
						" each token"),
				 errdetail("It has %d elements for %d sequences and %d tokens.",
						   nadvantages, batch->sequences, batch->tokens)));
	batch->advantage_by_token = nadvantages != batch->sequences;
}

static void
read_options(FunctionCallInfo fcinfo, Batch *batch)
{
	char	   *aggregation;

	batch->low = required_number(fcinfo, 5, "epsilon", 1);
	batch->beta = required_number(fcinfo, 6, "beta", 0);
	batch->high = PG_ARGISNULL(7) ? batch->low : required_number(fcinfo, 7, "epsilon_high", 0);
	if (batch->logp_ref == NULL && batch->beta > 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"logp_ref\" must not be NULL where \"beta\" is above 0"),
				 errhint("Pass 0 for \"beta\" to leave the divergence out.")));
	aggregation = PG_ARGISNULL(8) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(8));
	batch->mean_by_token = strcmp(aggregation, "token") == 0;
	if (!batch->mean_by_token && strcmp(aggregation, "sequence") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"aggregation\" must be \"sequence\" or \"token\"")));
}

/* adds one sequence, of whose tokens `first` is the first */
static void
add_sequence(Objective *objective, const Batch *batch, int sequence, int first)
{
	int			length = batch->lengths[sequence];
	double		weight = batch->mean_by_token ? (double) batch->tokens :
		(double) length * batch->sequences;
	double		value = 0;
	double		kl = 0;

	for (int t = first; t < first + length; t++)
	{
		double		advantage = batch->advantages[batch->advantage_by_token ? t : sequence];
		double		ratio = exp(batch->logp[t] - batch->logp_old[t]);
		double		bounded = fmax(1 - batch->low, fmin(1 + batch->high, ratio));
		double		divergence = 0;

		if (batch->logp_ref != NULL)
		{
			double		difference = batch->logp_ref[t] - batch->logp[t];

			/* k3; expm1 keeps it at 0 or above where the policies hardly differ */
			divergence = isinf(difference) ? INFINITY : fmax(0, expm1(difference) - difference);
		}
		value += fmin(ratio * advantage, bounded * advantage) - batch->beta * divergence;
		kl += divergence;
		objective->clipped += bounded * advantage < ratio * advantage;
	}
	objective->value += value / weight;
	objective->kl += kl / weight;
}

/*
 * cudal1_grpo_objective(logp float8[], logp_old float8[], logp_ref float8[], advantages float8[],
 *						 lengths int[], epsilon float8, beta float8, epsilon_high float8,
 *						 aggregation text)
 * RETURNS TABLE (objective float8, kl float8, clip_fraction float8)
 */
Datum
cudal1_grpo_objective(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Batch		batch = {0};
	Objective	objective = {0};
	Datum		values[3];
	bool		nulls[3] = {false};

	read_log_probabilities(fcinfo, &batch);
	read_sequences(fcinfo, &batch);
	read_options(fcinfo, &batch);
	for (int s = 0, first = 0; s < batch.sequences; first += batch.lengths[s++])
		add_sequence(&objective, &batch, s, first);
	if (!isfinite(objective.value) || !isfinite(objective.kl))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("log-probabilities are too far apart")));

	InitMaterializedSRF(fcinfo, 0);
	values[0] = Float8GetDatum(objective.value);
	values[1] = Float8GetDatum(objective.kl);
	nulls[1] = batch.logp_ref == NULL;
	values[2] = Float8GetDatum((double) objective.clipped / batch.tokens);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}
