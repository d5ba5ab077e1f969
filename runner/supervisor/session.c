/*
 * session.c
 *		Processes of both sides, and what they are asked for: starts, inputs, runs.
 *
 * The backend does each of these. This file sets the limits, and counts what the device's time is
 * spent on.
 */
#include "supervisor/backend.h"

#define RUN_LIMIT_LEAST	1.0		/* seconds */
#define ALL_FIRST	2.0		/* times build_seconds, of all first runs of a candidate */
#define MEMORY_SHARE	0.75	/* of the host's, that processes which live together may hold */

static uint32_t
load_flags(const Measure *m, Side side)
{
	return (m->facts.restores ? WIRE_FLAG_RESTORED : 0)
		| (m->facts.moves_parameters ? WIRE_FLAG_MOVED : 0)
		| (side == SIDE_CANDIDATE && m->member->by_name ? WIRE_FLAG_BY_NAME : 0)
		| (m->trial.changes & TRIAL_WAITED ? WIRE_FLAG_WAITED : 0);
}

/*
 * Starts a process for the code of a side. On a GPU it loads that on all cores but the devices', as
 * others may at once. All do, because memory comes from near the core that first asks for it.
 */
static bool
start_process(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	cpu_set_t	others;

	if (!m->backend->start(m, executor, side, seat, arena))
		return measure_failed(m, side, executor, EXECUTOR_BROKEN, "at its start");
	executor->hostile = side == SIDE_CANDIDATE;
	m->live.candidates += executor->hostile;
	executor_freeze(executor);
	if (m->backend->apart && sched_getaffinity(0, sizeof(others), &others) == 0)
		executor_pin(executor, &others);
	executor->attentive = m->device.spare_core;
	executor->one_core = CPU_COUNT(&m->device.cores) == 1;
	/* Executors of PyTorch make their own views of the slots' inputs. */
	executor->control->slot_bytes = m->inputs.slot_bytes;
	executor->control->tensors = (uint32_t) m->inputs.n;
	executor->control->gpu_bytes[0] = wire_gpu_bytes(arena->slots * m->inputs.slot_bytes);
	executor->control->gpu_bytes[1] = executor->pool_bytes;
	memcpy(executor->control->table, m->inputs.argument, sizeof(m->inputs.argument));
	memcpy(executor->control->traits, m->inputs.traits, sizeof(m->inputs.traits));
	return true;
}

/* How many candidates of a group load their code side by side. */
static int
beside(const Measure *m)
{
	return m->backend->apart && m->group.shares ? m->group.shares : 1;
}

/* Seconds that are left of these: all trials of a candidate end at one time. */
static double
left_of(const Measure *m, double seconds)
{
	return m->trial.ends > 0 ? fmin(seconds, fmax(m->trial.ends - clock_now(), 0.1)) : seconds;
}

/*
 * Seconds that loading may take. Every pair loads the code afresh, so a candidate has one limit for
 * all of its loads, beyond what those of the reference take.
 */
static double
load_limit(const Measure *m, Side side)
{
	double		limit = m->job->profile.build_seconds * (beside(m) > 1 ? 2 : 1);

	if (side == SIDE_CANDIDATE)
		limit = fmax(limit + m->code[SIDE_REFERENCE]->load_seconds
					 - m->code[SIDE_CANDIDATE]->load_seconds, 0.1);
	return left_of(m, limit);
}

/* Ends a load: the process goes to its core, and in a group gets a share of the host's memory. */
static ExecutorResult
loaded(const Measure *m, const Executor *executor)
{
	double		host = (double) sysconf(_SC_PHYS_PAGES) * (double) sysconf(_SC_PAGESIZE);

	if (m->backend->apart)
		executor_pin(executor, &m->device.cores);
	if (m->group.shares && executor->hostile
		&& !executor_lower_limit(executor, (size_t) m->job->profile.memory_mb << 20,
								 (size_t) (MEMORY_SHARE * host / (m->group.shares + 1))))
		return EXECUTOR_BROKEN;
	return EXECUTOR_OK;
}

bool
measure_begin_load(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	double		started = clock_now();
	bool		good = start_process(m, executor, side, seat, arena)
		&& measure_failed(m, side, executor,
						  executor_begin(executor, WIRE_LOAD, arena->slots, load_flags(m, side),
										 m->live.weights, load_limit(m, side)),
						  "while it was loaded");

	measure_spent(m, SPENT_START, started);
	return good;
}

