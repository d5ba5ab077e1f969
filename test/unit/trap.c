/*
 * trap.c
 *		What follows from outputs that come late: once nothing, twice an accusation, unless the
 *		reference's do so, too.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/timing/trap.c"
#include "../../runner/supervisor/timing/samples.c"

#include "tap.h"

static Job	job;
static Gpu	gpu;
static Member member;
static Measure measure = {.job = &job, .gpu = &gpu, .result = &member.result,
	.time = member.time};
static const char *plan;		/* of each look at the candidate: 'l' late, or not */
static bool late_reference;
static int	looks;				/* at the reference */
static int	ended;
static int	reaped;
static int	missing = -1;		/* a kind of steps that no trap has */

bool
conclude(Measure *m, Outcome outcome, const char *format,...)
{
	m->result->outcome = outcome;
	return false;
}

bool
measure_stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	return true;
}

bool
measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots,
			  const uint64_t *seeds, uint32_t n, double timeout, double *seconds)
{
	GpuTrap    *t = &m->gpu->trap;

	t->late = LATE_NOT;
	if (t->expected && side == SIDE_CANDIDATE)
		t->late = *plan && *plan++ == 'l' ? LATE_OUTPUT : LATE_NOT;
	else if (t->expected)
	{
		looks++;
		t->late = late_reference ? LATE_KERNEL : LATE_NOT;
	}
	for (int kind = 0; kind < STEPS; kind++)
	{
		t->steps[kind] = kind != missing;
		t->seconds[kind][0] = (t->late == LATE_NOT ? 1e-6 : 9e-6) * (side == SIDE_CANDIDATE ? 1 : 2)
			* (1 + kind);
	}
	return true;
}

bool
measure_read(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
			 uint32_t slot, void *out)
{
	return true;
}

void
measure_end(Measure *m, Executor *executor)
{
	ended++;
}

void
measure_reap(Measure *m)
{
	reaped = ended;
}

bool
gpu_trap_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t runs)
{
	return true;
}

void
gpu_trap_clear(Measure *m)
{
}

bool
gpu_is_idle(Measure *m, bool *failed)
{
	*failed = false;
	return true;
}

bool
rounds_inputs(Rounds *s, uint32_t n)
{
	return true;
}

void
rounds_shuffle(Rounds *s, uint32_t *v, uint32_t n)
{
}

bool
rounds_compare(Rounds *s, uint32_t keep)
{
	return true;
}

double
rounds_timeout(const Rounds *s, Side side, uint32_t n)
{
	return 1;
}

/* what becomes of a measurement with so many traps, where looks at the candidate find `looked` */
static Outcome
traps(int n, const char *looked, bool reference, Rounds *s)
{
	static uint32_t order[8];
	static uint64_t seeds[8];
	static char kept[2][64];
	Half		half = {.executor = {&half.process[0], &half.process[1]}};

	*s = (Rounds) {.m = &measure, .runs = {8, 8}, .order = order, .seeds = seeds,
		.kept = {kept[0], kept[1]}, .kept_max = 1};
	plan = looked;
	late_reference = reference;
	looks = ended = reaped = 0;
	*measure.result = (Result) {.evidence = json_object()};
	while (n-- > 0 && rounds_trap(s, &half))
		;
	json_decref(measure.result->evidence);
	return measure.result->outcome;
}

int
main(void)
{
	Rounds		s;

	check(traps(3, "", false, &s) == OUTCOME_NONE && s.traps == 3,
		  "nothing follows from outputs that are there");
	check(s.steps[SIDE_CANDIDATE][STEP_LATE].n == 3, "and their steps count");
	check(traps(2, "l", false, &s) == OUTCOME_NONE && s.traps == 3,
		  "after a late output another trap follows at once");
	check(s.steps[SIDE_CANDIDATE][STEP_LATE].n == 2
		  && s.steps[SIDE_CANDIDATE][STEP_LATE].v[0] < 2e-6, "its steps say nothing");
	check(looks == 0 && ended == 0, "and no code is accused of what happened once");
	check(s.trapped[SIDE_REFERENCE].n == 2 && s.trapped[SIDE_CANDIDATE].n == 2,
		  "both sides' count where both are known");
	check(near(s.trapped[SIDE_REFERENCE].v[0], 6e-6, 1e-9)
		  && near(s.trapped[SIDE_CANDIDATE].v[0], 3e-6, 1e-9),
		  "by the kind of steps that takes longest");
	missing = STEP_NEXT;
	traps(2, "", false, &s);
	check(s.trapped[SIDE_REFERENCE].n == 0 && s.trapped[SIDE_CANDIDATE].n == 0
		  && s.steps[SIDE_CANDIDATE][STEP_LATE].n == 2, "and each kind is");
	missing = -1;
	check(traps(9, "l....l", false, &s) == OUTCOME_CHEAT,
		  "late again, however much later, is a cheat");
	check(ended == 1 && looks == REFERENCE_TRIES,
		  "the reference is looked at first, without the candidate's process");
	check(traps(9, "ll", true, &s) == OUTCOME_UNVERIFIED,
		  "where the reference's outputs come late, too, nothing is known");
	check(ended == 1 && reaped == 1 && looks == 1,
		  "which is asked of it when the candidate has ended");
	return done();
}
