/*
 * pair.c
 *		A pair: fresh processes of the reference and of each candidate of a group.
 *
 * A process is slower or faster than another by where its code and memory lie. More windows of one
 * pair would hide that error, and the spread between pairs shows it. Windows of both sides
 * alternate in random order. A process is warm before its first window counts. Some windows of the
 * reference come before any candidate has run, so that a candidate which makes its reference slower
 * gains a tenth at most.
 */
#include "src/score.h"
#include "supervisor/checks/checks.h"
#include "supervisor/time/time.h"

#define QUICK_SHARE		0.2		/* of a reference's window, that a quick candidate's takes */
#define ROUNDS_MOST		64
#define ROUNDS_LEAST	4
#define READ_FROM		15e-6	/* seconds of a run, from which on the kernel's accounts are read */
#define LONG_WINDOW		0.25	/* seconds of a round, from which on two will do */
#define ALONE_WINDOWS	3
#define WARM_SECONDS	0.05	/* of a window of a module, up to which several warm a process */
#define SLOWED_MOST		1.1		/* times as slow as alone, that the reference counts for */
#define SPIN_BYTES		((size_t) 16 << 10)	/* of inputs or outputs, up to which a process spins */
#define LONG_RUN		5e-4	/* seconds of a run, beside which a stop is nothing */
#define LONGER_SHARE	0.1		/* of a run, that a mean may be above the median */

static int
seat(const Pair *pair, Side side)
{
	return (pair->number + (side == SIDE_CANDIDATE)) % 2;
}

/* Whether the pair goes on without a candidate that has failed in it. */
static bool
leaves(Pair *pair, Process *process)
{
	Measure    *m = pair->m;

	if (!process->member || m->group.dissolved || pair->n == 1
		|| m->all.result.outcome != OUTCOME_NONE)
		return false;
	process->gone = true;
	window_enter(pair, process);
	measure_end(m, &process->executor);
	return true;
}

static bool
begin_load(Pair *pair, Process *process)
{
	return measure_begin_load(pair->m, &process->executor, process->side,
							  seat(pair, process->side), &process->arena);
}

static bool
begin_first(Pair *pair, Process *process)
{
	Measure    *m = pair->m;

	return measure_begin_first(m, &process->executor, &process->arena, random_next(&m->random));
}

static bool
end_load(Pair *pair, Process *process)
{
	return measure_end_load(pair->m, &process->executor);
}

/*
 * A step for each process, and the wait for all of them. The reference is the last, so that a
 * candidate has the blame for what it does to both.
 */
static bool
each(Pair *pair, bool (*step) (Pair *, Process *), Spending spending)
{
	Measure    *m = pair->m;
	Executor   *begun[EXECUTORS_AWAITED];
	double		started;
	int			n = 0;

	for (int i = 0; i <= pair->n; i++)
	{
		Process    *process = &pair->process[i == pair->n ? 0 : i + 1];

		if (process->gone)
			continue;
		window_enter(pair, process);
		if (m->result->outcome != OUTCOME_NONE || (pair->n > 1 && m->member->by_itself))
			continue;
		if (step(pair, process))
			begun[n++] = &process->executor;
		else if (!leaves(pair, process))
			return false;
	}
	heat_enter_all(m);
	started = clock_now();
	if (step != end_load)
		executor_await(begun, n);
	measure_spent(m, spending, started);
	return true;
}

/* Starts all processes: on a device side by side, else one after the other in random order. */
static bool
start_processes(Pair *pair)
{
	Measure    *m = pair->m;
	uint32_t	first = (uint32_t) random_below(&m->random, (uint64_t) pair->n + 1);

	if (m->backend->rests)
		return (!m->backend->module || window_draw(pair, &(Plan) {.runs = 1}, NULL))
			&& each(pair, begin_load, SPENT_LOAD)
			&& (!m->backend->module || each(pair, begin_first, SPENT_FIRST))
			&& each(pair, end_load, SPENT_START);
	for (int i = 0; i <= pair->n; i++)
	{
		Process    *process = &pair->process[((uint32_t) i + first) % (uint32_t) (pair->n + 1)];

		window_enter(pair, process);
		if (!measure_launch(m, &process->executor, process->side, seat(pair, process->side),
							&process->arena)
			&& !leaves(pair, process))
			return false;
	}
	return true;
}

/*
 * Windows of the reference before any candidate has run. The slowest tells how long a run takes
 * alone, because right code would pay for a quick one.
 */
