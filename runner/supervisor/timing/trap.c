/*
 * trap.c
 *		On a GPU, blocks of each side that tell whether runs are worked on one by one, see
 *		cuda_trap.c, and what a run costs then.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/timing.h"

#define REFERENCE_TRIES	2		/* looks at the reference, before a candidate is accused */
#define IDLE_PATIENCE	5.0		/* seconds, for what an ended process has left on the GPU */
#define IDLE_PAUSE		0.02

/* what a run cost in the block just made; NAN where it had no steps of some kind */
static double
cost_of(const Rounds *s)
{
	GpuTrap    *t = &s->m->gpu->trap;
	double		median[STEPS];

	for (int kind = 0; kind < STEPS; kind++)
	{
		if (t->steps[kind] == 0)
			return NAN;
		median[kind] = cudal1_score_median(t->seconds[kind], t->steps[kind]);
	}
	return steps_cost(s, median[STEP_LATE], median[STEP_RESTED], median[STEP_NEXT]);
}

/*
 * one side's block with the trap; its output of the run that is looked at to kept[side].
 * `expected`: what that is, if known before; `cost`: what a run cost, or NAN where that
 * is not known
 */
static bool
trap_block(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n,
		   const void *expected, double *cost)
{
	Measure    *m = s->m;
	GpuTrap    *t = &m->gpu->trap;
	Executor   *executor = half->executor[side];
	uint64_t	seeds[WIRE_MAX_RUNS];
	double		seconds;
	bool		two = s->kept_max > 1 && t->next > 0;

	t->found = s->kept[SIDE_CANDIDATE];
	t->expected = expected;
	t->expected_next = expected && two ? s->kept[SIDE_REFERENCE] + m->output_bytes : NULL;
	for (uint32_t i = 0; i < n; i++)
		seeds[i] = s->seeds[slots[i]];
	if (!measure_stage(m, &s->arena, side, slots, n)
		|| !measure_block(m, executor, side, slots, seeds, n, rounds_timeout(s, side, n), &seconds)
		|| !measure_read(m, executor, side, &s->arena, t->run, slots[t->run], s->kept[side])
		|| (!expected && two && !measure_read(m, executor, side, &s->arena, t->next, slots[t->next],
											  s->kept[side] + m->output_bytes)))
		return false;
	/* code that does its work later has steps that say nothing */
	*cost = NAN;
	if (t->late != LATE_NOT)
		return true;
	*cost = cost_of(s);
	for (int kind = 0; kind < STEPS; kind++)
		for (uint32_t i = 0; i < t->steps[kind]; i++)
			values_append(&s->steps[side][kind], t->seconds[kind][i]);
	return true;
}

static bool
trap_set(Rounds *s, uint32_t *slots, uint32_t n)
{
	if (!rounds_inputs(s, n))
		return false;
	memcpy(slots, s->order, n * sizeof(*slots));
	rounds_shuffle(s, slots, n);
	return gpu_trap_set(s->m, &s->arena, slots, n);
}

/* the reference goes first, so that what its run gives is known */
static bool
trap_both(Rounds *s, Half *half, const uint32_t *slots, uint32_t n)
{
	static const char *const kinds[] = {"", "output", "kernel", "alone"};
	Measure    *m = s->m;
	const GpuTrap *t = &m->gpu->trap;
	double		cost[2];

	if (!trap_block(s, half, SIDE_REFERENCE, slots, n, NULL, &cost[SIDE_REFERENCE])
		|| !trap_block(s, half, SIDE_CANDIDATE, slots, n, s->kept[SIDE_REFERENCE],
					   &cost[SIDE_CANDIDATE]))
		return false;
	for (int side = 0; side < 2 && cost[SIDE_REFERENCE] > 0 && cost[SIDE_CANDIDATE] > 0; side++)
		values_append(&s->trapped[side], cost[side]);
	s->traps++;
	json_object_set_new(m->result->evidence, "traps", json_integer(s->traps));
	s->turn = fmax(s->turn, t->turn);
	json_object_set_new(m->result->evidence, "turn_seconds", json_real(s->turn));
	if (t->late != LATE_NOT)
		json_object_set_new(m->result->evidence, "late",
							json_pack("{s:s, s:i, s:i, s:i, s:b, s:I, s:f}", "kind", kinds[t->late],
									  "times", ++s->late, "run", (int) t->run,
									  "runs", (int) n, "readable", t->readable, "wrong",
									  (json_int_t) t->wrong, "turn", t->turn));
	if (rounds_compare(s, 1))
		return true;
	measure_detector(m, "read_ahead");
	return false;
}

/* whether the GPU is at rest, now that the candidate has ended */
static bool
await_rest(Measure *m)
{
	double		deadline = clock_now() + IDLE_PATIENCE;
	bool		failed = false;

	while (!gpu_is_idle(m, &failed))
	{
		if (failed)
			return false;
		if (clock_now() > deadline)
			return conclude(m, OUTCOME_LOST,
							"the GPU does not come to rest, though the code's process has ended");
		usleep((useconds_t) (IDLE_PAUSE * 1e6));
	}
	return true;
}

/*
 * The candidate's outputs come late. If those of the reference do so too, by itself, on a GPU that
 * nothing else uses, the task causes it, and the measurement is unverified.
 */
static bool
accuse(Rounds *s, Half *half, uint32_t *slots, uint32_t n)
{
	Measure    *m = s->m;

	measure_end(m, half->executor[SIDE_CANDIDATE]);
	measure_reap(m);
	for (int i = 0; i < REFERENCE_TRIES; i++)
	{
		double		cost;
		bool		good = await_rest(m) && trap_set(s, slots, n)
			&& trap_block(s, half, SIDE_REFERENCE, slots, n, NULL, &cost)
			&& trap_block(s, half, SIDE_REFERENCE, slots, n, s->kept[SIDE_REFERENCE], &cost);

		gpu_trap_clear(m);
		if (!good)
			return false;
		if (m->gpu->trap.late != LATE_NOT)
		{
			json_object_set_new(m->result->evidence, "late_reference", json_true());
			return conclude(m, OUTCOME_UNVERIFIED,
							"outputs of the reference come after it has answered");
		}
	}
	measure_detector(m, "late_output");
	return conclude(m, OUTCOME_CHEAT, "the code interfered with the measurement in a run");
}

/*
 * A late output has a second trap follow at once, because honest code was late once, for a reason
 * not known. Two late outputs in a measurement are held against the candidate.
 */
bool
rounds_trap(Rounds *s, Half *half)
{
	Measure    *m = s->m;
	uint32_t	n = s->runs[0] < s->runs[1] ? s->runs[0] : s->runs[1];
	uint32_t	slots[WIRE_MAX_RUNS];
	int			before;

	do
	{
		bool		good;

		before = s->late;
		good = trap_set(s, slots, n) && trap_both(s, half, slots, n);
		gpu_trap_clear(m);
		if (!good)
			return false;
		/* it may be what another member has left on the GPU */
		if (s->late > 1 && m->shares)
		{
			s->late = 0;
			return conclude(m, OUTCOME_LOST, "an output came late in a set");
		}
		if (s->late > 1)
			return accuse(s, half, slots, n);
	} while (s->late > before);
	return true;
}
