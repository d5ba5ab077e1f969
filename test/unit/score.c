/*
 * score.c
 *		The score arithmetic keeps its promises, without a server.
 *
 * Quantiles were computed to 40 digits by bisection of the regularised incomplete beta function.
 */
#include "score.h"

#include <stdlib.h>

#include "tap.h"

static void
check_rounding(void)
{
	/* clang-format off */
	static const double cases[][2] = {
		{1.118, 1.11}, {0.992, 1.00}, {1.15, 1.15}, {1.0, 1.0}, {0, 0}, {0.5, 0.5}, {0.501, 0.51},
			{1.0000001, 1.0},
		{0.9999999, 1.0}, {2.999999999999, 3.0}, {2.9999, 2.99}, {0.29, 0.29}, {0.57, 0.57},
			{1e-5, 0.01}, {449.999, 449.99},
		{120.45678, 120.45}, {4.35, 4.35}, {1e17, 1e17},
	};
	/* clang-format on */
	bool		all = true;
	bool		stay = true;
	bool		towards = true;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		all &= near(cudal1_score_conservative_round(cases[i][0]), cases[i][1], 0);
	check(all, "rounding cuts to two decimals, towards 1");

	for (int i = 0; i <= 1000000; i++)
		stay &= cudal1_score_conservative_round(i / 100.0) == i / 100.0;
	check(stay, "every number of hundredths up to 10000 stays what it is");

	srand(1);
	all = true;
	for (int i = 0; i < 1000000; i++)
	{
		double		speedup = exp(20.0 * rand() / RAND_MAX - 10);
		double		once = cudal1_score_conservative_round(speedup);

		all &= cudal1_score_conservative_round(once) == once;
		towards &= fabs(once - 1) <= fabs(speedup - 1) + 1e-9 && fabs(once - speedup) < 0.01 + 1e-9;
	}
	check(all, "rounding twice changes nothing");
	check(towards, "a rounded speedup is nearer to 1 and less than a hundredth away");
}

static void
check_buckets(void)
{
	static const double widths[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.7, 1, 2.5};
	bool		all = true;

	/* in whole hundredths the intervals are a matter of integer division */
	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
	{
		int			width = (int) lround(widths[w] * 100);

		for (int hundredths = 1; hundredths <= 100000; hundredths++)
			all &= cudal1_score_bucket(hundredths / 100.0, widths[w], false) == hundredths / width;
	}
	check(all, "rewards fall into the interval that decimal arithmetic says");
	check(cudal1_score_bucket(0.75, 0.25, false) == 3
		  && cudal1_score_bucket(1.15, 0.05, false) == 23 &&
		  cudal1_score_bucket(0.74, 0.25, false) == 2, "edges belong to the interval above");
	check(cudal1_score_bucket(1, 0.25, true) == 0 && cudal1_score_bucket(0.99, 0.25, true) == -1 &&
		  cudal1_score_bucket(exp(0.5), 0.25, true) == 2,
		  "on the log scale 1 is an edge, slower code below it");
	check(cudal1_score_bucket(1e300, 0.001, false) == 2147483647, "numbers of intervals saturate");
}

