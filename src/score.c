/*
 * score.c
 *		Arithmetic of rounds, buckets, intervals and rewards.
 *
 * The server and cudal1-measure compute rewards with this file, and nothing else does.  So the file
 * uses neither palloc nor ereport: callers pass valid arguments, and a function that gets no memory
 * returns NaN.
 *
 * Two functions compare a quotient with an integer: rounding to hundredths and the number of a
 * score interval.  Both must agree with decimal arithmetic (1.15 is 115 hundredths although
 * 100 * 1.15 < 115 in binary), so both use settle_integer().
 */
#include "score.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* above this the expansion about the normal quantile is the more exact one */
#define T_NORMAL_DF		1e4

/*
 * The integer that x stands for, or NaN.  x may differ from it by 1e-9, or by the rounding errors
 * of a quotient where x is so large that these exceed 1e-9.
 */
static double
settle_integer(double x)
{
	double		nearest = nearbyint(x);
	double		tolerance = fmax(1e-9, 8 * DBL_EPSILON * fabs(x));

	return fabs(x - nearest) <= tolerance ? nearest : NAN;
}

double
cudal1_score_conservative_round(double speedup)
{
	double		hundredths = speedup * 100;
	double		settled;

	/* beyond 2^53 hundredths a double has no decimals left to cut */
	if (!isfinite(hundredths) || fabs(hundredths) >= 9007199254740992.0)
		return speedup;
	settled = settle_integer(hundredths);
	if (isnan(settled))
		settled = speedup > 1 ? floor(hundredths) : ceil(hundredths);
	return settled / 100;
}

