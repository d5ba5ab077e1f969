/*
 * paired.c
 *		Two results for each task, compared pair by pair.
 *
 * Speedups multiply, so the logarithms of the ratios are compared.  A result of 0 (no success)
 * against one above 0 is an infinite ratio.  The tests use ranks and signs, so they count it; the
 * interval uses sizes, so it is NULL then.
 *
 * The signed-rank test is the conditional one, which is exact also with ties: given the sizes, each
 * sign is a fair coin, and the law of the sum of the positive ranks is counted out.  Above
 * EXACT_PAIRS pairs the counting would take long, and the normal law is as good.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "arrays.h"
#include "score.h"

PG_FUNCTION_INFO_V1(cudal1_paired_test);

#define EXACT_PAIRS 400

typedef struct Difference
{
	double		size;
	bool		positive;
	int			rank2;			/* twice the rank; ties share the middle of theirs */
} Difference;

static int
by_size(const void *a, const void *b)
{
	double		x = ((const Difference *) a)->size;
	double		y = ((const Difference *) b)->size;

	return (x > y) - (x < y);
}

/* sorts by size and ranks; returns the sum over ties of t^3 - t */
static double
rank_differences(Difference *d, int n)
{
	double		ties = 0;

	qsort(d, n, sizeof(Difference), by_size);
	for (int first = 0, end; first < n; first = end)
	{
		double		t;

		/* equal up to rounding: 2 / 1 and 4 / 2 may differ in the last bit */
		for (end = first + 1; end < n; end++)
			if (d[end].size != d[first].size && d[end].size - d[first].size >= 1e-12)
				break;
		for (int i = first; i < end; i++)
			d[i].rank2 = first + 1 + end;
		t = end - first;
		ties += t * t * t - t;
	}
	return ties;
}

/* two-sided p of twice the sum of positive ranks, by the normal law */
static double
normal_p(int64 seen, int n, double ties)
{
	double		mean = (double) n * (n + 1) / 2;
	double		deviation = sqrt((double) n * (n + 1) * (2.0 * n + 1) / 6 - ties / 12);

	/* the correction for continuity is half a rank, and these are twice the ranks */
	return erfc(Max(fabs((double) seen - mean) - 1, 0) / deviation / sqrt(2));
}

/* p value by counting: law[s] is the probability that twice the sum of positive ranks is s */
static double
exact_p(int64 seen, const Difference *d, int n)
{
	int64		most = (int64) n * (n + 1);
	double	   *law = palloc0((most + 1) * sizeof(double));
	double		below = 0;
	double		above = 0;
	int			reach = 0;

	law[0] = 1;
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		reach += d[i].rank2;
		for (int s = reach; s >= 0; s--)
			law[s] = 0.5 * (law[s] + (s >= d[i].rank2 ? law[s - d[i].rank2] : 0));
	}
	for (int64 s = 0; s <= most; s++)
	{
		if (s <= seen)
			below += law[s];
		if (s >= seen)
			above += law[s];
	}
	pfree(law);
	return Min(2 * Min(below, above), 1);
}

/* two-sided p of the signed-rank test of n ranked differences */
static double
signed_rank_p(const Difference *d, int n, double ties)
{
	int64		seen = 0;

	if (n == 0)
		return 1;
	for (int i = 0; i < n; i++)
		if (d[i].positive)
			seen += d[i].rank2;
	return n > EXACT_PAIRS ? normal_p(seen, n, ties) : exact_p(seen, d, n);
}

/* two-sided p of the sign test: k of n fair coins */
static double
sign_p(int k, int n)
{
	double		tail = 0;

	k = Min(k, n - k);
	for (int i = 0; i <= k; i++)
		tail += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * M_LN2);
	return Min(2 * tail, 1);
}

typedef struct Comparison
{
	Difference *differences;	/* of the pairs that are not equal */
	int			wins;
	int			losses;
	double	   *logs;			/* of all ratios */
	double		sum;			/* of the logarithms */
	bool		finite;			/* no ratio is 0 or infinite */
} Comparison;

static Comparison
compare_pairs(const double *a, const double *b, int n)
{
	Comparison	comparison = {.finite = true};

	comparison.differences = palloc((n + 1) * sizeof(Difference));
	comparison.logs = palloc((n + 1) * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		double		x;
		Difference *difference;

		if (a[i] < 0 || b[i] < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("speedups must not be negative")));
		x = a[i] == b[i] ? 0 : log(a[i]) - log(b[i]);
		comparison.logs[i] = x;
		comparison.sum += x;
		comparison.finite &= !isinf(x);
		/* an equal pair favours neither side, and neither test counts it */
		if (x == 0)
			continue;
		difference = &comparison.differences[comparison.wins + comparison.losses];
		difference->size = fabs(x);
		difference->positive = x > 0;
		if (x > 0)
			comparison.wins++;
		else
			comparison.losses++;
	}
	return comparison;
}

/* half the width of the interval of the mean of n >= 2 logarithms */
static double
half_interval(const Comparison *comparison, int n, double confidence)
{
	double		mean = comparison->sum / n;
	double		squares = 0;

	for (int i = 0; i < n; i++)
		squares += (comparison->logs[i] - mean) * (comparison->logs[i] - mean);
	/* by the lower tail: 0.5 + confidence / 2 may be rounded to 1, which has no quantile */
	return -cudal1_score_t_quantile((1 - confidence) / 2, n - 1) * sqrt(squares / (n - 1) / n);
}

/*
 * cudal1.paired_test(a float8[], b float8[], confidence float8, OUT pairs bigint,
 *					  OUT a_better bigint, OUT b_better bigint, OUT ratio float8, OUT lower float8,
 *					  OUT upper float8, OUT signed_rank_p float8, OUT sign_p float8), STRICT
 */
Datum
cudal1_paired_test(PG_FUNCTION_ARGS)
{
	int			n;
	int			m;
	double	   *a = cudal1_array_float8(PG_GETARG_ARRAYTYPE_P(0), "a", &n, NULL);
	double	   *b = cudal1_array_float8(PG_GETARG_ARRAYTYPE_P(1), "b", &m, NULL);
	double		confidence = PG_GETARG_FLOAT8(2);
	TupleDesc	descriptor;
	Comparison	comparison;
	int			unequal;
	double		ties;
	Datum		values[8] = {0};
	bool		nulls[8] = {false};

	if (n != m)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("arguments \"a\" and \"b\" must have the same length"),
				 errdetail("Their lengths are %d and %d.", n, m)));
	if (!(confidence > 0 && confidence < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"confidence\" must lie between 0 and 1")));
	if (n > 1000000)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("more than 1000000 pairs cannot be compared")));
	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	comparison = compare_pairs(a, b, n);
	unequal = comparison.wins + comparison.losses;
	ties = rank_differences(comparison.differences, unequal);

	values[0] = Int64GetDatum(n);
	values[1] = Int64GetDatum(comparison.wins);
	values[2] = Int64GetDatum(comparison.losses);
	nulls[3] = n == 0 || !comparison.finite;
	nulls[4] = nulls[5] = nulls[3] || n < 2;
	if (!nulls[3])
		values[3] = Float8GetDatum(exp(comparison.sum / n));
	if (!nulls[4])
	{
		double		half = half_interval(&comparison, n, confidence);

		values[4] = Float8GetDatum(exp(comparison.sum / n - half));
		values[5] = Float8GetDatum(exp(comparison.sum / n + half));
	}
	values[6] = Float8GetDatum(signed_rank_p(comparison.differences, unequal, ties));
	values[7] = Float8GetDatum(sign_p(comparison.wins, unequal));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}