static void
check_statistics(void)
{
	double		values[] = {3, 1, 2, 10};
	double		equal[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
	double		nine[] = {9, 1, 8, 2, 7, 3, 6, 4, 5};

	check(cudal1_score_median(values, 4) == 2.5 && cudal1_score_median(values, 3) == 2
		  && values[0] == 3,
		  "a median of an even number is between the middle two, and leaves the array alone");
	check(cudal1_score_mean(values, 4) == 4 && cudal1_score_mean(equal, 6) == 0.1,
		  "a mean of equal values is that value");
	check(cudal1_score_variance(values, 4) == 12.5 && cudal1_score_variance(equal, 6) == 0,
		  "variance is over n");
	check(cudal1_score_percentile(values, 4, 0.25) == 1.75
		  && cudal1_score_percentile(values, 4, 0.75) == 4.75 &&
		  cudal1_score_percentile(values, 4, 0) == 1 && cudal1_score_percentile(values, 4, 1) == 10,
		  "percentiles are linear between the values");
	check(near(cudal1_score_median_error(nine, 9), sqrt(M_PI / 2) * 4 / 1.3489795003921634 / 3,
			   1e-14) &&
		  cudal1_score_median_error(nine, 3) == 0, "the error of a median follows the quartiles");
}

static void
check_quantiles(void)
{
	/* clang-format off */
	static const double cases[][3] = {
		{0.975, 1, 12.706204736174693}, {0.975, 2, 4.3026527297494618},
			{0.95, 3, 2.3533634348018229},
		{0.975, 6, 2.4469118511449693}, {1 - 0.05 / 6, 6, 3.2874551570881634},
			{1 - 0.05 / 6, 13, 2.7459387231725675},
		{1 - 0.05 / 6, 20, 2.6125854230334885}, {0.995, 6, 3.7074280213247791},
			{0.9999, 4, 13.033671720896822},
		{0.6, 2.5, 0.28145951274854759}, {0.500001, 7, 2.5974602757236802e-6},
			{0.999999, 30, 5.8711171204086238},
		{0.975, 1000, 1.9623390808264081}, {0.975, 9999, 1.9602012636213573},
			{0.975, 10001, 1.9602012161646407},
		{0.9999999, 20000, 5.2011600562415956}, {0.975, 1e7, 1.9599642217672051},
			{1e-6, 1, -318309.88618274349},
		{0.75, 0.5, 1.5537739740300373},
	};
	/* clang-format on */
	bool		all = true;
	bool		odd = true;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		all &= near(cudal1_score_t_quantile(cases[i][0], cases[i][1]), cases[i][2], 1e-9);
	check(all, "quantiles of Student's t are exact to 1e-9");
	for (double p = 0.0625; p < 0.5; p += 0.0625)
		odd &= cudal1_score_t_quantile(p, 6) == -cudal1_score_t_quantile(1 - p, 6);
	check(odd && cudal1_score_t_quantile(0.5, 6) == 0, "quantiles are odd about one half");
	check(isnan(cudal1_score_t_quantile(1, 6)) && isnan(cudal1_score_t_quantile(0.9, 0)),
		  "there is no quantile of 1 or without freedom");
}

static void
check_interval(void)
{
	double		same[] = {1.5, 1.5, 1.5};
	double		spread[] = {1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.00};
	double		skewed[] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0};
	double		with_zero[] = {0, 1};
	double		outlier[] = {1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.00, 1.005, 0.995, 1.003, 0.997,
		1.001, 0.999, 1.5};
	double		lower;
	double		upper;
	double		half_width;
	double		narrow;

	cudal1_score_interval(same, 3, 0.95, 1, &lower, &upper, &half_width);
	check(near(lower, 1.5, 1e-15) && near(upper, 1.5, 1e-15) && half_width == 0,
		  "equal buckets give an interval of no width");
	cudal1_score_interval(spread, 7, 0.95, 1, &lower, &upper, &narrow);
	check(near(narrow, 0.012012937698023678, 1e-12) && lower < 1 && upper > 1 &&
		  near(upper / lower, (1 + narrow) * (1 + narrow), 1e-12),
		  "the interval is Student's t over the logarithms");
	cudal1_score_interval(spread, 7, 0.95, 3, &lower, &upper, &half_width);
	check(near(log1p(half_width) / log1p(narrow), 3.2874551570881634 / 2.4469118511449693, 1e-9),
		  "the error is divided over the looks");
	cudal1_score_interval(outlier, 14, 0.95, 1, &lower, &upper, &half_width);
	check(near(half_width, 0.004642639187167797, 1e-12),
		  "of 14 buckets the two at either end are trimmed");
	cudal1_score_interval(skewed, 7, 0.05, 1, &lower, &upper, &half_width);
	check(lower == 1.0 && upper > 1.0, "the interval holds the median");
	cudal1_score_interval(spread, 1, 0.95, 1, &lower, &upper, &half_width);
	check(isnan(lower) && isnan(upper) && isnan(half_width), "there is no interval of one bucket");
	cudal1_score_interval(with_zero, 2, 0.95, 1, &lower, &upper, &half_width);
	check(!(half_width <= 1), "a bucket of 0 satisfies no limit");
	check(near(cudal1_score_foreseen(spread, 7, 7, 0.95, 1), narrow, 1e-12),
		  "what is foreseen of the buckets there are is what they have");
	check(cudal1_score_foreseen(spread, 7, 14, 0.95, 1) < narrow / sqrt(2),
		  "more of them make it narrower");
}