int
cudal1_score_bucket(double reward, double width, bool log_scale)
{
	double		quotient = (log_scale ? log(reward) : reward) / width;
	double		settled = settle_integer(quotient);

	if (isnan(settled))
		settled = floor(quotient);
	if (!(settled > INT_MIN))
		return INT_MIN;
	if (settled >= INT_MAX)
		return INT_MAX;
	return (int) settled;
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

static double
percentile_of_sorted(const double *sorted, size_t n, double p)
{
	double		position = p * (double) (n - 1);
	size_t		below = (size_t) position;
	double		share = position - (double) below;

	if (below + 1 >= n)
		return sorted[n - 1];
	if (share == 0)
		return sorted[below];
	return sorted[below] + share * (sorted[below + 1] - sorted[below]);
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
cudal1_score_percentile(const double *values, size_t n, double p)
{
	double	   *sorted = sorted_copy(values, n);
	double		percentile = sorted != NULL ? percentile_of_sorted(sorted, n, p) : NAN;

	free(sorted);
	return percentile;
}

/*
 * Distances from the first value are summed, so that the mean of equal values is that value.  The
 * sum is compensated (Neumaier).
 */
double
cudal1_score_mean(const double *values, size_t n)
{
	double		sum = 0;
	double		lost = 0;

	for (size_t i = 1; i < n; i++)
	{
		double		distance = values[i] - values[0];
		double		next = sum + distance;

		if (fabs(sum) >= fabs(distance))
			lost += (sum - next) + distance;
		else
			lost += (distance - next) + sum;
		sum = next;
	}
	return values[0] + (sum + lost) / (double) n;
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

/* the standard normal distribution has `tail` < 0.5 above it; Newton's steps never pass it */
static double
normal_quantile(double tail)
{
	double		z = 0;

	for (;;)
	{
		double		excess = 0.5 * erfc(z / M_SQRT2) - tail;
		double		next = z + excess * sqrt(2 * M_PI) * exp(z * z / 2);

		if (!(next > z))
			return z;
		z = next;
	}
}

/*
 * Continued fraction of the incomplete beta function (modified Lentz), for
 * x < (a + 1) / (a + b + 2).
 */
static double
beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double		c = 1;
	double		d = 1 - (a + b) * x / (a + 1);
	double		value;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	value = d;
	for (int m = 1; m <= 10000; m++)
	{
		double		term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double		change;

		d = 1 + term * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + term / c;
		c = fabs(c) < tiny ? tiny : c;
		value *= d * c;

		term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + term * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + term / c;
		c = fabs(c) < tiny ? tiny : c;
		change = d * c;
		value *= change;
		if (fabs(change - 1) < 2 * DBL_EPSILON)
			break;
	}
	return value;
}

/* probability that Student's t exceeds t >= 0 */
static double
t_tail(double t, double df)
{
	return cudal1_score_f_tail(t * t, 1, df) / 2;
}

double
cudal1_score_t_quantile(double p, double df)
{
	double		tail = p < 0.5 ? p : 1 - p;
	double		low = 0;
	double		high = 1;
	double		t;

	if (!(p > 0 && p < 1 && df > 0))
		return NAN;
	if (p == 0.5)
		return 0;

	if (df > T_NORMAL_DF)
	{
		/* Abramowitz and Stegun 26.7.5 */
		double		z = normal_quantile(tail);
		double		z2 = z * z;

		t = z + z * ((z2 + 1) / 4 / df +
					 ((5 * z2 + 16) * z2 + 3) / 96 / (df * df) +
					 (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384 / (df * df * df));
		return p < 0.5 ? -t : t;
	}

	/*
	 * The tail falls as t grows.  The root is bracketed first; then Newton's steps follow, and a
	 * step that would leave the bracket halves it instead.
	 */
	while (t_tail(high, df) > tail && high < DBL_MAX / 4)
	{
		low = high;
		high *= 2;
	}
	t = 0.5 * (low + high);
	for (int step = 0; step < 200; step++)
	{
		double		excess = t_tail(t, df) - tail;
		double		gammas = lgamma((df + 1) / 2) - lgamma(df / 2);
		double		density = exp(gammas - 0.5 * (df + 1) * log1p(t * t / df)) / sqrt(df * M_PI);
		double		next = t + excess / density;

		if (excess > 0)
			low = t;
		else
			high = t;
		if (!(next > low && next < high))
			next = 0.5 * (low + high);
		if (fabs(next - t) <= 4 * DBL_EPSILON * t)
		{
			t = next;
			break;
		}
		t = next;
	}
	return p < 0.5 ? -t : t;
}

double
cudal1_score_f_tail(double f, double df1, double df2)
{
	double		a = df1 / 2;
	double		b = df2 / 2;
	double		x = df1 * f / (df1 * f + df2);
	double		y = df2 / (df1 * f + df2);
	double		front;

	if (!(f >= 0 && df1 > 0 && df2 > 0))
		return NAN;
	if (f == 0)
		return 1;
	if (isinf(f))
		return 0;
	/* I_y(b, a), by the fraction that converges */
	front = exp(a * log(x) + b * log(y) + lgamma(a + b) - lgamma(a) - lgamma(b));
	if (y < (b + 1) / (a + b + 2))
		return front * beta_fraction(b, a, y) / b;
	return 1 - front * beta_fraction(a, b, x) / a;
}

/*
 * Mean and standard error of n sorted values without the `trim` smallest and largest (Yuen 1974).
 * The error comes from the variance after these were replaced by their nearest neighbours that
 * stay.
 */
static double
trimmed_mean(double *sorted, size_t n, size_t trim, double *error)
{
	double		mean = cudal1_score_mean(sorted + trim, n - 2 * trim);
	double		kept = (double) (n - 2 * trim) / (double) n;

	for (size_t i = 0; i < trim; i++)
	{
		sorted[i] = sorted[trim];
		sorted[n - 1 - i] = sorted[n - 1 - trim];
	}
	*error = sqrt(cudal1_score_variance(sorted, n) / (double) (n - 1)) / kept;
	return mean;
}

/* how many of n estimates are trimmed at either end */
static size_t
trimmed(size_t n, size_t from)
{
	return n >= from ? n * 15 / 100 : 0;
}

/* centre and spread of the logarithms of n >= 2 estimates, `trim` of them trimmed at either end */
static bool
log_spread(const double *buckets, size_t n, size_t trim, double *centre, double *spread)
{
	double	   *logs;
	double		error;

	if (n < 2 || (logs = sorted_copy(buckets, n)) == NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		logs[i] = log(logs[i]);
	*centre = trimmed_mean(logs, n, trim, &error);
	free(logs);
	*spread = error * sqrt((double) n);
	return true;
}

/* degrees of freedom of the spread of n values of which 2 * trim are trimmed */
static double
freedom(size_t n, size_t trim)
{
	return (double) (n - 2 * trim - 1);
}

/* half the interval of the mean of n logarithms whose spread is known with df degrees of freedom */
static double
log_reach(double spread, double df, size_t n, double confidence, int looks)
{
	double		t = cudal1_score_t_quantile(1 - (1 - confidence) / (2.0 * looks), df);

	return t * spread / sqrt((double) n);
}

/* widened to hold the median of the n buckets */
static void
set_interval(const double *buckets, size_t n, double centre, double reach, double *lower,
			 double *upper, double *half_width)
{
	double		median = cudal1_score_median(buckets, n);

	*lower = fmin(exp(centre - reach), median);
	*upper = fmax(exp(centre + reach), median);
	*half_width = expm1(reach);
}

void
cudal1_score_interval(const double *buckets, size_t n, double confidence, int looks,
					  double *lower, double *upper, double *half_width)
{
	size_t		trim = trimmed(n, CUDAL1_TRIM_FROM);
	double		centre;
	double		spread;

	*lower = *upper = *half_width = NAN;
	if (log_spread(buckets, n, trim, &centre, &spread))
		set_interval(buckets, n, centre,
					 log_reach(spread, freedom(n, trim), n, confidence, looks),
					 lower, upper, half_width);
}

/*
 * Copies the buckets of those members to `kept` that do not spread far more than the rest, the one
 * that spreads most first, and says where `which` is among them; members when it is not
 */
static size_t
keep_alike(const double *const *buckets, size_t members, size_t n, size_t which,
		   const double **kept, size_t *nkept)
{
	size_t		place = which;

	memcpy(kept, buckets, members * sizeof(*kept));
	for (*nkept = members; *nkept > 1; (*nkept)--)
	{
		double		all = 0;
		double		most = -1;
		size_t		at = 0;

		for (size_t i = 0; i < *nkept; i++)
		{
			double		mean;
			double		squares;

			if (!log_spread(kept[i], n, 0, &mean, &squares))
				return members;
			squares *= squares;
			all += squares;
			if (squares > most)
			{
				most = squares;
				at = i;
			}
		}
		all = (all - most) / (double) (*nkept - 1);
		if (most <= all || (all > 0 && cudal1_score_f_tail(most / all, (double) n - 1,
														   (double) ((*nkept - 1) * (n - 1)))
							>= CUDAL1_SET_FAR))
			break;
		place = place == at ? members : place > at && place < members ? place - 1 : place;
		memmove(kept + at, kept + at + 1, (*nkept - 1 - at) * sizeof(*kept));
	}
	return place;
}

bool
cudal1_score_set_interval(const double *const *buckets, size_t members, size_t n, size_t which,
						  double confidence, int looks, double *lower, double *upper,
						  double *half_width)
{
	const double *kept[CUDAL1_SET_MOST];
	size_t		nkept;
	double		k;
	double		freedom_of_pairs = (double) n - 1;
	double		freedom_of_own;
	double		pair[CUDAL1_TRIM_FROM] = {0};	/* what each adds to all of them */
	double		of_pairs = 0;	/* mean squares */
	double		of_own = 0;
	double		of_this = 0;
	double		mean = 0;
	double		centre = 0;

	if (members < 2 || members > CUDAL1_SET_MOST || n < 2 || n >= CUDAL1_TRIM_FROM)
		return false;
	which = keep_alike(buckets, members, n, which, kept, &nkept);
	k = (double) nkept;
	freedom_of_own = (k - 1) * freedom_of_pairs;
	if (which == members || freedom_of_own < CUDAL1_SET_FREEDOM)
		return false;
	for (size_t i = 0; i < nkept; i++)
		for (size_t j = 0; j < n; j++)
			mean += log(kept[i][j]) / (k * (double) n);
	for (size_t j = 0; j < n; j++)
	{
		for (size_t i = 0; i < nkept; i++)
			pair[j] += (log(kept[i][j]) - mean) / k;
		of_pairs += k * pair[j] * pair[j] / freedom_of_pairs;
	}
	for (size_t i = 0; i < nkept; i++)
	{
		double		own = 0;
		double		squares = 0;

		for (size_t j = 0; j < n; j++)
			own += log(kept[i][j]) / (double) n;
		for (size_t j = 0; j < n; j++)
			squares += pow(log(kept[i][j]) - own - pair[j], 2);
		of_own += squares / freedom_of_own;
		if (i == which)
		{
			of_this = squares * k / (k - 1) / freedom_of_pairs;
			centre = own;
		}
	}
	if (of_own > 0 && cudal1_score_f_tail(of_this / of_own, freedom_of_pairs, freedom_of_own)
		< CUDAL1_SET_OWN)
		return false;
	of_own *= k - 1;
	set_interval(kept[which], n, centre,
				 of_pairs + of_own == 0 ? 0
				 : log_reach(sqrt((of_pairs + of_own) / k),
							 pow(of_pairs + of_own, 2)
							 / (of_pairs * of_pairs / freedom_of_pairs
								+ of_own * of_own / freedom_of_own), n, confidence, looks),
				 lower, upper, half_width);
	return true;
}

bool
cudal1_score_known_interval(const double *buckets, size_t n, double known, double known_freedom,
							double confidence, int looks, double *lower, double *upper,
							double *half_width)
{
	double		centre;
	double		own;
	double		df;
	double		pooled;

	if (n >= CUDAL1_KNOWN_BELOW || !(known_freedom >= CUDAL1_SET_FREEDOM)
		|| !log_spread(buckets, n, 0, &centre, &own))
		return false;
	df = freedom(n, 0);
	if (own > known
		&& (known == 0
			|| cudal1_score_f_tail(pow(own / known, 2), df, known_freedom) < CUDAL1_SET_OWN))
		return false;
	pooled = sqrt((df * own * own + known_freedom * known * known) / (df + known_freedom));
	set_interval(buckets, n, centre,
				 log_reach(pooled, df + known_freedom, n, confidence, looks),
				 lower, upper, half_width);
	return true;
}

double
cudal1_score_foreseen(const double *buckets, size_t n, size_t later, double confidence, int looks)
{
	double		df = freedom(later, trimmed(later, CUDAL1_TRIM_FROM));
	double		centre;
	double		spread;

	if (!log_spread(buckets, n, trimmed(n, CUDAL1_TRIM_FROM), &centre, &spread))
		return NAN;
	return expm1(log_reach(spread, df, later, confidence, looks));
}

double
cudal1_score_doubt(const double *buckets, size_t n, const double *aa, size_t naa,
				   double confidence, int looks, bool *own)
{
	size_t		trim[] = {trimmed(n, 0), trimmed(naa, 0)};
	double		df[] = {freedom(n, trim[0]), freedom(naa, trim[1])};
	double		centre;
	double		spread[2];
	double		level;

	*own = true;
	if (!log_spread(buckets, n, trim[0], &centre, &spread[0]) ||
		!log_spread(aa, naa, trim[1], &centre, &spread[1]))
		return 0;
	if (spread[0] == 0)
		level = 1;
	else if (spread[1] > 0)
		level = cudal1_score_f_tail(pow(spread[0] / spread[1], 2), df[0], df[1]);
	else
		level = 0;
	*own = !(level >= CUDAL1_OWN_WIDTH);
	if (*own)
		return 0;

	/*
	 * The candidate's degrees of freedom give the width of its own interval where both spread
	 * alike. With those of the A/A pairs a candidate would gain where they are few.
	 */
	df[0] = freedom(n, trimmed(n, CUDAL1_TRIM_FROM));
	return expm1(log_reach(spread[1], df[0], n, confidence, looks));
}

double
cudal1_score_wide_from(double score, double limit, double slope, double most)
{
	double		size = fabs(log(score));

	return fmax(fmax(limit, slope * size), fmin(most, expm1(size)));
}

double
cudal1_score_least_end(const double *values, size_t n, double lower)
{
	double		least;

	if (n < 4 || n > 6)
		return lower;
	least = values[0];
	for (size_t i = 1; i < n; i++)
		least = fmin(least, values[i]);
	return fmax(lower, lower < 1 ? fmin(least, 1) : least);
}

double
cudal1_score_nearer_end(double lower, double upper)
{
	return fmax(lower, fmin(upper, 1));
}

double
cudal1_score_median_error(const double *values, size_t n)
{
	double		quartiles;

	if (n < 4)
		return 0;
	quartiles = cudal1_score_percentile(values, n, 0.75) - cudal1_score_percentile(values, n, 0.25);

	/*
	 * 1.34898 standard deviations lie between the quartiles of a normal distribution, and the
	 * standard error of its median is sqrt(pi / 2) times that of its mean.
	 */
	return sqrt(M_PI / 2) * quartiles / 1.3489795003921634 / sqrt((double) n);
}
