/*
 * rounds.c
 *		Pairs until there are enough of them, and the verdict.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/gpu/cuda.h"
#include "supervisor/heat.h"
#include "supervisor/timing/rounds.h"
#include "supervisor/timing/timing.h"

/* how much less alike blocks may be than those that the times of a pair ask for */
#define UNEVEN_BLOCKS	1.5
#define MAX_RESIZED		3		/* times in a measurement */
#define UNEVEN_LAST		4.0		/* the same, once blocks are no longer resized */
#define MAX_UNEVEN		3		/* pairs that don't count then, before the measurement ends */

/*
 * Makes a pair. A pair whose blocks turn out to be uneven doesn't count, and blocks are sized anew.
 * Sizes come from first times, which are of few runs on inputs that come again: code that keeps its
 * results, or recognises those inputs, would have blocks much longer than its reference's.
 */
static bool
pair_of_like_blocks(Rounds *s, bool *counts)
{
	Seen		before = s->seen;
	uint32_t	runs[2];
	double		time[2];

	*counts = true;
	if (!rounds_pair(s))
		return false;
	for (int side = 0; side < 2; side++)
		time[side] = cudal1_score_median(s->seen.times[side].v + before.times[side].n,
										 s->seen.times[side].n - before.times[side].n);
	plan_blocks(s, time, runs);
	if (plan_unevenness(s->runs, time) <= (s->resized < MAX_RESIZED ? UNEVEN_BLOCKS : UNEVEN_LAST)
		* plan_unevenness(runs, time))
		return true;
	*counts = false;
	s->least = fmin(s->least, s->seen.plain.v[s->seen.plain.n - 1]);
	seen_take_back(&s->seen, &before);
	rounds_choose_buckets(s);
	json_array_remove(s->m->result->samples, json_array_size(s->m->result->samples) - 1);
	if (s->resized >= MAX_RESIZED)
		return s->uneven++ < MAX_UNEVEN || verdict_uneven(s);
	json_object_set_new(s->m->result->evidence, "resized",
						json_pack("[i, i, i, i]", (int) s->runs[0], (int) s->runs[1], (int) runs[0],
								  (int) runs[1]));
	s->resized++;
	memcpy(s->m->time, time, sizeof(time));
	plan_end(s);
	return plan_rounds(s);
}

/* frees all but the buckets, which belong to the result */
static void
forget(Rounds *s)
{
	for (size_t i = 0; i < SEEN_LISTS; i++)
		free(((Values *) &s->seen)[i].v);
	for (int i = 0; i < 2; i++)
	{
		free(s->audit[i].v);
		free(s->late_runs[i].v);
		for (int kind = 0; kind < STEPS; kind++)
			free(s->steps[i][kind].v);
	}
	free(s->audit_more.v);
	free(s->loop.v);
	free(s->late_idle.v);
}

static void
measure_member(Measure *m)
{
	Rounds		s = {.m = m, .budget = INFINITY, .lower = NAN, .upper = NAN, .half_width = NAN,
		.least = INFINITY};
	Stopping	stop = STOPPING_NOT;
	bool		left;

	arena_init(&s.arena);
	s.started = clock_now();
	measure_progress(m, "calibrating", 0, 0, NAN, NAN, NAN, NAN, true);
	if (!plan_rounds(&s))
		goto end;
	s.budget = stopping_budget(&s);
	while (stop == STOPPING_NOT)
	{
		bool		counts;

		if ((aa_due(&s) && !aa_pair(&s)) || !pair_of_like_blocks(&s, &counts))
			goto end;
		if (!counts)
			continue;
		stop = stopping_rule(&s);
		rounds_show(&s, true);
	}
	left = stop == STOPPING_FUTILE;
	if ((left || !verdict_asks_aa(&s, s.half_width) || aa_complete(&s)) && more_comparisons(&s)
		&& more_audits(&s)
		&& more_traps(&s))
		verdict_conclude(&s, left);
end:
	m->result->pairs = (int) s.buckets.n;
	m->result->rounds = s.seen.rounds;
	m->result->audits = s.audits;
	m->result->buckets = s.buckets.v;
	m->result->reference_seconds = values_median(&s.seen.times[SIDE_REFERENCE]);
	m->result->candidate_seconds = values_median(&s.seen.times[SIDE_CANDIDATE]);
	if (s.has_kept_candidate)
		measure_end(m, &s.kept_candidate);
	plan_end(&s);
	forget(&s);
	if (s.aa)
	{
		if (s.aa->has_kept_candidate)
			measure_end(m, &s.aa->kept_candidate);
		free(s.aa->buckets.v);
		forget(s.aa);
		free(s.aa);
	}
}

void
rounds_run(Measure *m)
{
	for (int i = 0; heat_next(m, &i); i++)
		measure_member(m);
}