/* by scipy */
static void
check_set_interval(void)
{
	const double *members[] = {
		(double[]) {1.00, 1.01}, (double[]) {1.52, 1.50}, (double[]) {0.70, 0.71},
		(double[]) {2.00, 2.03}
	};
	const double *loud[] = {members[0], members[1], (double[]) {1.00, 3.00}, members[2],
		members[3]};
	const double *pair[] = {(double[]) {1.11, 1.09, 1.09, 1.12},
		(double[]) {2.16, 2.85, 2.91, 2.96}};
	double		lower;
	double		upper;
	double		half_width;

	check(cudal1_score_set_interval(members, 4, 2, 0, 0.95, 3, &lower, &upper, &half_width)
		  && near(half_width, 0.02650439409081476, 1e-9)
		  && near(sqrt(lower * upper), 1.004987562112089, 1e-12)
		  && near(upper / lower, pow(1.02650439409081476, 2), 1e-9),
		  "members of a set know their spread together, what a pair adds to all included");
	check(!cudal1_score_set_interval(members, 4, 2, 1, 0.95, 3, &lower, &upper, &half_width)
		  && near(half_width, 0.02650439409081476, 1e-9),
		  "one that spreads more than the others has an interval of its own");
	check(!cudal1_score_set_interval(members, 3, 2, 0, 0.95, 3, &lower, &upper, &half_width),
		  "so have those of a set that is too small");
	check(cudal1_score_set_interval(loud, 5, 2, 0, 0.95, 3, &lower, &upper, &half_width)
		  && near(half_width, 0.02650439409081476, 1e-9)
		  && cudal1_score_set_interval(loud, 5, 2, 4, 0.95, 3, &lower, &upper, &half_width)
		  && near(half_width, 0.02650439409081476, 1e-9),
		  "one that spreads far more has no part in the others' intervals");
	check(!cudal1_score_set_interval(loud, 5, 2, 2, 0.95, 3, &lower, &upper, &half_width),
		  "and its own");
	check(!cudal1_score_set_interval(pair, 2, 4, 0, 0.95, 3, &lower, &upper, &half_width)
		  && !cudal1_score_set_interval(pair, 2, 4, 1, 0.95, 3, &lower, &upper, &half_width),
		  "two of which one does know nothing of each other");
}

static void
check_tails(void)
{
	/* by mpmath */
	static const double cases[][4] = {
		{1, 6, 6, 0.5}, {8.466125340850162, 6, 6, 0.01}, {5.0, 14, 6, 0.028773798802060241},
			{0.2, 20, 6, 0.99718981632000003},
		{3.2, 1, 3, 0.1715859283334758},
	};
	bool		all = true;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		all &= near(cudal1_score_f_tail(cases[i][0], cases[i][1], cases[i][2]), cases[i][3], 1e-9);
	check(all, "tails of Fisher's F are exact to 1e-9");
	check(cudal1_score_f_tail(0, 6, 6) == 1 && cudal1_score_f_tail(INFINITY, 6, 6) == 0
		  && isnan(cudal1_score_f_tail(1, 0, 6)),
		  "at their ends, too");
}

