/*
 * rounds.c
 *		Rounds of a measurement as SQL sees them: ratios, buckets, score, reward.
 *
 * The arithmetic is score.c's, and the numbers are the profile's.  This file checks arguments and
 * calls both, so a trainer or a reviewer can judge times that were measured elsewhere by the rule
 * that is in force here.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "arrays.h"
#include "score.h"

PG_FUNCTION_INFO_V1(cudal1_conservative_round);
PG_FUNCTION_INFO_V1(cudal1_score_rounds);

/* columns of cudal1.profile that a score depends on */
typedef struct ScoreRule
{
	int			buckets;
	int			looks;
	bool		mean;			/* the estimator, of buckets and of the score */
	double		confidence;
	double		half_width_limit;	/* infinite: no interval is wide */
	double		variance_limit; /* infinite: not judged */
} ScoreRule;

/* cudal1_conservative_round(speedup float8) RETURNS float8, STRICT */
Datum
cudal1_conservative_round(PG_FUNCTION_ARGS)
{
	float8		speedup = PG_GETARG_FLOAT8(0);

	if (!isfinite(speedup) || speedup < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"speedup\" must be a finite number of at least 0"),
				 errdetail("It is %s.", float8out_internal(speedup))));
	/* no negative zero */
	PG_RETURN_FLOAT8(cudal1_score_conservative_round(speedup) + 0.0);
}

static void
read_rule(text *profile, ScoreRule *rule)
{
	static const char query[] =
		"SELECT pairs, pg_catalog.cardinality(looks), estimator = 'mean', confidence,"
		" COALESCE(half_width_limit, 'infinity'), COALESCE(variance_limit, 'infinity')"
		" FROM cudal1.profile WHERE name = $1";
	Oid			type = TEXTOID;
	Datum		argument = PointerGetDatum(profile);
	Datum		column[6];
	bool		isnull;

	SPI_connect();
	if (SPI_execute_with_args(query, 1, &type, &argument, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read a profile");
	/* check_name() raises the error, with the names that may have been meant */
	if (SPI_processed == 0)
		SPI_execute_with_args("SELECT cudal1.check_name('profile', $1)", 1, &type, &argument,
							  NULL, true, 0);
	for (int i = 0; i < 6; i++)
		column[i] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1, &isnull);
	rule->buckets = DatumGetInt32(column[0]);
	rule->looks = DatumGetInt32(column[1]);
	rule->mean = DatumGetBool(column[2]);
	rule->confidence = DatumGetFloat8(column[3]);
	rule->half_width_limit = DatumGetFloat8(column[4]);
	rule->variance_limit = DatumGetFloat8(column[5]);
	SPI_finish();
}

static double *
positive_times(ArrayType *array, const char *argument, int *n)
{
	double	   *times = cudal1_array_float8(array, argument, n, NULL);

	for (int i = 0; i < *n; i++)
		if (!(times[i] > 0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" must contain times above 0 only", argument),
					 errdetail("Element %d is %s.", i + 1, float8out_internal(times[i]))));
	return times;
}

static double
estimate(const ScoreRule *rule, const double *ratios, size_t n)
{
	if (rule->mean)
		return cudal1_score_mean(ratios, n);
	return cudal1_score_median(ratios, n);
}

typedef struct Round
{
	int32		bucket;
	double		ratio;
} Round;

static int
compare_rounds(const void *a, const void *b)
{
	int32		x = ((const Round *) a)->bucket;
	int32		y = ((const Round *) b)->bucket;

	return (x > y) - (x < y);
}

/* one round for each pair of times */
static Round *
make_rounds(const double *reference, const double *candidate, int n)
{
	Round	   *rounds = palloc(Max(n, 1) * sizeof(Round));

	for (int i = 0; i < n; i++)
	{
		rounds[i].bucket = 0;
		rounds[i].ratio = reference[i] / candidate[i];
		if (!isfinite(rounds[i].ratio) || rounds[i].ratio == 0)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("the ratio of round %d is out of range", i + 1)));
	}
	return rounds;
}

/* splits the rounds into as many buckets as the profile has, as even as can be */
static void
split_rounds(Round *rounds, int n, int buckets, text *profile)
{
	if (n < buckets)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too few rounds: %d", n),
				 errdetail("Profile \"%s\" splits them into %d buckets.",
						   text_to_cstring(profile), buckets)));
	for (int b = 0; b < buckets; b++)
		for (int64 i = (int64) b * n / buckets; i < (int64) (b + 1) * n / buckets; i++)
			rounds[i].bucket = b;
}

