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
#include "supervisor/timing/set.h"

/* how much less alike blocks may be than those that the times of a pair ask for */
#define UNEVEN_BLOCKS	1.5
#define MAX_RESIZED		3		/* times in a measurement */
#define UNEVEN_LAST		4.0		/* the same, once blocks are no longer resized */
#define MAX_UNEVEN		3		/* pairs that don't count then, before the measurement ends */
/* times as many runs as the reference's blocks have, that the times of a pair may ask for */
#define SHORT_BLOCKS	4

/*
 * Seconds of the reference's run, from which a heat's blocks get their sizes. Those before the
 * first pair are of one process, and a busy host may have made them far longer. They are mended in
 * steps of two, so that members that find about the same have the same blocks.
 */
static double
shared_time(double before, double now)
{
	double		steps = round(log2(now / before));

	return fabs(steps) < log2(SHORT_BLOCKS) ? before : ldexp(before, (int) steps);
}

/*
 * Whether the last pair counts. A pair whose blocks turn out to be uneven doesn't, nor one whose
 * blocks are far shorter than they can be, of which the constant cost of a block leaves nothing but
 * noise. Blocks are then sized anew. Sizes come from first times, which are of few runs on inputs
 * that come again: code that keeps its results, or recognises those inputs, would have blocks much
 * longer than its reference's. False after conclude()
 */
static bool
sizes_fit(Rounds *s, bool *counts)
{
	const Seen *before = &s->before;
	uint32_t	runs[2];
	double		time[2];

	for (int side = 0; side < 2; side++)
		time[side] = cudal1_score_median(s->seen.times[side].v + before->times[side].n,
										 s->seen.times[side].n - before->times[side].n);
	/* the reference's blocks stay much as they are, or it could be shared no more */
	if (s->m->nmembers > 1)
	{
		double		shared = shared_time(s->m->time[SIDE_REFERENCE], time[SIDE_REFERENCE]);

		time[SIDE_CANDIDATE] *= shared / time[SIDE_REFERENCE];
		time[SIDE_REFERENCE] = shared;
	}
	/* sizes that are shared change in steps, which are no reason to make a pair again */
	plan_longest(s, time, runs);
	*counts = plan_unevenness(s->runs, time) <= (s->resized < MAX_RESIZED ? UNEVEN_BLOCKS
												 : UNEVEN_LAST) * plan_unevenness(runs, time)
		&& (s->resized == MAX_RESIZED
			|| runs[SIDE_REFERENCE] < SHORT_BLOCKS * s->runs[SIDE_REFERENCE]);
	if (*counts)
		return true;
	s->least = fmin(s->least, s->seen.plain.v[s->seen.plain.n - 1]);
	seen_take_back(&s->seen, before);
	rounds_choose_buckets(s);
	json_array_remove(s->m->result->samples, json_array_size(s->m->result->samples) - 1);
	if (s->resized >= MAX_RESIZED)
		return s->uneven++ < MAX_UNEVEN || verdict_uneven(s);
	plan_blocks(s, time, runs);
	json_object_set_new(s->m->result->evidence, "resized",
						json_pack("[i, i, i, i]", (int) s->runs[0], (int) s->runs[1], (int) runs[0],
								  (int) runs[1]));
	s->resized++;
	memcpy(s->m->time, time, sizeof(time));
	plan_end(s);
	plan_rounds(s);
	return true;
}

/* plans a member's measurement */
static void
begin_member(Rounds *s, Measure *m)
{
	*s = (Rounds) {.m = m, .member = m->member, .budget = INFINITY, .lower = NAN, .upper = NAN,
		.half_width = NAN, .least = INFINITY};
	arena_init(&s->arena);
	measure_phase(m, "calibrating", true);
	plan_rounds(s);
	s->budget = stopping_budget(s);
}

/* after a pair, the member being current: the verdict, where it was the last */
static void
go_on(Rounds *s)
{
	bool		counts;
	Stopping	stop;

	if (!sizes_fit(s, &counts) || !counts)
		return;
	stop = stopping_rule(s);
	rounds_show(s, true);
	if (stop == STOPPING_NOT || !plan_memory(s))
		return;
	if ((stop == STOPPING_FUTILE || !verdict_asks_aa(s, s->half_width) || aa_complete(s))
		&& more_comparisons(s)
		&& more_audits(s)
		&& more_traps(s))
		verdict_conclude(s, stop == STOPPING_FUTILE);
}

static void
end_member(Rounds *s)
{
	Measure    *m = s->m;
	Result	   *r = &s->member->result;

	if (!m)
		return;
	heat_enter(m, s->member);
	r->pairs = (int) s->buckets.n;
	r->rounds = s->seen.rounds;
	r->audits = s->audits;
	r->buckets = s->buckets.v;
	r->reference_seconds = values_median(&s->seen.times[SIDE_REFERENCE]);
	r->candidate_seconds = values_median(&s->seen.times[SIDE_CANDIDATE]);
	plan_end(s);
	rounds_forget(s);
	if (s->aa != m->aa_pairs)
		aa_free(s->aa);
	s->m = NULL;
}

/*
 * A pair of each member that can share a reference, until all have a verdict. A/A pairs and all
 * that a verdict asks for after the last pair are each member's own.
 */
void
rounds_run(Measure *m)
{
	Rounds	   *members = calloc((size_t) m->nmembers, sizeof(*members));
	Set			set;
	int			n = 0;

	if (!members)
	{
		conclude(m, OUTCOME_LOST, "no memory");
		return;
	}
	for (int i = 0; heat_next(m, &i); i++)
		begin_member(&members[n++], m);
	for (int i = 0; i < n; i++)
	{
		members[i].heat = members;
		members[i].nheat = n;
	}
	while (heat_left(m) > 0 && together_choose(&set, members, n))
	{
		bool		good = true;

		for (int i = 0; i < set.n; i++)
			if (set_enter(&set, i) && aa_due(set.of[i]))
			{
				good = aa_pair(set.of[i]) && good;
				together_spare_memory(set.of[i]);
			}
		good = good && together_pair(&set);
		for (int i = 0; i < set.n && good; i++)
			if (set_is_left(set.of[i]))
			{
				heat_enter(m, set.of[i]->member);
				go_on(set.of[i]);
				together_spare_memory(set.of[i]);
			}
		for (int i = 0; i < n; i++)
			if (members[i].m && members[i].member->result.outcome != OUTCOME_NONE)
				end_member(&members[i]);
	}
	for (int i = 0; i < n; i++)
		end_member(&members[i]);
	aa_free(m->aa_pairs);
	m->aa_pairs = NULL;
	free(members);
}
