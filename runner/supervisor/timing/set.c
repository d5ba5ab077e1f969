/*
 * set.c
 *		Members of a heat whose pairs share one reference.
 *
 * A round of a set has one block of the reference and one of each member, on the same inputs, so n
 * candidates take n + 1 blocks where pairs of their own take 2 n, and one start of the reference.
 * Each member has its own process, buckets, audits and verdict. In audits nothing is shared: they
 * are made on inputs that no other member has run.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "supervisor/heat.h"
#include "supervisor/session.h"
#include "supervisor/timing/set.h"

bool
set_is_left(const Rounds *s)
{
	return s->member->result.outcome == OUTCOME_NONE;
}

bool
set_has(const Set *set, int place)
{
	const Rounds *s = set->of[place];

	return set_is_left(s) && (set->n == 1 || !s->member->by_itself);
}

static void
enter(Measure *m, Member *member)
{
	if (m->member != member)
		heat_enter(m, member);
}

Set
set_of_one(Rounds *s, Half *half)
{
	return (Set) {.n = 1, .of = {s}, .half = {half}};
}

bool
set_enter(const Set *set, int place)
{
	Rounds	   *s = set->of[place];

	if (set->n > 1 && !set_has(set, place))
		return false;
	enter(s->m, s->member);
	return true;
}

void
set_enter_all(const Set *set)
{
	Rounds	   *first = set->of[0];
	Measure    *m = first->m;

	if (set->n == 1)
	{
		enter(m, first->member);
		return;
	}
	/* blocks of the reference are as the first member's */
	memcpy(m->all.time, first->member->time, sizeof(m->all.time));
	m->all.taken = first->member->taken;
	enter(m, &m->all);
}

bool
set_goes_on(const Set *set)
{
	Measure    *m = set->of[0]->m;
	int			left = 0;

	for (int i = 0; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		left += set_has(set, i);
		if (set_has(set, i) || !set->half[i]->executor[SIDE_CANDIDATE]->hostile)
			continue;
		enter(m, s->member);
		measure_end(m, set->half[i]->executor[SIDE_CANDIDATE]);
	}
	return left > 0 && set->n > 1 && !m->dissolved && !executor_cancelled;
}

void
set_lend(const Set *set)
{
	const Rounds *first = set->of[0];
	uint32_t	at_once = 0;

	for (int i = 0; i < set->n; i++)
		for (int side = 0; side < 2; side++)
			if (set->of[i]->runs[side] > at_once)
				at_once = set->of[i]->runs[side];
	for (int i = 0; i < set->n; i++)
		set->of[i]->at_once = at_once;
	for (int i = 1; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		s->arena = first->arena;
		s->arena.place = i + 1;
		s->order = first->order;
		s->seeds = first->seeds;
		s->kept[SIDE_REFERENCE] = first->kept[SIDE_REFERENCE];
		s->weights = first->weights;
		s->settling = first->settling;
		s->taking = first->taking;
		s->neighbour = first->neighbour;
		s->doubt = first->doubt;
		s->alone = first->alone;
	}
	for (int i = 1; i < set->n && set->half[0]; i++)
	{
		const Half *from = set->half[0];
		Half	   *half = set->half[i];

		half->executor[SIDE_REFERENCE] = from->executor[SIDE_REFERENCE];
		half->turn = from->turn;
		half->read_turned = from->read_turned;
		half->warm_inputs = from->warm_inputs;
		half->taking = from->taking;
	}
}

void
set_take_back(const Set *set)
{
	for (int i = 1; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		arena_init(&s->arena);
		s->order = NULL;
		s->seeds = NULL;
		s->kept[SIDE_REFERENCE] = NULL;
	}
}

uint8_t *
set_orders(const Set *set, uint32_t rounds)
{
	Measure    *m = set->of[0]->m;
	int			sides = set->n + 1;
	uint8_t    *orders = calloc((rounds + 1) / 2 * 2, (size_t) sides);

	for (uint32_t r = 0; orders && r < rounds; r += 2)
	{
		uint8_t    *order = orders + r * (uint32_t) sides;

		for (int i = 0; i < sides; i++)
		{
			int			j = (int) random_below(&m->random, (uint64_t) i + 1);

			order[i] = order[j];
			order[j] = (uint8_t) i;
		}
		for (int i = 0; i < sides; i++)
			order[sides + i] = order[sides - 1 - i];
	}
	return orders;
}

void
set_end_candidates(const Set *set)
{
	for (int i = 0; i < set->n; i++)
		executor_kill(set->half[i]->executor[SIDE_CANDIDATE]);
	for (int i = 0; i < set->n; i++)
	{
		set_enter(set, i);
		measure_end(set->of[0]->m, set->half[i]->executor[SIDE_CANDIDATE]);
	}
}
