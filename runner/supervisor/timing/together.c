/*
 * together.c
 *		Pairs of a heat's members, together where they can share a reference.
 *
 * A set of several judges a member by nothing but its own outputs. Whatever else is unusual
 * dissolves the set: the reference fails or is slowed, a process is awake, a limit of time is
 * passed, a process is killed. Then nothing of the pair counts, and each member makes a pair by
 * itself, where the culprit is found and priced. A member that slows the reference there shares no
 * more. A heat whose sets dissolve time and again makes no more sets.
 */
#define _GNU_SOURCE
#include <math.h>

#include "supervisor/backend.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/heat.h"
#include "supervisor/timing/set.h"

#define MEMORY_TIMES	2.0		/* of what code had in its checks, that it may have in a set */
#define MEMORY_LEAST	268435456.0	/* bytes of that */
#define GREEDY_TIMES	4		/* what the reference wants: code that wants more shares no set */
/* of the most that code took in its checks beside its outputs */
#define SET_POOL_TIMES	1.3
#define SET_POOL_SPARE	268435456.0	/* bytes */
#define MAX_DISSOLVED	2		/* sets of a heat, before its members go on each by itself */

/* bytes that a process of this code may want in a set */
static double
memory_wanted(const Measure *m, const Code *code)
{
	return fmin(fmax(MEMORY_TIMES * (double) code->added, MEMORY_LEAST),
				(double) m->job->profile.memory_mb * 1048576);
}

/*
 * How many processes the host's memory holds. Profiles let a process
 * have gigabytes, of which most code needs next to nothing. In a set each may have its share of the
 * host's memory, which is at least twice what any of them had in its checks. Code that wants more
 * fails there, and is measured by itself, and so is code that would leave too little for others.
 */
static double
host_processes(const Measure *m)
{
	double		of_reference = memory_wanted(m, &m->reference);
	double		most = of_reference;

	for (int i = 0; i < m->nmembers; i++)
	{
		double		wanted = memory_wanted(m, &m->members[i].code);

		if (wanted > GREEDY_TIMES * of_reference)
			m->members[i].by_itself = true;
		else
			most = fmax(most, wanted);
	}
	return heat_host_memory() / most;
}

/*
 * Members run the same inputs, so one could tell another its answers. Audits, whose inputs no mate
 * runs, bound what that is worth. On a CPU blocks of one run have none.
 */
static bool
is_bounded(const Rounds *s)
{
	return s->m->gpu || s->m->job->profile.audits == 0 || s->audits_a_half > 0;
}

static bool
alike(const Rounds *a, const Rounds *b)
{
	return !a->member->by_itself && !b->member->by_itself && is_bounded(a) && is_bounded(b)
		&& a->runs[SIDE_REFERENCE] == b->runs[SIDE_REFERENCE]
		&& a->member->taken == b->member->taken;
}

/* of a GPU, what code takes beside its slots: its pool, and what lies outside of it */
static double
pool_wanted(const Rounds *s, const Code *code)
{
	double		beside = (double) code->pool_used - code->pool_runs * plan_run_bytes(s->m);
	double		times = 1 + s->m->pools_short;

	if (s->m->job->language != LANGUAGE_PYTORCH)
		return 0;
	return plan_pool_room(s, times * (s->member->taken ? TAKEN_BLOCKS : 1),
						  times * (SET_POOL_TIMES * fmax(beside, 0) + SET_POOL_SPARE));
}

static double
wanted(const Rounds *s, const Code *code)
{
	return pool_wanted(s, code) + (double) code->gpu_bytes;
}

/*
 * How many processes a GPU's memory holds, of members that can share a reference with the first.
 * What they take was seen in their checks. One that takes far more than the reference would leave
 * too little for the others.
 */
static double
gpu_processes(Rounds *first, Rounds *members, int n)
{
	Measure    *m = first->m;
	double		pool = pool_wanted(first, &m->reference);
	double		process = (double) m->reference.gpu_bytes;
	double		slots = 0;
	double		slot = (double) (m->input_slot_bytes + m->output_slot_bytes);
	double		kept = 0;

	heat_enter_all(m);
	gpu_pools_give_back(m);
	for (int i = 0; i < n; i++)
	{
		Rounds	   *s = &members[i];

		if (!s->m || !set_is_left(s) || !alike(first, s))
			continue;
		if (wanted(s, &s->member->code) > GREEDY_TIMES * wanted(s, &m->reference))
		{
			s->member->by_itself = true;
			continue;
		}
		pool = fmax(pool, fmax(pool_wanted(s, &s->member->code), pool_wanted(s, &m->reference)));
		process = fmax(process, (double) s->member->code.gpu_bytes);
		slots = fmax(slots, s->slots);
		kept = fmax(kept, s->kept_max * (double) m->output_bytes);
	}
	m->gpu->set_pool_bytes = (size_t) pool;
	return (GPU_SHARE * (double) gpu_memory_left(m)
			- (slots + GPU_LATE_RUNS) * (double) m->input_slot_bytes)
		/ (process + pool + slots * slot + kept + 1);
}