static double
uniform(unsigned long *state)
{
	*state = *state * 6364136223846793005ul + 1442695040888963407ul;
	return ((double) (*state >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(unsigned long *state)
{
	double		radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(6.283185307179586 * uniform(state));
}

/*
 * the share of candidates whose pairs spread `wider` times as much as the reference's that are
 * found to, and the mean end above the truth
 */
static double
found(size_t n, size_t naa, double outliers, double wider, double *gain)
{
	unsigned long state = 1;
	double		v[2][21];
	int			tries = 4000;
	int			owns = 0;

	*gain = 0;
	for (int t = 0; t < tries; t++)
	{
		double		lower;
		double		upper;
		double		half_width;
		double		doubt;
		bool		own;

		for (int side = 0; side < 2; side++)
			for (size_t i = 0; i < (side ? naa : n); i++)
			{
				double		x = normal(&state);

				v[side][i] = exp(0.02 * (side ? 1 : wider) * (uniform(&state) < outliers ? 5 * x
															  : x));
			}
		cudal1_score_interval(v[0], n, 0.95, 3, &lower, &upper, &half_width);
		doubt = cudal1_score_doubt(v[0], n, v[1], naa, 0.95, 3, &own);
		*gain += (own ? lower : fmin(upper, cudal1_score_median(v[0], n) * (1 + doubt))) - 1;
		owns += own;
	}
	*gain /= tries;
	return (double) owns / tries;
}

static void
check_doubt(void)
{
	double		same[] = {1, 1, 1};
	double		some[] = {1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.00};
	double		honest;
	double		wider;
	double		doubt;
	double		lower;
	double		upper;
	double		half_width;
	bool		own;
	bool		level = true;
	bool		pays = false;

	for (int outliers = 0; outliers < 2; outliers++)
		for (int last = 7; last <= 21; last += 7)
		{
			level &= found((size_t) last, 7, 0.1 * outliers, 1, &honest) < 0.02;
			for (double by = 1.5; by < 5; by += 0.5)
			{
				found((size_t) last, 7, 0.1 * outliers, by, &wider);
				pays |= wider > honest + 0.1 * 0.02;
			}
			/* the table of docs/protocol.md */
			for (double by = 1; last == 21 && by < 5; by += by < 2 ? 0.5 : 1)
			{
				double		share = found(21, 7, 0.1 * outliers, by, &wider);

				printf("# %s: spread x %.1f, own %.1f %%, mean paid %+.2f %%\n",
					   outliers ? "outliers" : "normal", by, 100 * share, 100 * wider);
			}
		}
	check(level, "of candidates that spread as the reference less than 2 % are taken to spread "
		  "more, with outliers, too");
	check(!pays, "spreading more than it gains less than a tenth of what it spreads, in the mean, "
		  "at any width");
	check(found(21, 7, 0, 4, &wider) > 0.4 && wider < 0,
		  "and costs where it is four times as much");

	doubt = cudal1_score_doubt(some, 7, some, 7, 0.95, 3, &own);
	cudal1_score_interval(some, 7, 0.95, 3, &lower, &upper, &half_width);
	check(!own && doubt > 0.5 * half_width && doubt < 2 * half_width,
		  "a candidate that spreads as the reference is granted an interval like its own");
	cudal1_score_doubt(same, 3, some, 7, 0.95, 3, &own);
	check(!own, "one that does not spread has nothing of its own");
	doubt = cudal1_score_doubt(some, 7, same, 3, 0.95, 3, &own);
	check(own && doubt == 0, "where the reference does not spread, all of it is the candidate's");
	doubt = cudal1_score_doubt(some, 7, same, 1, 0.95, 3, &own);
	check(own && doubt == 0, "as it is where nothing is known of the reference");
	check(cudal1_score_nearer_end(1.1, 1.3) == 1.1 && cudal1_score_nearer_end(0.9, 1.3) == 1
		  && cudal1_score_nearer_end(0.7, 0.9) == 0.9,
		  "the end nearer to 1 is the lower, 1 itself, or the upper");
}

int
main(void)
{
	check_rounding();
	check_buckets();
	check_statistics();
	check_quantiles();
	check_interval();
	check_set_interval();
	check_tails();
	check_doubt();
	return done();
}