/* Judges what a process did that was begun, and charges its code. False after conclude() */
static bool
end_begun(Measure *m, Executor *executor)
{
	bool		loading = executor->last.asked.op == WIRE_LOAD;
	Side		side = executor_side(executor);
	double		seconds = executor->last.took / beside(m);

	*(loading ? &m->code[side]->load_seconds : &m->code[side]->first_seconds) += seconds;
	if (loading)
		executor->arrays = executor->value;
	return measure_failed(m, side, executor, executor->last.result,
						  loading ? "while it was loaded" : "in its first run");
}

bool
measure_end_load(Measure *m, Executor *executor)
{
	return end_begun(m, executor)
		&& measure_failed(m, executor_side(executor), executor, loaded(m, executor),
						  "while it was loaded");
}

bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	bool		good = measure_begin_load(m, executor, side, seat, arena);
	double		started = clock_now();

	if (good)
		executor_await(&executor, 1);
	measure_spent(m, SPENT_LOAD, started);
	return good && measure_end_load(m, executor);
}

bool
measure_generate(Measure *m, Arena *arena, uint32_t n)
{
	double		started = clock_now();
	bool		good = m->backend->generate(m, arena, n);

	measure_spent(m, SPENT_INPUTS, started);
	return good;
}

/* what an executor is told of a run that no window has */
static uint32_t
run_flags(const Measure *m)
{
	return (m->facts.seeds_runs ? WIRE_FLAG_SEED_RUNS : 0)
		| (m->trial.changes & TRIAL_WAITED ? WIRE_FLAG_WAITED : 0)
		| (m->trial.changes & TRIAL_WIDER ? WIRE_FLAG_WIDER : 0);
}

/*
 * PyTorch: seconds that the first run of a process may take, in which libraries are loaded,
 * algorithms tried and graphs captured. All first runs of a candidate have a limit together, or a
 * candidate could hold the device with each of its processes.
 */
static double
first_limit(const Measure *m, const Executor *executor)
{
	double		build = fmin(m->job->profile.build_seconds, m->backend->first_seconds);

	if (!executor->hostile)
		return build;
	return fmin(build, ALL_FIRST * build + m->code[SIDE_REFERENCE]->first_seconds
				- m->code[SIDE_CANDIDATE]->first_seconds);
}

bool
measure_begin_first(Measure *m, Executor *executor, const Arena *arena, uint64_t seed)
{
	Side		side = executor_side(executor);
	double		limit = fmax(measure_run_limit(m, side), first_limit(m, executor))
		+ m->job->profile.build_seconds;
	ExecutorResult result;

	if (!end_begun(m, executor) || !m->backend->stage(m, arena, side, 0))
		return false;
	executor->control->seeds[0] = seed;
	result = executor_begin(executor, WIRE_RUN, 0, run_flags(m), 0, limit);
	return measure_failed(m, side, executor, result, "in its first run");
}

bool
measure_single(Measure *m, Executor *executor, uint32_t slot, uint64_t seed)
{
	bool		first = !executor->met;
	Side		side = executor_side(executor);
	double		limit = measure_run_limit(m, side);
	double		started = clock_now();
	ExecutorResult result;
	bool		good;

	if (first && m->backend->module)
		limit = fmax(limit, first_limit(m, executor));
	executor->control->seeds[0] = seed;
	result = executor_command(executor, WIRE_RUN, slot, run_flags(m), left_of(m, limit));
	good = measure_failed(m, side, executor, result, "in a run");
	if (first)
	{
		m->code[side]->first_seconds += executor->last.took;
		executor->met = true;
	}
	measure_spent(m, first ? SPENT_FIRST : SPENT_CHECK, started);
	return good;
}

double
measure_run_limit(const Measure *m, Side side)
{
	const Profile *p = &m->job->profile;

	/* The runs of a trial have the limit of all trials alone, see left_of(). */
	if (m->trial.ends > 0)
		return INFINITY;
	if (side == SIDE_REFERENCE)
		return p->build_seconds;
	return fmin(fmax(p->run_limit_factor * m->member->time[SIDE_REFERENCE], RUN_LIMIT_LEAST),
				p->run_limit_max);
}

bool
measure_too_slow(Measure *m, double seconds, double reference)
{
	measure_cause(m, SIDE_CANDIDATE, "slow_run");
	return conclude(m, OUTCOME_TIMEOUT, "the code takes %.3g s a run and the reference %.3g s; the "
					"limit is %g times as long", seconds, reference,
					m->job->profile.run_limit_factor);
}

void
measure_end(Measure *m, Executor *executor)
{
	double		started = clock_now();

	m->live.candidates -= executor->hostile;
	executor_end(executor);
	measure_spent(m, SPENT_END, started);
}