static bool
run_alone(Pair *pair, const Plan *plan)
{
	double		slowest = 0;
	bool		good = true;

	for (int i = 0; i < ALONE_WINDOWS && good; i++)
	{
		good = window_draw(pair, plan, NULL);
		/* Each has a rest probe, so that a kernel that goes on later is known to be another's. */
		if (pair->round.hand != UINT32_MAX)
			pair->round.probed = pair->round.hand;
		pair->round.hand = UINT32_MAX;
		good = good && window_run(pair, &pair->process[0]);
		slowest = fmax(slowest, pair->process[0].seconds);
	}
	pair->alone = slowest > 0 ? slowest : INFINITY;
	return good;
}

static void
choose_waiting(Pair *pair)
{
	Measure    *m = pair->m;
	double		least = m->member->time[SIDE_REFERENCE];

	for (int i = 1; i <= pair->n; i++)
		least = fmin(least, pair->process[i].member->time[SIDE_CANDIDATE]);
	pair->stops = !m->backend->rests
		&& (!m->device.spare_core || m->inputs.slot_bytes > SPIN_BYTES
			|| m->output_bytes > SPIN_BYTES || least > LONG_RUN);
	pair->trims = m->backend->rests || least > LONG_RUN;
}

/*
 * How many windows a process begins with that do not count. A module's candidate makes as many as
 * its reference, because an interpreter and its allocators settle in dozens of runs.
 */
static int
warm_windows(const Pair *pair, const Process *process, const Plan *plan)
{
	const Measure *m = pair->m;

	return process->side == SIDE_CANDIDATE && m->backend->module
		&& plan->runs * m->member->time[SIDE_REFERENCE] < WARM_SECONDS ? 1 + ALONE_WINDOWS : 1;
}

/* The first windows of each process, and some of the reference alone. */
static bool
warm(Pair *pair, const Plan *plan)
{
	Measure    *m = pair->m;

	pair->reads = m->member->time[SIDE_REFERENCE] > READ_FROM;
	for (int i = 0; i <= pair->n; i++)
	{
		Process    *process = &pair->process[i];

		if (process->gone)
			continue;
		for (int w = warm_windows(pair, process, plan); w > 0 && !process->gone; w--)
			if (!window_draw(pair, plan, NULL)
				|| (!window_run(pair, process) && !leaves(pair, process)))
				return false;
		if (process->gone || i > 0)
			continue;
		if (isfinite(process->seconds))
			m->member->time[SIDE_REFERENCE] = process->seconds;
		choose_waiting(pair);
		if (!run_alone(pair, plan))
			return false;
	}
	return true;
}

/*
 * How many runs a candidate's window has. Quick code has more than its reference: a few runs are
 * cold, and most of a few may have been prepared before.
 */
static uint32_t
candidate_runs(const Plan *plan, const Member *member)
{
	double		runs = QUICK_SHARE * plan->runs * member->time[SIDE_REFERENCE]
		/ member->time[SIDE_CANDIDATE];

	return (uint32_t) fmax(fmin(runs, plan->most), plan->runs);
}

/*
 * Makes rounds: windows of a candidate and of the reference, in random order. Each candidate has
 * inputs of its own, as others of its group could tell it the answers. False: the pair ends.
 */
static bool
make_rounds(Pair *pair, const Plan *plan)
{
	Measure    *m = pair->m;
	Process    *reference = &pair->process[0];
	double		began = clock_now();
	double		limit = m->job->profile.bucket_seconds * pair->n;

	for (;; pair->rounds++)
	{
		double		passed = clock_now() - began;
		int			least = passed > LONG_WINDOW * pair->rounds ? 2 : ROUNDS_LEAST;

		if (pair->rounds >= ROUNDS_MOST || (pair->rounds >= least && passed >= limit))
			return true;
		for (int i = 1; i <= pair->n; i++)
		{
			Process    *candidate = &pair->process[i];
			bool		first;
			bool		good;

			if (candidate->gone)
				continue;
			first = random_below(&m->random, 2) == 0;
			good = window_draw(pair, plan, candidate);
			for (int window = 0; good && window < 2; window++)
			{
				Process    *side = first == (window == 0) ? reference : candidate;

				good = window_run(pair, side) || leaves(pair, side);
			}
			if (!good || (!candidate->gone && !window_compare(pair, candidate)
						  && !leaves(pair, candidate)))
				return false;
			if (candidate->gone || !(candidate->seconds > 0))
				continue;
			values_append(&candidate->beside, reference->seconds);
			values_append(&candidate->ratio, reference->seconds / candidate->seconds);
			/* Windows that are not compared tell nothing, because code may be idle there. */
			candidate->member->time[SIDE_CANDIDATE] = candidate->seconds;
			values_append(&candidate->longer, (candidate->above - fmax(reference->above, 0))
						  / (pair->round.runs * candidate->seconds));
		}
		measure_progress(m, "measuring", false);
	}
}

