/*
 * score.c
 *		Arithmetic of rounds, intervals and rewards.
 *
 * The server and cudal1-measure compute rewards with this file, and nothing else does.  So the file
 * uses neither palloc nor ereport: callers pass valid arguments, and a function that gets no memory
 * returns NaN.
 *
 * Rounding to hundredths agrees with decimal arithmetic: 1.15 is 115 hundredths although
 * 100 * 1.15 < 115 in binary.
 */
#include "score.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double
cudal1_score_conservative_round(double speedup)
{
	double		hundredths = speedup * 100;
	double		nearest = nearbyint(hundredths);

	/* beyond 2^53 hundredths a double has no decimals left to cut */
	if (!isfinite(hundredths) || fabs(hundredths) >= 9007199254740992.0)
		return speedup;
	/* by rounding errors where these exceed 1e-9 */
	if (fabs(hundredths - nearest) > fmax(1e-9, 8 * DBL_EPSILON * fabs(hundredths)))
		nearest = speedup > 1 ? floor(hundredths) : ceil(hundredths);
	return nearest / 100;
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double *
sorted_copy(const double *values, size_t n)
{
	double	   *copy = malloc(n * sizeof(double));

	if (copy != NULL)
	{
		memcpy(copy, values, n * sizeof(double));
		qsort(copy, n, sizeof(double), compare_doubles);
	}
	return copy;
}

double
cudal1_score_median(const double *values, size_t n)
{
	double	   *sorted = sorted_copy(values, n);
	double		median = NAN;

	if (sorted != NULL)
		median = n % 2 == 1 ? sorted[n / 2] : 0.5 * sorted[n / 2 - 1] + 0.5 * sorted[n / 2];
	free(sorted);
	return median;
}

double
cudal1_score_trimmed(const double *values, size_t n, double share)
{
	double	   *sorted = sorted_copy(values, n);
	double		mean;

	if (!sorted)
		return NAN;
	n -= (size_t) ceil(share * (double) n);
	mean = cudal1_score_mean(sorted, n);
	free(sorted);
	return mean;
}

/* Distances from the first value are summed, so that the mean of equal values is that value. */
double
cudal1_score_mean(const double *values, size_t n)
{
	double		sum = 0;

	for (size_t i = 1; i < n; i++)
		sum += values[i] - values[0];
	return values[0] + sum / (double) n;
}

double
cudal1_score_variance(const double *values, size_t n)
{
	double		mean = cudal1_score_mean(values, n);
	double		squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return squares / (double) n;
}

/* The regularised incomplete beta function by its power series, of positive terms; y is 1 - x. */
static double
incomplete_beta(double a, double b, double x, double y)
{
	double		term = exp(a * log(x) + b * log(y) + lgamma(a + b) - lgamma(a + 1) - lgamma(b));
	double		sum = 0;

	for (double n = 1; term > sum * DBL_EPSILON / 4; n++)
	{
		sum += term;
		term *= x * (a + b + n - 1) / (a + n);
	}
	return sum;
}

/* The probability that Student's t exceeds t >= 0: half of the incomplete beta function. */
static double
t_tail(double t, double df)
{
	double		x = df / (t * t + df);
	double		y = t * t / (t * t + df);

	if (t == 0)
		return 0.5;
	if (isinf(t * t))
		return 0;
	/* a tail that is not small is told by what it leaves, which takes few terms */
	return t < 3 ? (1 - incomplete_beta(0.5, df / 2, y, x)) / 2
		: incomplete_beta(df / 2, 0.5, x, y) / 2;
}

double
cudal1_score_t_quantile(double p, double df)
{
	double		tail = p < 0.5 ? p : 1 - p;
	double		low = 0;
	double		high = 1;

	if (!(p > 0 && p < 1 && df > 0))
		return NAN;
	if (p == 0.5)
		return 0;
	/* The tail falls as t grows. */
	while (t_tail(high, df) > tail && high < DBL_MAX / 4)
	{
		low = high;
		high *= 2;
	}
	while (high - low > 2 * DBL_EPSILON * high)
	{
		double		middle = 0.5 * (low + high);

		if (t_tail(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return p < 0.5 ? -high : high;
}

double
cudal1_score_width(double score, double width)
{
	return fmax(width, CUDAL1_SLOPE * fabs(log(score)));
}

void
cudal1_score_interval(const double *pairs, size_t n, double confidence, int looks, double *lower,
					  double *upper, double *half_width)
{
	double		centre = 0;
	double		squares = 0;
	double		reach;
	double		median;

	*lower = *upper = *half_width = NAN;
	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		centre += log(pairs[i]) / (double) n;
	for (size_t i = 0; i < n; i++)
		squares += pow(log(pairs[i]) - centre, 2);
	reach = -cudal1_score_t_quantile((1 - confidence) / looks / 2, (double) n - 1)
		* sqrt(squares / (double) (n - 1) / (double) n);
	median = log(cudal1_score_median(pairs, n));
	*lower = exp(fmin(centre - reach, median));
	*upper = exp(fmax(centre + reach, median));
	*half_width = expm1(reach);
}

double
cudal1_score_paid(double score, double lower, bool wide)
{
	if (!wide)
		return score;
	return lower >= 1 ? lower : fmin(score, 1);
}