/* how many members' processes the memory of host and device holds beside the reference */
static int
most_members(Rounds *first, Rounds *members, int n)
{
	double		processes = host_processes(first->m);

	if (first->m->gpu)
		processes = fmin(processes, gpu_processes(first, members, n));
	return processes < 3 ? 1 : processes > HEAT_MAX ? HEAT_MAX : (int) processes - 1;
}

bool
together_choose(Set *set, Rounds *members, int n)
{
	Rounds	   *first = NULL;
	int			most;
	int			left = 0;

	set->n = 0;
	for (int i = n - 1; i >= 0; i--)
		if (members[i].m && set_is_left(&members[i]))
			first = &members[i];
	if (!first)
		return false;
	most = heat_left(first->m) > 1 ? most_members(first, members, n) : 1;
	for (int i = 0; i < n; i++)
		left += members[i].m && set_is_left(&members[i])
			&& (&members[i] == first || alike(first, &members[i]));
	/* sets of the same size, where memory does not hold all */
	most = (left + (left + most - 1) / most - 1) / ((left + most - 1) / most);
	for (int i = 0; i < n && set->n < most; i++)
		if (&members[i] == first
			|| (members[i].m && set_is_left(&members[i]) && alike(first, &members[i])))
		{
			Rounds	   *s = &members[i];

			set->half[set->n] = NULL;
			set->of[set->n++] = s;
			/* the memory is that of the longest block */
			if (s->slots > set->of[0]->slots)
			{
				set->of[set->n - 1] = set->of[0];
				set->of[0] = s;
			}
		}
	return true;
}

static void
free_memory(const Set *set)
{
	set_take_back(set);
	for (int i = 0; i < set->n; i++)
		plan_end(set->of[i]);
}

void
together_spare_memory(Rounds *s)
{
	if (s->m->nmembers > 1)
		plan_end(s);
}

/* what was spent on the set is its members' */
static void
share(const Set *set)
{
	Member	   *members[HEAT_MAX];

	for (int i = 0; i < set->n; i++)
		members[i] = set->of[i]->member;
	heat_share_among(set->of[0]->m, members, set->n);
}

/* each by itself; one in which the reference is slowed stays so */
static bool
pair_alone(Rounds *s)
{
	Set			one = set_of_one(s, NULL);
	int			priced = s->priced;
	int			slowed = s->seen.slowed;
	bool		good;

	set_enter(&one, 0);
	good = plan_memory(s) && rounds_pair(&one);
	s->member->by_itself = s->member->by_itself || s->priced > priced || s->seen.slowed > slowed;
	together_spare_memory(s);
	return good;
}

/* a pair that all share; false: it does not count, or no member is left */
static bool
pair_together(Set *set)
{
	Measure    *m = set->of[0]->m;
	bool		good = true;

	heat_live_together(m, set->n);
	set_enter_all(set);
	for (int i = 0; i < set->n && good; i++)
		good = i == 0 ? plan_memory(set->of[0]) : plan_kept(set->of[i]);
	good = good && rounds_pair(set);
	m->shares = 0;
	/* the last of them is current, and would pay for all that ends now */
	set_enter_all(set);
	free_memory(set);
	share(set);
	good = good && !m->dissolved;
	for (int i = 0; i < set->n && good; i++)
		json_object_set_new(set->of[i]->member->result.evidence, "together", json_integer(set->n));
	for (int i = 0; i < set->n; i++)
	{
		if (good && set_has(set, i))
			continue;
		seen_take_back(&set->of[i]->seen, &set->of[i]->before);
		if (set_is_left(set->of[i]))
		{
			heat_enter(m, set->of[i]->member);
			rounds_choose_buckets(set->of[i]);
		}
	}
	return good;
}

/* why a member's pairs were no longer shared, each time */
static void
note_dissolved(const Rounds *s)
{
	json_t	   *evidence = s->member->result.evidence;
	json_t	   *why = json_object_get(evidence, "dissolved");

	if (!why)
		json_object_set_new(evidence, "dissolved", why = json_array());
	json_array_append_new(why, json_string(s->m->dissolved_by));
}

bool
together_pair(Set *set)
{
	Measure    *m = set->of[0]->m;
	Set			left = {.n = 0};

	for (int i = 0; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		s->before = s->seen;
		if (s->pair_seconds == 0)
			s->started = clock_now();
	}
	if (set->n == 1)
		return pair_alone(set->of[0]);
	if (pair_together(set))
	{
		for (int i = 0; i < set->n; i++)
			if (set_has(set, i))
				left.of[left.n++] = set->of[i];
		*set = left;
		return true;
	}
	for (int i = 0; i < set->n; i++)
		note_dissolved(set->of[i]);
	heat_live_apart(m);
	if (executor_cancelled)
	{
		set_enter_all(set);
		return conclude(m, OUTCOME_CANCELLED, NULL);
	}
	m->sets_dissolved++;
	for (int i = 0; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		if (!set_is_left(s))
			continue;
		s->member->by_itself = s->member->by_itself || m->sets_dissolved >= MAX_DISSOLVED;
		if (pair_alone(s))
			left.of[left.n++] = s;
	}
	*set = left;
	return left.n > 0;
}
