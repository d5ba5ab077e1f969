/*
 * stop.c
 *		When pairs are enough, and whether intervals hold the truth as often as they promise.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/time/stop.c"

#include "tap.h"

#define TRIES	4000

static Profile profile = {.pairs = 5,.looks = {5, 9, 15},.nlooks = 3,.precision_goal = 0.005,
	.confidence = 0.95,.half_width_limit = 0.02,.budget_seconds = 20};

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

/* how many pairs a measurement of this score and spread has, each of so many seconds */
static Stop
measure(unsigned long *state, double score, double spread, double seconds)
{
	Stop		stop;

	stop = (Stop) {&profile,.lower = NAN,.upper = NAN,.half_width = NAN};
	do
		values_append(&stop.ratios, score * exp(spread * normal(state)));
	while (!stop_is_finished(&stop, (double) stop.ratios.n * seconds));
	return stop;
}

static size_t
pairs_of(double score, double spread, double seconds, bool *wide)
{
	unsigned long state = 7;
	Stop		stop = measure(&state, score, spread, seconds);

	*wide = stop.wide;
	return stop.ratios.n;
}

/* the share of measurements whose interval has the truth, and their mean number of pairs */
static double
held(double spread, double *pairs)
{
	unsigned long state = 1;
	int			hold = 0;

	*pairs = 0;
	for (int i = 0; i < TRIES; i++)
	{
		Stop		stop = measure(&state, 1.25, spread, 0);

		hold += stop.lower <= 1.25 && stop.upper >= 1.25;
		*pairs += (double) stop.ratios.n / TRIES;
	}
	return (double) hold / TRIES;
}

static void
check_looks(void)
{
	bool		wide;
	Stop		stop;

	check(pairs_of(1, 0, 0, &wide) == 5 && !wide, "pairs that agree are enough at the first look");
	check(pairs_of(1, 0.5, 0, &wide) == 15 && wide,
		  "the last look ends a measurement, and its interval may be wide");
	check(pairs_of(20, 0.03, 0, &wide) == 5 && !wide,
		  "a large speedup needs no more than a share of its logarithm");
	profile.half_width_limit = 0;
	check(pairs_of(1, 0.5, 0, &wide) == 15 && !wide, "without a limit none is wide");
	profile.half_width_limit = 0.02;
	profile.precision_goal = 0;
	check(pairs_of(1, 0, 0, &wide) == 15, "without a goal all looks are made");
	profile.precision_goal = 0.005;

	stop = (Stop) {&profile,.lower = NAN,.upper = NAN,.half_width = NAN};
	for (int i = 0; i < 4; i++)
		values_append(&stop.ratios, 1);
	check(!stop_is_finished(&stop, 0) && isnan(stop.lower),
		  "nothing is said before the fewest pairs");
	check(left_after(&stop, 8) == 2, "what is left is the pairs until the first look");
	profile.precision_goal = 0.015;
	values_append(&stop.ratios, 1.03);
	check(!stop_is_finished(&stop, 0) && stop.lower <= 1 && stop.upper >= 1
		  && stop.half_width > 0.015, "a look that finds the interval wide has it told");
	check(left_after(&stop, 5) == 10 && left_after(&stop, 18) == 2,
		  "and pairs up to the last look, within the budget, if it is too wide for the next");
	profile.precision_goal = 0.02;
	check(left_after(&stop, 5) == 4, "else up to the next");
	profile.precision_goal = 0.015;
	for (int i = 0; i < 3; i++)
	{
		values_append(&stop.ratios, 1);
		check(!stop_is_finished(&stop, 0) && (i < 2 || stop.half_width < 0.015),
			  "between looks a measurement goes on, though its interval be narrow");
	}
	values_append(&stop.ratios, 1);
	check(stop_is_finished(&stop, 0), "until the next look");
	profile.precision_goal = 0.005;
}

static void
check_budget(void)
{
	bool		wide;

	check(pairs_of(1, 0.5, 4.9, &wide) == 5 && wide, "a budget ends a measurement between looks");
	check(pairs_of(1, 0, 15, &wide) == 2 && !wide, "before the fewest pairs, too");
	check(pairs_of(1, 0, 100, &wide) == 2, "but two there are");
}

static void
check_promise(void)
{
	double		pairs;
	double		share;

	/* three standard errors of a share of 4000 are 0.01 */
	share = held(0.3, &pairs);
	printf("# spread 0.3: %.4f of intervals hold the truth, %.1f pairs\n", share, pairs);
	check(share > 0.94 && pairs > 14.9, "intervals of noisy pairs hold the truth in 95 of 100");
	share = held(0.004, &pairs);
	printf("# spread 0.004: %.4f, %.1f pairs\n", share, pairs);
	check(share > 0.94 && pairs > 5 && pairs < 15, "so do those of pairs that stop at any look");
	profile = (Profile) {.pairs = 3,.looks = {3, 4, 5, 6, 7, 8, 9, 10},.nlooks = 8,
		.precision_goal = 0.008,.confidence = 0.95,.budget_seconds = 1};
	share = held(0.01, &pairs);
	printf("# eight looks: %.4f, %.1f pairs\n", share, pairs);
	check(share > 0.94 && pairs > 3.1 && pairs < 9.9,
		  "and of those that stop by luck, because the error is divided over the looks");
	profile = (Profile) {.pairs = 5,.looks = {5},.nlooks = 1,.precision_goal = 0.005,
		.confidence = 0.95,.budget_seconds = 1};
	share = held(0.3, &pairs);
	printf("# one look: %.4f\n", share);
	check(share > 0.94 && share < 0.97 && pairs < 5.01, "one look has the whole error to itself");
	profile.confidence = 0.5;
	share = held(0.3, &pairs);
	printf("# one look, 0.5: %.4f\n", share);
	check(share > 0.47 && share < 0.6, "and the profile says how much that is");
}

int
main(void)
{
	check_looks();
	check_budget();
	check_promise();
	return done();
}