/* puts each round into the bucket that the argument names, and sorts the rounds by bucket */
static void
group_rounds(Round *rounds, int n, ArrayType *array)
{
	int			other;
	Datum	   *buckets = cudal1_array_unpack(array, "buckets", &other, NULL);

	if (n != other)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"buckets\" must have one element for each round"),
				 errdetail("It has %d elements for %d rounds.", other, n)));
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too few rounds: 0")));
	for (int i = 0; i < n; i++)
		rounds[i].bucket = DatumGetInt32(buckets[i]);
	qsort(rounds, n, sizeof(Round), compare_rounds);
}

typedef struct Judgement
{
	double	   *estimates;		/* of the buckets */
	int			nbuckets;
	double		variance;
	double		score;
	double		reward;
	bool		accepted;
} Judgement;

/* Judges n >= 1 rounds by the rule; those of a bucket stand side by side. */
static Judgement
judge_rounds(const ScoreRule *rule, const Round *rounds, int n)
{
	Judgement	judgement = {.estimates = palloc(n * sizeof(double))};
	double	   *ratios = palloc(n * sizeof(double));
	double		lower;
	double		upper;
	double		half_width = 0;
	bool		wide;

	for (int i = 0; i < n; i++)
		ratios[i] = rounds[i].ratio;
	for (int first = 0, next; first < n; first = next)
	{
		for (next = first; next < n && rounds[next].bucket == rounds[first].bucket;)
			next++;
		judgement.estimates[judgement.nbuckets++] = estimate(rule, ratios + first, next - first);
	}

	judgement.variance = cudal1_score_variance(judgement.estimates, judgement.nbuckets);
	judgement.score = estimate(rule, judgement.estimates, judgement.nbuckets);
	if (!isfinite(judgement.score) || !isfinite(judgement.variance))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the score of these rounds is out of range")));

	/* A single bucket has no interval, so it is accepted only where the profile limits none. */
	cudal1_score_interval(judgement.estimates, judgement.nbuckets, rule->confidence, rule->looks,
						  &lower, &upper, &half_width);
	wide = half_width > cudal1_score_width(judgement.score, rule->half_width_limit);
	judgement.reward =
		cudal1_score_conservative_round(cudal1_score_paid(judgement.score, lower, wide));
	judgement.accepted = judgement.variance <= rule->variance_limit &&
		(isinf(rule->half_width_limit) || !isnan(half_width));
	return judgement;
}

/*
 * cudal1_score_rounds(reference_times float8[], candidate_times float8[], profile text,
 *					   buckets int[])
 * RETURNS TABLE (bucket_means float8[], variance float8, score float8, reward float8,
 *				  accepted bool)
 */
Datum
cudal1_score_rounds(PG_FUNCTION_ARGS)
{
	static const char *const arguments[] = {"reference_times", "candidate_times", "profile"};
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ScoreRule	rule;
	double	   *reference;
	double	   *candidate;
	Round	   *rounds;
	Judgement	judgement;
	int			n;
	int			other;
	Datum		values[5];
	bool		nulls[5] = {false};

	for (int i = 0; i < lengthof(arguments); i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not be NULL", arguments[i])));

	reference = positive_times(PG_GETARG_ARRAYTYPE_P(0), "reference_times", &n);
	candidate = positive_times(PG_GETARG_ARRAYTYPE_P(1), "candidate_times", &other);
	if (n != other)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("arguments \"reference_times\" and \"candidate_times\" must have the same"
						" length"),
				 errdetail("They have %d and %d elements.", n, other)));
	read_rule(PG_GETARG_TEXT_PP(2), &rule);

	rounds = make_rounds(reference, candidate, n);
	if (PG_ARGISNULL(3))
		split_rounds(rounds, n, rule.buckets, PG_GETARG_TEXT_PP(2));
	else
		group_rounds(rounds, n, PG_GETARG_ARRAYTYPE_P(3));
	judgement = judge_rounds(&rule, rounds, n);

	InitMaterializedSRF(fcinfo, 0);
	values[0] = PointerGetDatum(cudal1_array_from_float8(judgement.estimates, NULL,
														 judgement.nbuckets));
	values[1] = Float8GetDatum(judgement.variance);
	values[2] = Float8GetDatum(judgement.score);
	values[3] = Float8GetDatum(judgement.reward);
	nulls[3] = !judgement.accepted;
	values[4] = BoolGetDatum(judgement.accepted);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}
