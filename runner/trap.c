/*
 * trap.c
 *		On a GPU, blocks of each side that tell whether runs are worked on one by one, see cuda_trap.c. Not timed.
 */
#include <string.h>

#include "cuda.h"
#include "rounds.h"

#define LATE_TWICE	2			/* nobody is accused of what happened once */

/* one side's block over the first n slots of the order; its output of `slot` to kept[side]. `expected`: what that is, if known before */
static bool
trap_block(Rounds *s, Half *half, Side side, uint32_t slot, uint32_t n, const void *expected)
{
	Measure    *m = s->m;
	GpuTrap    *t = &m->gpu->trap;
	Executor   *executor = &half->executor[side];
	uint32_t	slots[WIRE_MAX_RUNS];
	uint64_t	seeds[WIRE_MAX_RUNS];
	uint32_t	run;
	double		seconds;
	bool		good;

	if (!gpu_trap_set(m, &s->arena, slot, s->slots, n, executor->step_seconds))
		return false;
	run = t->run;
	t->found = s->kept[SIDE_CANDIDATE];
	t->expected = expected;
	memcpy(slots, s->order, n * sizeof(*slots));
	rounds_shuffle(s, slots, n);
	for (uint32_t i = 0; i < n; i++)
		if (slots[i] == slot)
		{
			slots[i] = slots[run];
			slots[run] = slot;
			break;
		}
	for (uint32_t i = 0; i < n; i++)
		seeds[i] = s->seeds[slots[i]];
	good = measure_stage(m, &s->arena, slots, n)
		&& measure_block(m, executor, side, slots, seeds, n, rounds_timeout(s, side, n), &seconds);
	t->run = 0;
	return good && measure_read(m, executor, side, &s->arena, run, slot, s->kept[side]);
}

/*
 * The reference goes first, so that what its run gives is known. An output that is right in the end, but not when the run had answered, is
 * nobody's mistake; but before anybody is accused the reference is put to the same test, and the candidate once more.
 */
bool
rounds_trap(Rounds *s, Half *half)
{
	Measure    *m = s->m;
	const GpuTrap *t = &m->gpu->trap;
	uint32_t	n = s->runs[0] < s->runs[1] ? s->runs[0] : s->runs[1];
	uint32_t	other = s->slots;

	for (int late = 0; late < LATE_TWICE && !s->untrapped; late++)
	{
		uint32_t	slot;

		if (!rounds_inputs(s, n) || !measure_generate(m, &s->arena, &other, 1))
			return false;
		slot = s->order[random_below(&m->random, n)];
		if (!trap_block(s, half, SIDE_REFERENCE, slot, n, NULL) || !trap_block(s, half, SIDE_CANDIDATE, slot, n, s->kept[SIDE_REFERENCE]))
			return false;
		s->traps++;
		json_object_set_new(m->result.evidence, "traps", json_integer(s->traps));
		if (t->late)
			json_object_set_new(m->result.evidence, "late", json_pack("{s:i, s:i, s:b, s:I}", "run", (int) t->late, "runs", (int) n,
																	  "readable", t->readable, "wrong", (json_int_t) t->wrong));
		if (!rounds_compare(s, 1))
		{
			json_object_set_new(m->result.evidence, "detector", json_string("read_ahead"));
			return false;
		}
		if (!t->late)
			return true;
		if (!trap_block(s, half, SIDE_REFERENCE, slot, n, s->kept[SIDE_REFERENCE]))
			return false;
		s->untrapped = t->late > 0;
	}
	if (s->untrapped)
	{
		json_object_set_new(m->result.evidence, "late_reference", json_true());
		return true;
	}
	json_object_set_new(m->result.evidence, "detector", json_string("late_output"));
	return conclude(m, OUTCOME_CHEAT, "the code interfered with the measurement in a run");
}
