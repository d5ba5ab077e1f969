/*
 * blocks.c
 *		Blocks of runs on fresh inputs, and comparing what they leave.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/timing.h"

void
rounds_shuffle(Rounds *s, uint32_t *v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--)
	{
		uint32_t	j = (uint32_t) random_below(&s->m->random, i);
		uint32_t	t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

double
rounds_timeout(const Rounds *s, Side side, uint32_t n)
{
	/* one run may take its limit; the others, ten times what they took before */
	return measure_run_limit(s->m) + 10 * n * s->m->time[side] + 1;
}

/*
 * One block of a side over `n` of the slots; keeps the outputs of its first `keep` slots, from
 * place `from` on. Its runs come in random order, so that their place in the block tells nothing of
 * which are kept, or of which the other side ran too. `staged`, if more: how many of the slots are
 * staged as if they would be run.
 */
bool
rounds_block_among(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n,
				   uint32_t staged, uint32_t keep, uint32_t from, double *seconds)
{
	Measure    *m = s->m;
	Executor   *executor = half->executor[side];
	uint32_t	at[WIRE_MAX_RUNS];
	uint32_t	shuffled[WIRE_MAX_RUNS] = {0};
	uint32_t	listed[WIRE_MAX_RUNS] = {0};
	uint64_t	seeds[WIRE_MAX_RUNS];

	for (uint32_t i = 0; i < n; i++)
		at[i] = i;
	rounds_shuffle(s, at, n);
	/* sampled runs end the block: work that an answer leaves behind is that of its last runs */
	for (uint32_t d = 0; m->gpu && d < 2 && d < m->gpu->drawn.n; d++)
		for (uint32_t i = 0; i < n; i++)
			if (slots[at[i]] == m->gpu->drawn.slot[d])
			{
				uint32_t	t = at[i];

				at[i] = at[n - 1 - d];
				at[n - 1 - d] = t;
				break;
			}
	for (uint32_t i = 0; i < n; i++)
	{
		shuffled[i] = slots[at[i]];
		seeds[i] = s->seeds[shuffled[i]];
	}
	if (staged > n)
	{
		memcpy(listed, slots, staged * sizeof(*slots));
		rounds_shuffle(s, listed, staged);
	}
	if (m->shares)
		measure_blank(m, &s->arena, shuffled, n);
	if (!measure_stage(m, &s->arena, side, staged > n ? listed : shuffled, staged > n ? staged : n)
		|| !measure_block(m, executor, side, shuffled, seeds, n, rounds_timeout(s, side, n),
						  seconds))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (at[i] < keep
			&& !measure_read(m, executor, side, &s->arena, i, shuffled[i],
							 s->kept[side] + (from + at[i]) * m->output_bytes))
			return false;
	return measure_poison(m, executor, side);
}

bool
rounds_block(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n, uint32_t keep,
			 double *seconds)
{
	return rounds_block_among(s, half, side, slots, n, n, keep, 0, seconds);
}

bool
rounds_move(Rounds *s, Half *half, Side side)
{
	double		seconds;

	return !s->m->moves_apart
		|| measure_block(s->m, half->executor[side], side, s->order, s->seeds, 0,
						 rounds_timeout(s, side, 1), &seconds);
}

bool
rounds_inputs(Rounds *s, uint32_t n)
{
	s->ahead = 0;
	for (uint32_t i = 0; i < s->slots; i++)
		s->order[i] = i;
	rounds_shuffle(s, s->order, s->slots);
	for (uint32_t i = 0; i < n; i++)
		s->seeds[s->order[i]] = random_next(&s->m->random);
	return measure_generate(s->m, &s->arena, s->order, n);
}

bool
rounds_inputs_ahead(Rounds *s, uint32_t n)
{
	if (!rounds_inputs(s, n))
		return false;
	for (uint32_t i = 0; i < s->slots / 2; i++)
	{
		uint32_t	t = s->order[i];

		s->order[i] = s->order[s->slots - 1 - i];
		s->order[s->slots - 1 - i] = t;
	}
	s->ahead = n;
	return true;
}

void
rounds_take_ahead(Rounds *s)
{
	uint32_t	at = s->slots - s->ahead--;
	uint32_t	t = s->order[at];

	s->order[at] = s->order[0];
	s->order[0] = t;
}

bool
rounds_compare(Rounds *s, uint32_t keep)
{
	for (uint32_t i = 0; i < keep; i++)
		if (!measure_compare(s->m, s->kept[SIDE_REFERENCE] + i * s->m->output_bytes,
							 s->kept[SIDE_CANDIDATE] + i * s->m->output_bytes, SIDE_CANDIDATE))
			return false;
	return true;
}

double
rounds_estimate(const Rounds *s)
{
	return s->buckets.n > 0 ? values_median(&s->buckets) : s->seen.all.n > 0
		? values_median(&s->seen.all) : NAN;
}

/* one more of what the evidence counts */
void
rounds_count(Rounds *s, const char *what)
{
	json_t	   *evidence = s->m->result->evidence;

	json_object_set_new(evidence, what,
						json_integer(json_integer_value(json_object_get(evidence, what)) + 1));
}

void
rounds_forget(Rounds *s)
{
	for (size_t i = 0; i < SEEN_LISTS; i++)
		free(((Values *) &s->seen)[i].v);
	for (int i = 0; i < 2; i++)
	{
		free(s->audit[i].v);
		free(s->late_runs[i].v);
		free(s->trapped[i].v);
		for (int kind = 0; kind < STEPS; kind++)
			free(s->steps[i][kind].v);
	}
	free(s->audit_more.v);
	free(s->audit_idle.v);
	free(s->loop.v);
	free(s->takings.v);
	free(s->late_idle.v);
	free(s->late_more.v);
}
