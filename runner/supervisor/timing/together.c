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
#include <unistd.h>

#include "supervisor/backend.h"
#include "supervisor/heat.h"
#include "supervisor/timing/set.h"

#define MEMORY_SHARE	0.75	/* of the host's, that processes of a set may come to hold */
#define MAX_DISSOLVED	2		/* sets of a heat, before its members go on each by itself */

/* how many members' processes the host's memory holds beside the reference */
static int
most_members(const Measure *m)
{
	double		memory = (double) sysconf(_SC_PHYS_PAGES) * (double) sysconf(_SC_PAGESIZE);
	double		processes = MEMORY_SHARE * memory / ((double) m->job->profile.memory_mb * 1048576);

	/* two contexts at most share an arena's sides on a GPU */
	return m->gpu || processes < 3 ? 1 : processes > HEAT_MAX ? HEAT_MAX : (int) processes - 1;
}

static bool
alike(const Rounds *a, const Rounds *b)
{
	return !a->by_itself && !b->by_itself && a->runs[SIDE_REFERENCE] == b->runs[SIDE_REFERENCE]
		&& a->member->taken == b->member->taken;
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
	for (int i = 0; i < n; i++)
		left += members[i].m && set_is_left(&members[i])
			&& (&members[i] == first || alike(first, &members[i]));
	/* sets of the same size, where memory does not hold all */
	most = most_members(first->m);
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
	if (s->m->nmembers > 1 && !s->m->backend->keeps_candidate)
		plan_end(s);
}

/* what was spent on the set is its members' */
static void
share(Set *set)
{
	Measure    *m = set->of[0]->m;

	for (int i = 0; i < m->nmembers; i++)
		m->members[i].waits = true;
	for (int i = 0; i < set->n; i++)
		set->of[i]->member->waits = false;
	heat_share(m);
	for (int i = 0; i < m->nmembers; i++)
		m->members[i].waits = false;
}

/* each by itself; one in which the reference is slowed stays so */
static bool
pair_alone(Rounds *s)
{
	Set			one = set_of_one(s, NULL);
	int			priced = s->priced;
	bool		good;

	set_enter(&one, 0);
	good = plan_memory(s) && rounds_pair(&one);
	s->by_itself = s->by_itself || s->priced > priced;
	together_spare_memory(s);
	return good;
}

/* a pair that all share; false: it does not count, or no member is left */
static bool
pair_together(Set *set)
{
	Measure    *m = set->of[0]->m;
	bool		good = true;

	m->shares = true;
	set_enter_all(set);
	for (int i = 0; i < set->n && good; i++)
		good = i == 0 ? plan_memory(set->of[0]) : plan_kept(set->of[i]);
	good = good && rounds_pair(set);
	m->shares = false;
	free_memory(set);
	share(set);
	if (good && !m->dissolved)
		return true;
	for (int i = 0; i < set->n; i++)
	{
		seen_take_back(&set->of[i]->seen, &set->of[i]->before);
		if (set_enter(set, i))
			rounds_choose_buckets(set->of[i]);
	}
	return false;
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
		return true;
	m->dissolved = false;
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
		s->by_itself = s->by_itself || m->sets_dissolved >= MAX_DISSOLVED;
		if (pair_alone(s))
			left.of[left.n++] = s;
	}
	*set = left;
	return left.n > 0;
}
