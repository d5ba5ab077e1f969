/*
 * judge.c
 *		Whether a half was disturbed: by others, or by a candidate that slows the reference.
 */
#include <stdlib.h>

#include "supervisor/backend.h"
#include "supervisor/timing/set.h"

/* by what is none of the set's processes */
static bool
is_foreign(const Set *set)
{
	Measure    *m = set->of[0]->m;
	Executor   *ours[1 + HEAT_MAX] = {set->half[0]->executor[SIDE_REFERENCE]};

	for (int i = 0; i < set->n; i++)
		ours[1 + i] = set->half[i]->executor[SIDE_CANDIDATE];
	return m->backend->disturbed && m->backend->disturbed(m, ours, 1 + set->n);
}

/* the reference's time alone, when all candidates have ended */
static bool
time_again(const Set *set, Values *alone)
{
	set_end_candidates(set);
	set_enter_all(set);
	return baseline_time_again(set->of[0], set->half[0], alone);
}

/*
 * Whether the reference meets another, once more, where it seems slowed. On a GPU it does so once,
 * as making a context takes long. On a CPU it has met one in the first half, where a busy host may
 * have hidden what that does.
 */
static bool
may_meet(const Rounds *s)
{
	return s->m->gpu ? s->nmet == 0 && s->neighbour == 0 : s->nmet > 0 && s->nmet < MAX_MET;
}

/*
 * If a member seems to slow the reference, lets that meet a second reference in the place of
 * candidates, which have ended. Its time alone is taken anew, because what they leave behind, as
 * heat, would pass for what a neighbour does. On a CPU that counts for the half as well.
 */
static bool
explain_slower(Set *set, Values *alone)
{
	Rounds	   *first = set->of[0];
	Half	   *half = set->half[0];
	Values		now = {0};
	bool		slowed = false;
	bool		good;

	for (int i = 0; i < set->n && !slowed && may_meet(first); i++)
		slowed = set_enter(set, i) && baseline_is_slowed(set->of[i], set->half[i], alone);
	if (!slowed)
		return true;
	good = time_again(set, &now) && baseline_meet_neighbour(first, half, &now);
	for (size_t i = 0; i < now.n && !first->m->gpu; i++)
		values_append(alone, now.v[i]);
	free(now.v);
	set_lend(set);
	return good;
}

/*
 * PyTorch's allocator gives back all that it keeps where its pool has too little left, and waits
 * for the GPU meanwhile, so code whose pool was too small was slowed. A set of several whose
 * reference had too little makes its pair again, and a member that had too little in rounds leaves
 * the set. Where there is no set, later pairs have larger pools. False after measure_dissolve()
 */
static bool
pools_sufficed(Set *set)
{
	Rounds	   *first = set->of[0];
	Measure    *m = first->m;
	bool		short_of = executor_pool_refused(set->half[0]->executor[SIDE_REFERENCE])
		> m->reference.pool_refused;

	for (int i = 0; i < set->n; i++)
	{
		const Half *half = set->half[i];

		if (executor_pool_refused(half->executor[SIDE_CANDIDATE]) <= half->refused)
			continue;
		set->of[i]->pool_short = true;
		/* not for what the reference in its place had */
		if (!m->aa)
			set->of[i]->member->by_itself = true;
	}
	first->pool_short = first->pool_short || short_of;
	if (set->n == 1 || !short_of)
		return true;
	m->pools_short++;
	return measure_dissolve(m, "the pool of the reference was too small");
}

/*
 * Whether the half is disturbed, by another process on the device or by a candidate, which may slow
 * the reference. At the last attempt the half of one candidate is priced instead, and a set of
 * several dissolves.
 */
bool
judge_half(Set *set, int half_number, Values *alone, bool *disturbed)
{
	Rounds	   *first = set->of[0];
	Half	   *half = set->half[0];
	Measure    *m = first->m;
	const Profile *p = &m->job->profile;
	bool		foreign = is_foreign(set) && p->precision_goal > 0;
	double		core;

	/* a member's results are copied from now on, and the reference's were not */
	for (int i = 1; i < set->n; i++)
		if (set->of[i]->member->taken != first->member->taken)
			return measure_dissolve(m, "results of one member are copied from now on");
	if (!pools_sufficed(set))
		return false;
	*disturbed = foreign;
	if (foreign)
		first->attempts = p->disturbed_attempts;
	if (p->precision_goal > 0 && half_number == 1 && !time_again(set, alone))
		return false;
	if (alone->n == 0 || p->precision_goal <= 0 || half->block[SIDE_REFERENCE].n < 4)
		return true;
	core = baseline_core_slower(half, alone);
	for (int i = 0; i < set->n; i++)
		if (set_enter(set, i))
		{
			set->of[i]->core = core;
			baseline_note_beside(set->of[i], set->half[i], alone);
		}
	/* another guest has come to the core since */
	for (size_t i = 0; i < alone->n; i++)
		alone->v[i] *= core;
	if (!explain_slower(set, alone))
		return false;
	for (int i = 0; m->gpu && i < set->n; i++)
		if (set_enter(set, i))
		{
			baseline_cap(set->of[i], set->half[i], alone);
			if (set->n > 1 && baseline_far_slower(set->of[i], set->half[i], alone))
				return measure_dissolve(m, "the reference is far slower beside the set than alone");
		}
	if (!m->gpu && baseline_is_slowed(first, half, alone))
	{
		*disturbed = true;
		if (first->disturbed + 1 < first->attempts)
			return true;
		if (set->n > 1)
			return measure_dissolve(m, "the reference is slower beside the set than alone");
		baseline_price(first, half, alone);
		first->priced++;
	}
	return true;
}