/*
 * The ratio of a pair. A median ignores slow runs, in which a candidate could work for others, so
 * what its windows take beyond, less the reference's, counts from a tenth of them on. A reference
 * that is slower than alone counts for a tenth more at most.
 */
static double
ratio_of(const Pair *pair, const Process *process, json_t *evidence)
{
	double		ratio = values_median(&process->ratio);
	double		longer = values_median(&process->longer);
	double		slowed = values_median(&process->beside) / (SLOWED_MOST * pair->alone);

	if (longer > LONGER_SHARE)
	{
		json_object_set_new(evidence, "longer", json_real(longer));
		ratio /= 1 + longer;
	}
	if (slowed > 1)
	{
		json_object_set_new(evidence, "slowed", json_real(slowed));
		ratio /= slowed;
	}
	return ratio;
}

static bool
begin(Pair *pair, const Plan *plan, Member *const *members)
{
	Measure    *m = pair->m;
	uint32_t	most = plan->runs;

	for (int i = 1; i <= pair->n; i++)
	{
		pair->process[i].runs = candidate_runs(plan, members[i - 1]);
		most = (uint32_t) fmax(most, pair->process[i].runs);
	}
	/* One slot more, for an input that a probe is made of. */
	if (!m->backend->make_arena(m, &pair->arena, most + (most > 1))
		|| (m->backend->begin_pair && !m->backend->begin_pair(m, &pair->arena)))
		return false;
	for (int i = 0; i <= pair->n; i++)
	{
		Process    *process = &pair->process[i];

		process->side = i > 0 ? SIDE_CANDIDATE : SIDE_REFERENCE;
		process->member = i > 0 ? members[i - 1] : NULL;
		process->arena = pair->arena;
		process->arena.place = i;
		process->outputs = measure_alloc(m, plan->compared_most * m->output_bytes);
		if (!process->outputs)
			return false;
	}
	return true;
}

static void
end(Pair *pair)
{
	Measure    *m = pair->m;

	/* A GPU's context takes a tenth of a second to end, so all of them end at the same time. */
	for (int i = 0; i <= pair->n; i++)
		executor_kill(&pair->process[i].executor);
	for (int i = 0; i <= pair->n; i++)
	{
		Process    *process = &pair->process[i];

		window_enter(pair, process);
		measure_end(m, &process->executor);
		measure_free(m, process->outputs);
	}
	courier_end(pair);
	arena_destroy(&pair->arena);
	free(pair->process);
}

static void
keep_samples(const Process *process, json_t *evidence)
{
	json_t	   *pairs = json_object_get(evidence, "samples");
	json_t	   *rounds = json_array();

	if (!pairs)
		json_object_set_new(evidence, "samples", pairs = json_array());
	for (size_t i = 0; i < process->ratio.n; i++)
		json_array_append_new(rounds, json_real(round(process->ratio.v[i] * 1e4) / 1e4));
	json_array_append_new(pairs, rounds);
}

void
pair_run(Measure *m, const Plan *plan, Member *const *members, int n, int number)
{
	Pair		pair = {.m = m,.n = n,.number = number,.alone = INFINITY};
	bool		good;

	pair.process = measure_zeroed((size_t) n + 1, sizeof(*pair.process));
	for (int i = 0; i <= n; i++)
		executor_init(&pair.process[i].executor);
	arena_init(&pair.arena);
	m->group = (Group) {.shares = n > 1 ? n : 0};
	good = begin(&pair, plan, members) && start_processes(&pair) && warm(&pair, plan)
		&& make_rounds(&pair, plan);
	for (int i = 0; i < n && good; i++)
	{
		const Process *process = &pair.process[i + 1];
		Result	   *r = &members[i]->result;
		double		reference = values_median(&process->beside);
		double		ratio;

		if (process->gone || isnan(ratio = ratio_of(&pair, process, r->evidence)))
			continue;
		values_append(&r->stop.ratios, ratio);
		values_append(&r->reference, reference);
		values_append(&r->candidate, reference / ratio);
		r->rounds += pair.rounds;
		keep_samples(process, r->evidence);
	}
	end(&pair);
	m->group = (Group) {0};
}
