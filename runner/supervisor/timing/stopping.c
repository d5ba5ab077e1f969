/*
 * stopping.c
 *		When a measurement has pairs enough: looks, futility, the window and the budget.
 *
 * A look is a number of pairs at which the interval is compared with the goal. The interval is
 * computed for as many looks as the profile has, so stopping at one of them costs no confidence.
 * From the first look's number of pairs on, a width that is narrow enough ends a measurement after
 * any pair: the width says nothing of where the score lies.
 *
 * Buckets differ by the noise of their rounds, which a longer stay in a pair averages out, and by
 * luck that a pair keeps, which more pairs average out. From the third pair on both are known, and
 * what starting a pair costs. A pair's stay then has the length that makes the score's variance
 * least for its seconds (Cochran, Sampling Techniques, 10.6), at most that of whole pairs. A look
 * comes when as many seconds were spent as its number of whole pairs takes, so shorter stays are
 * more pairs. On a CPU a stay also has no more rounds than make the width reach the goal soonest,
 * from the second pair on.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/backend.h"
#include "supervisor/heat.h"
#include "supervisor/timing/timing.h"

/* pairs that the budget does not end, because an interval of two says next to nothing */
#define BUDGET_PAIRS	3
/* wall time of a pair beside its processes' starts, in the clock time of its blocks */
#define WALL_OF_PAIR	2.0
#define STAY_FROM		3		/* pairs, before which nothing is known of their luck */
#define ENOUGH_FROM		2		/* of their noise */
#define ENOUGH_SHARE	0.7		/* of the goal, because few pairs tell their variances badly */
#define SLOWED_PAIRS	3		/* before which none is narrow in which the reference was slowed */
/* rounds of a half: two of each order, and as many as a reference is judged by */
#define LEAST_STAY		4
/* seconds, after which an interval that is not wide is narrow enough */
#define ENOUGH_SECONDS	8.0

/*
 * seconds that a measurement is worth: as the job says, by what its task took before, or what the
 * first look takes at the reference's speed
 */
double
stopping_budget(const Rounds *s)
{
	const Measure *m = s->m;
	const Profile *p = &m->job->profile;
	int			processes = 2 * m->backend->halves;
	double		run = m->time[SIDE_REFERENCE];
	double		blocks = processes * s->rounds_a_half
		* fmax(run, fmin(plan_block_seconds(m, run), s->most * run));
	double		pair = WALL_OF_PAIR * fmax(p->bucket_seconds, blocks) + processes * m->start_time;

	if (p->budget_factor == 0)
		return INFINITY;
	if (m->job->budget_seconds > 0)
		return m->job->budget_seconds;
	return fmax(p->budget_min, p->budget_factor * p->looks[0] * pair);
}

bool
stopping_over_budget(const Rounds *s)
{
	return heat_seconds(s->m) > s->budget;
}

size_t
stopping_last(const Rounds *s)
{
	const Profile *p = &s->m->job->profile;

	if (p->precision_goal <= 0)
		return (size_t) p->pairs;
	return s->buckets.n + (size_t) fmax(round((p->looks[p->nlooks - 1] - s->worth) / s->share), 0);
}

/* the variance between pairs beyond what the noise of their rounds accounts for */
static double
luck(const Rounds *s)
{
	size_t		n = s->buckets.n;
	double		mean = 0;
	double		squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += log(s->buckets.v[i]) / (double) n;
	for (size_t i = 0; i < n; i++)
		squares += pow(log(s->buckets.v[i]) - mean, 2);
	return squares / (double) (n - 1) - cudal1_score_mean(s->seen.error.v, s->seen.error.n);
}

/*
 * Rounds of a half with which the width reaches the goal soonest: the number of pairs, and the
 * rounds that each needs then, that take the fewest seconds. `between`: the variance between pairs;
 * `start`, `round`: the seconds of a pair beside its rounds, and of a round. No fewer rounds than
 * make a median that a single one does not move. INFINITY: the last look is too early for the goal
 */
static double
enough_rounds(const Rounds *s, double between, double start, double round)
{
	const Profile *p = &s->m->job->profile;
	double		goal = fmax(p->precision_goal,
							p->precision_slope * fabs(log(values_median(&s->buckets))));
	double		noise = values_median(&s->seen.usual);
	int			made = (int) s->buckets.n;
	double		soonest = INFINITY;
	double		enough = INFINITY;

	for (int n = made < p->looks[0] ? p->looks[0] : made + 1; n <= p->looks[p->nlooks - 1]; n++)
	{
		double		t = cudal1_score_t_quantile(1 - (1 - p->confidence) / (2.0 * p->nlooks), n - 1);
		double		left = n * pow(ENOUGH_SHARE * log1p(goal) / t, 2) - fmax(between, 0);
		double		rounds = left > 0 ? fmax(noise / left / 2, MIN_ROUNDS) : INFINITY;
		double		seconds = (n - made) * (start + 2 * rounds * round);

		if (seconds < soonest)
		{
			soonest = seconds;
			enough = rounds;
		}
	}
	return enough;
}

/*
 * How many rounds a half has from now on. Halves that end early, because staging takes long or a
 * GPU's rounds are steady, or late, because they are not, are whole with those that they have.
 * Where rounds tell nothing of their noise, as single ones do, the stay is left as it is. Shorter
 * stays mean no fewer audits on a CPU, up to the first look's number of pairs.
 */
