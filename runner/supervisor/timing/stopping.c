/*
 * stopping.c
 *		When a measurement has pairs enough: looks, futility, the window and the budget.
 *
 * A look is a number of pairs at which the interval is compared with the goal. The interval is
 * computed for as many looks as the profile has, so stopping at one of them costs no confidence.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/heat.h"
#include "supervisor/timing/timing.h"

/* pairs that the budget does not end, because an interval of two says next to nothing */
#define BUDGET_PAIRS	3
/* wall time of a pair beside its processes' starts, in the clock time of its blocks */
#define WALL_OF_PAIR	2.0

/*
 * seconds that a measurement is worth: as the job says, by what its task took before, or what the
 * first look takes at the reference's speed
 */
double
stopping_budget(const Rounds *s)
{
	const Measure *m = s->m;
	const Profile *p = &m->job->profile;
	double		blocks = 4 * s->rounds_a_half * fmax(m->time[SIDE_REFERENCE],
													 fmin(p->block_seconds,
														  s->most * m->time[SIDE_REFERENCE]));
	double		pair = WALL_OF_PAIR * fmax(p->bucket_seconds, blocks) + 4 * m->start_time;

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

Stopping
stopping_rule(Rounds *s)
{
	const Profile *p = &s->m->job->profile;
	int			pairs = (int) s->buckets.n;
	bool		look = false;
	double		slope;

	if (pairs < 2)
		return STOPPING_NOT;
	cudal1_score_interval(s->buckets.v, s->buckets.n, p->confidence, p->nlooks, &s->lower,
						  &s->upper, &s->half_width);
	if (p->precision_goal <= 0)
		return pairs >= p->pairs ? STOPPING_DONE : STOPPING_NOT;
	for (int i = 0; i < p->nlooks; i++)
		look = look || pairs == p->looks[i];
	slope = p->precision_slope * fabs(log(values_median(&s->buckets)));
	if ((look || pairs == p->futility_pairs) && is_futile(s, slope))
		return STOPPING_FUTILE;
	s->over_budget = pairs >= BUDGET_PAIRS && stopping_over_budget(s);
	if (s->over_budget || pairs >= p->looks[p->nlooks - 1]
		|| clock_now() - s->started > p->window_seconds)
		return STOPPING_DONE;
	return look && s->half_width <= fmax(p->precision_goal, slope) ? STOPPING_DONE : STOPPING_NOT;
}
