/*
 * aa.c
 *		Pairs of the reference with itself, for a candidate whose interval is wide.
 *
 * A wide interval that reaches below 1 is paid at the end nearer to 1, so a candidate slower than
 * the reference would gain by being unsteady. A/A pairs show how wide an interval of this task is
 * on this host now. They follow the same protocol with the reference on both sides, in processes
 * and memory of their own, while no process of the candidate lives. They are made between the
 * candidate's pairs, as soon as these foresee a wide interval, because a host's noise comes and
 * goes within minutes. Those that are missing at the end are made then.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/timing/set.h"

#define AA_FROM		3			/* pairs of the candidate's, before which nothing is foreseen */

/* those that another member of the heat has made serve all whose references have the same blocks */
static void
find(Rounds *s)
{
	Rounds	   *of_heat = s->m->aa_pairs;

	if (!s->aa && of_heat && of_heat->runs[SIDE_REFERENCE] == s->runs[SIDE_REFERENCE])
		s->aa = of_heat;
}

/* blocks as the reference's of the candidate's pairs, and as many of them */
static bool
begin(Rounds *s)
{
	find(s);
	if (!s->aa)
	{
		s->aa = calloc(1, sizeof(*s->aa));
		if (!s->aa)
			return conclude(s->m, OUTCOME_LOST, "no memory");
		s->aa->m = s->m;
		s->aa->started = s->started;
		if (!s->m->aa_pairs)
			s->m->aa_pairs = s->aa;
	}
	s->aa->of = s;
	s->aa->member = s->member;
	s->aa->budget = s->budget;
	s->aa->arena = s->arena;
	s->aa->runs[0] = s->aa->runs[1] = s->runs[SIDE_REFERENCE];
	s->aa->most = s->most;
	s->aa->slots = s->slots;
	s->aa->order = s->order;
	s->aa->seeds = s->seeds;
	s->aa->kept[0] = s->kept[0];
	s->aa->kept[1] = s->kept[1];
	s->aa->kept_max = s->kept_max;
	s->aa->rounds_a_half = s->rounds_a_half;
	s->aa->share = s->share;
	return true;
}

/*
 * makes one more A/A pair; nothing but its ratio is kept, because the rest is not the candidate's
 */
bool
aa_pair(Rounds *s)
{
	Measure    *m = s->m;
	Result		before = *m->result;
	double		checked = m->member->checked_seconds;
	double		time = m->time[SIDE_CANDIDATE];
	Set			one;
	bool		good;

	if (!plan_memory(s) || !begin(s))
		return false;
	one = set_of_one(s->aa, NULL);
	s->fresh = false;
	m->result->evidence = json_object();
	m->result->samples = NULL;
	m->time[SIDE_CANDIDATE] = m->time[SIDE_REFERENCE];
	m->aa = true;
	good = rounds_pair(&one);
	m->aa = false;
	s->arena = s->aa->arena;
	m->time[SIDE_CANDIDATE] = time;
	m->member->checked_seconds = checked;
	if (!good)
		json_object_set(before.evidence, "aa_failed", m->result->evidence);
	json_decref(m->result->evidence);
	json_decref(m->result->samples);
	m->result->evidence = before.evidence;
	m->result->samples = before.samples;
	m->result->checks = before.checks;
	m->result->max_error = before.max_error;
	return good;
}

/* whether the next pair is one of these: spread over all pairs to the last look */
bool
aa_due(Rounds *s)
{
	const Profile *p = &s->m->job->profile;
	size_t		last = stopping_last(s);
	size_t		made;
	size_t		every = last > AA_FROM + AA_PAIRS ? (last - AA_FROM) / AA_PAIRS : 1;

	find(s);
	made = s->aa ? s->aa->buckets.n : 0;
	return s->buckets.n >= AA_FROM && s->buckets.n < last && made < AA_PAIRS
		&& made * every <= s->buckets.n - AA_FROM
		&& verdict_asks_aa(s, cudal1_score_foreseen(s->buckets.v, s->buckets.n, last, p->confidence,
													p->nlooks));
}

void
aa_free(Rounds *aa)
{
	if (!aa)
		return;
	free(aa->buckets.v);
	rounds_forget(aa);
	free(aa);
}

/* those that are missing after the last look */
bool
aa_complete(Rounds *s)
{
	find(s);
	while (!s->aa || s->aa->buckets.n < AA_PAIRS)
	{
		if (stopping_over_budget(s))
			return true;
		if (!aa_pair(s))
			return false;
	}
	return true;
}
