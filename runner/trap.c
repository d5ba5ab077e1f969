/*
 * trap.c
 *		On a GPU, blocks of each side that tell whether runs are worked on one by one, see cuda_trap.c, and what a run costs then.
 */
#include <math.h>
#include <string.h>

#include "cuda.h"
#include "rounds.h"

#define LATE_TWICE	2			/* nobody is accused of what happened once */

/* one side's block with the trap; its output of the run that is looked at to kept[side]. `expected`: what that is, if known before */
static bool
trap_block(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n, const void *expected)
{
	Measure    *m = s->m;
	GpuTrap    *t = &m->gpu->trap;
	Executor   *executor = &half->executor[side];
	uint64_t	seeds[WIRE_MAX_RUNS];
	double		seconds;

	t->found = s->kept[SIDE_CANDIDATE];
	t->expected = expected;
	for (uint32_t i = 0; i < n; i++)
		seeds[i] = s->seeds[slots[i]];
	if (!measure_stage(m, &s->arena, slots, n)
		|| !measure_block(m, executor, side, slots, seeds, n, rounds_timeout(s, side, n), &seconds)
		|| !measure_read(m, executor, side, &s->arena, t->run, slots[t->run], s->kept[side]))
		return false;
	for (int kind = 0; kind < 2; kind++)
		for (uint32_t i = 0; i < t->steps[kind]; i++)
			values_append(&s->steps[side][kind], t->seconds[kind][i]);
	return true;
}

/* the reference goes first, so that what its run gives is known */
static bool
trap_both(Rounds *s, Half *half, const uint32_t *slots, uint32_t n, bool *late)
{
	Measure    *m = s->m;
	const GpuTrap *t = &m->gpu->trap;

	if (!trap_block(s, half, SIDE_REFERENCE, slots, n, NULL) || !trap_block(s, half, SIDE_CANDIDATE, slots, n, s->kept[SIDE_REFERENCE]))
		return false;
	s->traps++;
	json_object_set_new(m->result.evidence, "traps", json_integer(s->traps));
	*late = t->late;
	s->turn = fmax(s->turn, t->turn);
	json_object_set_new(m->result.evidence, "turn_seconds", json_real(s->turn));
	if (*late)
		json_object_set_new(m->result.evidence, "late", json_pack("{s:i, s:i, s:b, s:I, s:f}", "run", (int) t->run, "runs", (int) n,
																  "readable", t->readable, "wrong", (json_int_t) t->wrong, "turn", t->turn));
	if (!rounds_compare(s, 1))
	{
		json_object_set_new(m->result.evidence, "detector", json_string("read_ahead"));
		return false;
	}
	/* an output that is right in the end, but was not when the run had answered: may be nobody's doing, so the reference is put to the same test */
	if (*late && !trap_block(s, half, SIDE_REFERENCE, slots, n, s->kept[SIDE_REFERENCE]))
		return false;
	s->untrapped = *late && t->late;
	return true;
}

bool
rounds_trap(Rounds *s, Half *half)
{
	Measure    *m = s->m;
	uint32_t	n = s->runs[0] < s->runs[1] ? s->runs[0] : s->runs[1];
	uint32_t	other = s->slots;
	uint32_t	slots[WIRE_MAX_RUNS];

	for (int i = 0; i < LATE_TWICE && !s->untrapped; i++)
	{
		bool		late = false;
		bool		good = rounds_inputs(s, n) && measure_generate(m, &s->arena, &other, 1);

		memcpy(slots, s->order, n * sizeof(*slots));
		rounds_shuffle(s, slots, n);
		good = good && gpu_trap_set(m, &s->arena, slots, n, other) && trap_both(s, half, slots, n, &late);
		gpu_trap_clear(m);
		if (!good || !late)
			return good;
	}
	if (s->untrapped)
	{
		json_object_set_new(m->result.evidence, "late_reference", json_true());
		return true;
	}
	json_object_set_new(m->result.evidence, "detector", json_string("late_output"));
	return conclude(m, OUTCOME_CHEAT, "the code interfered with the measurement in a run");
}