static void
choose_stay(Rounds *s)
{
	const Profile *p = &s->m->job->profile;
	double		pairs = (double) s->buckets.n;
	int			halves = s->m->backend->halves;
	double		round = s->round_seconds / fmax(s->rounds_made, 1);
	double		start = fmax((s->pair_seconds - s->round_seconds) / pairs, 0);
	double		noise = values_median(&s->seen.noise);
	double		between = luck(s);
	double		stay = between > 0 && pairs >= STAY_FROM
		? sqrt(start / round * noise / between) / halves : INFINITY;

	/* traps of a GPU come with rounds; with a single look, no width ends a measurement early */
	if (!s->m->gpu && p->nlooks > 1)
		stay = fmin(stay, enough_rounds(s, between, start, round));
	if (s->share == 1)
		s->whole = fmin(s->whole_half * (s->m->gpu ? UNSTEADY_STAY : 1),
						s->rounds_made / pairs / halves);
	if (s->whole <= LEAST_STAY || isnan(stay))
		return;
	stay = fmax(LEAST_STAY, 2 * ceil(stay / 2));
	s->share = fmin(1, (start + halves * stay * round) / (start + halves * s->whole * round));
	s->rounds_a_half = s->share < 1 ? (int) stay : s->whole_half;
	if (!s->m->gpu && pairs < p->looks[0])
		return;
	s->audits_a_half = (int) ceil(s->share * s->whole_audits);
	s->steps_a_half = (int) ceil(s->share * s->whole_steps);
}

/*
 * Whether the reward will be below 1.00 whatever follows, and the interval is narrow enough to say
 * how slow the code is.
 */
static bool
is_futile(const Rounds *s, double goal)
{
	const Profile *p = &s->m->job->profile;

	return p->futility_pairs > 0 && cudal1_score_conservative_round(s->upper) < 1
		&& s->half_width <= fmax(2 * p->precision_goal, goal);
}

/*
 * A single look leaves no confidence for others. Two halves can't tell whether a candidate slows
 * the reference in one of them, so where that was slower it takes a third.
 */
static bool
is_narrow(const Rounds *s, double goal)
{
	const Profile *p = &s->m->job->profile;

	if (p->nlooks < 2 || (int) s->buckets.n < p->looks[0]
		|| (s->seen.slowed > 0 && s->buckets.n < SLOWED_PAIRS))
		return false;
	return s->half_width <= fmax(p->precision_goal, goal)
		|| (heat_seconds(s->m) > ENOUGH_SECONDS && p->half_width_limit > 0
			&& s->half_width <= fmax(p->half_width_limit, goal));
}

/* the same pairs, each with one reference for both */
static bool
has_same_pairs(const Rounds *a, const Rounds *b)
{
	return b->m && a->buckets.n == b->buckets.n && a->seen.pair.n == b->seen.pair.n
		&& memcmp(a->seen.pair.v, b->seen.pair.v, a->seen.pair.n * sizeof(double)) == 0;
}

/*
 * By the spread of all members that have had the same pairs; or by what the task's earlier
 * measurements know of it, if that may count; or by its own
 */
static void
find_interval(Rounds *s, bool known)
{
	const Job  *job = s->m->job;
	const Profile *p = &job->profile;
	json_t	   *evidence = s->m->result->evidence;
	const double *buckets[HEAT_MAX] = {NULL};
	size_t		members = 0;
	size_t		which = 0;

	json_object_del(evidence, "spread_of");
	json_object_del(evidence, "spread_known");
	for (int i = 0; i < s->nheat; i++)
		if (has_same_pairs(s, &s->heat[i]))
		{
			which = &s->heat[i] == s ? members : which;
			buckets[members++] = s->heat[i].buckets.v;
		}
	if (cudal1_score_set_interval(buckets, members, s->buckets.n, which, p->confidence, p->nlooks,
								  &s->lower, &s->upper, &s->half_width))
		json_object_set_new(evidence, "spread_of", json_integer((int) members));
	else if (known && members == 1
			 && cudal1_score_known_interval(s->buckets.v, s->buckets.n, job->spread,
											job->spread_freedom, p->confidence, p->nlooks,
											&s->lower, &s->upper, &s->half_width))
		json_object_set_new(evidence, "spread_known", json_real(job->spread_freedom));
	else
		cudal1_score_interval(s->buckets.v, s->buckets.n, p->confidence, p->nlooks, &s->lower,
							  &s->upper, &s->half_width);
}

Stopping
stopping_rule(Rounds *s)
{
	const Profile *p = &s->m->job->profile;
	int			pairs = (int) s->buckets.n;
	bool		look;
	bool		last;
	double		slope;

	s->worth += s->share;
	if (pairs < 2)
		return STOPPING_NOT;
	find_interval(s, p->precision_goal > 0);
	if (p->precision_goal <= 0)
		return pairs >= p->pairs ? STOPPING_DONE : STOPPING_NOT;
	look = s->worth > p->looks[s->looks] - s->share / 2;
	last = look && ++s->looks == p->nlooks;
	slope = p->precision_slope * fabs(log(values_median(&s->buckets)));
	if ((look || pairs == p->futility_pairs) && is_futile(s, slope))
		return STOPPING_FUTILE;
	s->over_budget = pairs >= BUDGET_PAIRS && stopping_over_budget(s);
	if (is_narrow(s, slope))
		return STOPPING_DONE;
	if (s->over_budget || last || clock_now() - s->started > p->window_seconds)
	{
		/* codes of others can't have widened its own, and it ends for another reason */
		find_interval(s, false);
		return STOPPING_DONE;
	}
	/* A/A pairs are as long as the candidate's, or they would spread less; a heat has one length */
	if ((look || pairs == STAY_FROM || (pairs == ENOUGH_FROM && !s->m->gpu)) && !s->aa
		&& s->m->nmembers == 1)
		choose_stay(s);
	return STOPPING_NOT;
}
