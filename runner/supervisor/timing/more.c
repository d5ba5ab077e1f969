/*
 * more.c
 *		What is made after the last pair: comparisons, audits and traps that a verdict lacks, in a
 *		pair of processes of their own.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "supervisor/timing/timing.h"

#define PATIENCE		4		/* times audit_seconds, of runs */
#define BUSY			3		/* times as long that these may take on a busy host */
#define MORE_TRAPS		32		/* to know what runs cost, at most */
#define TRAPS_AFTER_LATE	8	/* where one output was late, which proves nothing */

/* starts both sides; `warm`: as before timed blocks. False after conclude() */
static bool
begin_extra(Rounds *s, Half *half, uint64_t weights, bool warm)
{
	half_init(half);
	plan_moves(s);
	s->m->running = SPENT_WARM;
	for (int side = 0; side < 2; side++)
		if (!measure_launch(s->m, half->executor[side], side, side, &s->arena, weights)
			|| (warm && !baseline_warm(s, half, side)))
			return false;
	return true;
}

static void
end_extra(Rounds *s, Half *half)
{
	measure_end(s->m, half->executor[0]);
	measure_end(s->m, half->executor[1]);
}

static void
show_extra(const Rounds *s, const char *phase)
{
	measure_progress(s->m, phase, (int) s->buckets.n, s->seen.rounds, rounds_estimate(s), s->lower,
					 s->upper, NAN, false);
}

/*
 * Makes more audits, in a pair of their own: where a score matters that audits are too noisy to
 * confirm, and where there are too few to confirm any, because a half whose inputs take long to
 * make ends before all its audits are made.
 */
bool
more_audits(Rounds *s)
{
	double		seconds = PATIENCE * s->m->job->profile.audit_seconds;
	double		deadline = clock_now() + BUSY * seconds;
	double		until = s->m->result->clock_seconds + seconds;
	double		score = values_median(&s->buckets);
	Half		half;
	bool		clear;
	bool		matters = audit_matters(s, score);
	bool		good;
	uint64_t	weights = random_next(&s->m->random);

	audit_doubt(s, &clear);
	if (s->audits_a_half == 0 || (s->audit_more.n < MIN_AUDITS ? score <= 1 : clear || !matters))
		return true;
	good = begin_extra(s, &half, weights, true);
	s->m->running = SPENT_AUDIT;
	for (int i = 0;
		 good && (s->audit_more.n < MIN_AUDITS
				  || (matters && !clear && clock_now() < deadline
					  && s->m->result->clock_seconds < until));
		 i++)
	{
		good = rounds_audit(s, &half, i % 2 == 0);
		audit_doubt(s, &clear);
		show_extra(s, "auditing");
	}
	end_extra(s, &half);
	return good;
}

/* comparisons up to the profile's minimum, where the rounds gave fewer. A budget alone ends them */
bool
more_comparisons(Rounds *s)
{
	const Profile *p = &s->m->job->profile;
	Half		half;
	bool		good;

	if (s->m->result->checks >= p->min_checks)
		return true;
	good = begin_extra(s, &half, random_next(&s->m->random), false);
	s->m->running = SPENT_CHECK;
	while (good && s->m->result->checks < p->min_checks && !stopping_over_budget(s))
	{
		double		seconds;

		good = rounds_inputs(s, 1)
			&& rounds_block(s, &half, SIDE_REFERENCE, s->order, 1, 1, &seconds)
			&& rounds_block(s, &half, SIDE_CANDIDATE, s->order, 1, 1, &seconds)
			&& rounds_compare(s, 1);
		show_extra(s, "checking");
	}
	end_extra(s, &half);
	return good;
}

/*
 * Makes more traps until they tell what a run costs. Traps are drawn by lot, and those in which an
 * output came late don't tell it. An output may have been late in the last of them, so some more
 * follow that. Only a score above 1 needs it.
 */
bool
more_traps(Rounds *s)
{
	Half		half;
	bool		good;
	uint64_t	weights = random_next(&s->m->random);
	int			least = s->late > 0 ? TRAPS_AFTER_LATE : 0;

	if (!rounds_traps_due(s) || (least == 0 && verdict_steps_known(s))
		|| values_median(&s->buckets) <= 1)
		return true;
	good = begin_extra(s, &half, weights, true);
	s->m->running = SPENT_TRAP;
	for (int i = 0; good && i < MORE_TRAPS && (i < least || !verdict_steps_known(s)); i++)
	{
		good = rounds_trap(s, &half);
		show_extra(s, "auditing");
	}
	end_extra(s, &half);
	return good;
}
