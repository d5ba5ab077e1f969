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
check_statistics(void)
{
	double		values[] = {3, 1, 2, 10};
	double		equal[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
	double		ten[] = {9, 1, 8, 2, 7, 3, 6, 4, 5, 1000};

	check(cudal1_score_median(values, 4) == 2.5 && cudal1_score_median(values, 3) == 2
		  && values[0] == 3,
		  "a median of an even number is between the middle two, and leaves the array alone");
	check(cudal1_score_mean(values, 4) == 4 && cudal1_score_mean(equal, 6) == 0.1,
		  "a mean of equal values is that value");
	check(cudal1_score_variance(values, 4) == 12.5 && cudal1_score_variance(equal, 6) == 0,
		  "variance is over n");
	check(cudal1_score_trimmed(ten, 10, 0.1) == 5 && cudal1_score_trimmed(values, 4, 0.1) == 2
		  && ten[9] == 1000, "a trimmed mean is without the largest, their share rounded up");
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
		{0.9999999, 20000, 5.2011600562415956},
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
	double		lower;
	double		upper;
	double		half_width;
	double		narrow;

	cudal1_score_interval(same, 3, 0.95, 1, &lower, &upper, &half_width);
	check(near(lower, 1.5, 1e-15) && near(upper, 1.5, 1e-15) && half_width == 0,
		  "equal pairs give an interval of no width");
	cudal1_score_interval(spread, 7, 0.95, 1, &lower, &upper, &narrow);
	check(near(narrow, 0.012012937698023678, 1e-12) && lower < 1 && upper > 1 &&
		  near(upper / lower, (1 + narrow) * (1 + narrow), 1e-12),
		  "the interval is Student's t over the logarithms");
	cudal1_score_interval(spread, 7, 0.95, 3, &lower, &upper, &half_width);
	check(near(log1p(half_width) / log1p(narrow), 3.2874551570881634 / 2.4469118511449693, 1e-9),
		  "the error is divided over the looks");
	cudal1_score_interval(skewed, 7, 0.05, 1, &lower, &upper, &half_width);
	check(lower == 1.0 && upper > 1.0, "the interval holds the median");
	cudal1_score_interval(spread, 1, 0.95, 1, &lower, &upper, &half_width);
	check(isnan(lower) && isnan(upper) && isnan(half_width), "there is no interval of one pair");
	cudal1_score_interval(with_zero, 2, 0.95, 1, &lower, &upper, &half_width);
	check(!(half_width <= 1), "a pair of 0 satisfies no limit");
}

static void
check_pay(void)
{
	check(cudal1_score_paid(1.4, 1.2, false) == 1.4 && cudal1_score_paid(0.7, 0.5, false) == 0.7,
		  "a score whose interval is narrow is paid");
	check(cudal1_score_paid(1.4, 1.2, true) == 1.2,
		  "of a wide interval above 1 the lower end is paid");
	check(cudal1_score_paid(1.4, 0.9, true) == 1 && cudal1_score_paid(0.7, 0.5, true) == 0.7,
		  "of one that reaches below 1 the score is, at most 1");
	check(cudal1_score_width(1, 0.02) == 0.02 && cudal1_score_width(1.4, 0.02) == 0.02
		  && near(cudal1_score_width(M_E * M_E, 0.02), 0.1, 1e-15)
		  && near(cudal1_score_width(1 / M_E, 0.02), 0.05, 1e-15),
		  "a large speedup, or slowdown, may be known less closely");
}

int
main(void)
{
	check_rounding();
	check_statistics();
	check_quantiles();
	check_interval();
	check_pay();
	return done();
}
