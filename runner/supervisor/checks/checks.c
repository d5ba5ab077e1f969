/*
 * checks.c
 *		The phase before any pair: is each side right, and how long does a run take.
 *
 * Both sides run the same fresh inputs, one by one. check_reference() runs the reference in two
 * processes, in another order of the inputs, and compares them: if it disagrees with itself, or
 * returns the same for all inputs, the measurement is unverified, and the reference is to blame.
 * check_candidate() compares the candidate with the reference; a candidate that is wrong is not
 * timed. Each then estimates the seconds of a run, from which blocks get their sizes.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/text.h"
#include "supervisor/backend.h"
#include "supervisor/checks/checks.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/heat.h"
#include "supervisor/checks/layout.h"
#include "supervisor/outcome.h"
#include "supervisor/checks/outputs.h"
#include "supervisor/checks/poison.h"
#include "supervisor/session.h"

#define CHECK_SLOTS		16
#define ESTIMATE_BLOCKS	7
#define ESTIMATE_BYTES	((size_t) 256 << 20)	/* of results in one of them, on a CPU */
#define CALLS_IN_A_ROW	3
#define NUDGED_BYTES	((size_t) 256 << 20)	/* of inputs, which have a copy then */
/* a tenth of an output: what lies at a step of a function may turn to its other side */
#define FEW_OTHERS		10
/* of an output's root mean square: what moves farther is no more than rounding errors */
#define ROUNDED_ATOL	0.1
#define MOST_MOVES		1e6		/* a number also where one becomes infinite */
/* of what a slot takes among few, what it takes among many, at least */
#define LEAST_SHARE		8
#define BEGUN_BESIDE	4		/* candidates of a heat on a GPU, at most */
#define POOL_TIMES		4		/* what the reference took, of the pool that each of them has at least */
#define POOL_LEAST		((size_t) 2 << 30)
#define GPU_SHARE		0.9		/* of what is left of a GPU's memory, for all of them */

/* what a first run of the reference tells of all others */
static bool
learn_outputs(Measure *m, Executor *executor)
{
	if (m->outputs > 0)
		return true;
	m->seeds_runs = (executor->value & WIRE_VALUE_RANDOM) != 0;
	return layout_from_reference(m, executor);
}

/* runs `n` single checks on slots 0 .. n - 1, or from the last to the first */
static bool
run_checks(Measure *m, Executor *executor, Side side, Arena *arena, uint32_t n, bool backwards,
		   const uint64_t *seeds, char *out, double timeout)
{
	for (uint32_t run = 0; run < n; run++)
	{
		uint32_t	i = backwards ? n - 1 - run : run;
		double		elapsed;

		if (!measure_stage(m, arena, side, &i, 1)
			|| !measure_block(m, executor, side, &i, &seeds[i], 1, timeout, &elapsed))
			return false;
		if (m->time[side] == 0 || elapsed < m->time[side])
			m->time[side] = elapsed;
		if (side == SIDE_REFERENCE && !learn_outputs(m, executor))
			return false;
		if (out && !measure_read(m, executor, side, arena, 0, i, out + i * m->output_bytes))
			return false;
		if (!measure_poison(m, executor, side))
			return false;
		measure_phase(m, "checking", false);
	}
	return true;
}

/*
 * Seconds a run, the median of several blocks of a few runs, because on a busy machine a single
 * block misleads. The cost of a block besides its runs is the reference's, for both sides.
 */
static bool
estimate(Measure *m, Executor *executor, Side side, Arena *arena, double timeout,
		 double *block_cost)
{
	uint32_t	slots[CHECK_SLOTS];
	uint64_t	seeds[CHECK_SLOTS];
	double		empty[ESTIMATE_BLOCKS];
	double		full[ESTIMATE_BLOCKS];
	uint32_t	n = arena->slots < CHECK_SLOTS ? arena->slots : CHECK_SLOTS;
	size_t		outputs = m->backend->block_outputs(m);
	int			blocks;
	double		first;

	/* results that come back are copied to new pages, for which the limit is not meant */
	if (outputs == 0)
		outputs = ESTIMATE_BYTES;
	while (n > 1 && n * m->output_bytes > outputs)
		n--;
	/* long runs told their time while they were checked */
	if (m->time[side] > MEASURE_SLOW)
		return true;
	for (uint32_t i = 0; i < n; i++)
	{
		slots[i] = i;
		seeds[i] = random_next(&m->random);
	}
	if (side == SIDE_REFERENCE)
	{
		if (!measure_stage(m, arena, side, slots, n))
			return false;
		for (int i = 0; i < ESTIMATE_BLOCKS; i++)
			if (!measure_block(m, executor, side, slots, seeds, 0, timeout, &empty[i]))
				return false;
		*block_cost = cudal1_score_median(empty, ESTIMATE_BLOCKS);
	}
	if (!measure_stage(m, arena, side, slots, 1) || !measure_block(m, executor, side, slots, seeds,
																   1, timeout, &first))
		return false;
	blocks = first > MEASURE_SLOW ? 1 : ESTIMATE_BLOCKS;
	if (first > 0.02)
		n = 1;
	for (int i = 0; i < blocks; i++)
		if (!measure_stage(m, arena, side, slots, n)
			|| !measure_block(m, executor, side, slots, seeds, n, timeout + 10 * n * first,
							  &full[i]))
			return false;
	m->time[side] = fmax(cudal1_score_median(full, (size_t) blocks) - *block_cost, 1e-7) / n;
	return true;
}

/*
 * How long making another slot's inputs takes on a GPU, where a call makes many at once and costs
 * more than what it makes.
 */
static bool
one_more_input(Measure *m, Arena *arena, const uint32_t *order, uint32_t slots)
{
	double		all = slots * m->generate_time;
	double		start = clock_now();

	if (slots < 2)
		return true;
	if (!measure_generate(m, arena, order, 1))
		return false;
	m->generate_time = fmax((all - (clock_now() - start)) / (slots - 1), all / slots / LEAST_SHARE);
	return true;
}

/*
 * Which share of the outputs does not depend on the inputs, as of an array that is mostly zeros.
 * Where it is all of them, a constant would be right, and no check means anything.
 */
static bool
find_repeated(Measure *m, const char *expected, uint32_t n)
{
	double		same = 0;
	size_t		at = 0;
	bool		constant = m->output_bytes > 0;

	m->repeated = 1;
	if (n < 2)
		return true;
	for (int i = 0; i < m->outputs; i++)
	{
		const Tensor *t = &m->output[i];
		const char *one = expected + at;
		const char *other = one + m->output_bytes;
		Comparison	c;

		if (!m->backend->compare(m, one, other, i, &c))
			return false;
		if (t->elements > 0)
			same += (double) t->bytes * (1 - (double) c.mismatches / (double) t->elements);
		constant &= c.mismatches == 0 && c.error == 0;
		at += measure_gathered(t);
	}
	if (m->output_bytes > 0)
		m->repeated = same / (double) m->output_bytes;
	return !constant
		|| conclude(m, OUTCOME_UNVERIFIED, "the reference returns the same for other inputs, so "
					"a constant would be right");
}

typedef struct Checks
{
	Measure    *m;
	Arena		arena;
	Executor	reference;
	Executor   *candidate;
	bool		begun;			/* it was begun beside others, and has made its first run in PyTorch */
	bool		arrays;			/* its code has some of its own, as weights */
	int			beside_most;	/* candidates for which there is memory of their own */
	uint32_t	n;				/* inputs that both sides run */
	uint32_t	slots;
	uint32_t   *order;
	uint64_t   *seeds;
	uint64_t	weights;
	char	   *expected;
	char	   *found;
	double		block_cost;
	uint32_t	compared;		/* of the candidate's first runs */
	bool		overwrites;		/* the reference works in the memory of its inputs */
	Executor	other;			/* the reference's second process */
	bool		beside;			/* on a GPU: it was loaded beside the first */
	uint32_t	slot;			/* and has had its first run on this one */
	size_t		left;			/* of the GPU's memory, before it began */
	uint32_t	starts;			/* of the reference, one after the other */
	double		time;			/* of its runs, for all candidates */
	/* of a reference that keeps state: what calls give that follow one another */
	uint32_t	in_a_row;		/* 0: another process gives something else */
	char	   *followed;
} Checks;

/* on a GPU each side has slots of its own, and inputs have a master copy */
static size_t
slots_bytes(const Checks *c)
{
	const Measure *m = c->m;
	size_t		sides = m->gpu ? 1 + (size_t) c->beside_most : 1;

	return c->slots * ((sides + (m->gpu != NULL)) * m->input_slot_bytes
					   + sides * m->output_slot_bytes);
}

/* slots, also for candidates that begin beside others where there is memory for that */
static bool
make_arena(Checks *c)
{
	Measure    *m = c->m;
	bool		good;

	if (c->beside_most > 1)
	{
		measure_share(m, c->beside_most);
		good = measure_arena(m, &c->arena, c->slots, 0);
		measure_share_no_more(m);
		if (good)
			return true;
		arena_destroy(&c->arena);
		c->beside_most = 1;
	}
	return measure_arena(m, &c->arena, c->slots, 0);
}

/* inputs for all slots, and how long one takes to make */
static bool
make_inputs(Checks *c)
{
	Measure    *m = c->m;
	size_t		budget = m->backend->arena_bytes(m);
	double		start;

	c->seeds = calloc(c->slots, sizeof(*c->seeds));
	c->order = calloc(c->slots, sizeof(*c->order));
	if (!c->seeds || !c->order)
		return conclude(m, OUTCOME_LOST, "no memory");
	/*
	 * a GPU holds inputs three times, so fewer of those that take gigabytes: the rounds compare
	 * what is not compared here
	 */
	if (slots_bytes(c) > budget)
		c->beside_most = 1;
	while (c->slots > (m->gpu ? 1 : c->n) && slots_bytes(c) > budget)
		c->slots--;
	c->n = c->n < c->slots ? c->n : c->slots;
	for (uint32_t i = 0; i < c->slots; i++)
	{
		c->seeds[i] = random_next(&m->random);
		c->order[i] = i;
	}
	/* once to touch the memory, once to see what it takes */
	if (!make_arena(c)
		|| !measure_generate(m, &c->arena, c->order, c->slots))
		return false;
	start = clock_now();
	if (!measure_generate(m, &c->arena, c->order, c->slots))
		return false;
	m->generate_time = (clock_now() - start) / c->slots;
	return !m->gpu || one_more_input(m, &c->arena, c->order, c->slots);
}

static bool
compare(Checks *c, uint32_t n, Side side)
{
	Measure    *m = c->m;

	for (uint32_t i = 0; i < n; i++)
		if (!measure_compare(m, c->expected + i * m->output_bytes, c->found + i * m->output_bytes,
							 side))
			return false;
	return true;
}

/*
 * What a process takes before it ends, of the host's memory and of a GPU's; `left`: what of the
 * latter was left before `processes` began that are alike
 */
static bool
note_memory(Measure *m, Side side, const Executor *executor, size_t left, size_t processes)
{
	Code	   *code = m->code[side];
	size_t		added = executor_added(executor, (size_t) m->job->profile.memory_mb << 20);
	size_t		taken = processes * executor->pool_bytes + (m->gpu ? gpu_memory_left(m) : 0);

	if (added > code->added)
		code->added = added;
	if (m->gpu && left > taken && (left - taken) / processes > code->gpu_bytes)
		code->gpu_bytes = (left - taken) / processes;
	if (m->gpu && executor->control->pool_used > code->pool_used)
		code->pool_used = executor->control->pool_used;
	return m->result->outcome == OUTCOME_NONE;
}

/* how many runs, from the first on, agree with what is found */
static bool
count_alike(Checks *c, const char *expected, uint32_t n, uint32_t *alike)
{
	size_t		bytes = c->m->output_bytes;
	bool		agree = true;

	for (*alike = 0; *alike < n; ++*alike)
		if (!measure_agree(c->m, expected + *alike * bytes, c->found + *alike * bytes, &agree))
			return false;
		else if (!agree)
			break;
	return true;
}

/*
 * Whether outputs are more than rounding errors, as of a sum that cancels. Where they are not,
 * inputs that are off by a unit in the last place give others, and so does right code that adds in
 * another order.
 */
static bool
stands_rounding(Checks *c, Executor *executor, double limit)
{
	Measure    *m = c->m;
	double		time = m->time[SIDE_REFERENCE];
	size_t		at = 0;
	bool		good;

	if (m->job->language != LANGUAGE_PYTORCH || m->input_slot_bytes > NUDGED_BYTES)
		return true;
	executor->nudged = true;
	good = run_checks(m, executor, SIDE_REFERENCE, &c->arena, 1, false, c->seeds, c->found, limit);
	executor->nudged = false;
	m->time[SIDE_REFERENCE] = time;
	for (int i = 0; good && i < m->outputs; i++)
	{
		const Tensor *t = &m->output[i];
		const char *expected = c->expected + at;
		const char *found = c->found + at;
		Comparison	differ;

		at += measure_gathered(t);
		if (!m->backend->compare(m, expected, found, i, &differ))
			return false;
		if (!tensor_dtype_is_float(t->dtype) || differ.equal)
			continue;
		m->moves = fmin(fmax(m->moves, differ.error), MOST_MOVES);
		if (differ.mismatches <= t->elements / FEW_OTHERS)
			continue;
		m->tolerance = (Tolerance) {.rtol = 0, .atol = ROUNDED_ATOL};
		good = m->backend->compare(m, expected, found, i, &differ);
		m->tolerance = m->job->tolerance;
		if (good && differ.mismatches > t->elements / FEW_OTHERS)
			good = conclude(m, OUTCOME_UNVERIFIED, "output %d of the reference is made of rounding "
							"errors: %zu of %zu elements are others where inputs are off by a unit "
							"in the last place, so no tolerance tells right code from wrong", i,
							differ.mismatches, t->elements);
	}
	if (m->moves > 0)
		json_object_set_new(m->result->evidence, "moves", json_real(m->moves));
	return good;
}

static bool
launch_reference(Checks *c, Executor *executor, int seat)
{
	c->starts++;
	return measure_launch(c->m, executor, SIDE_REFERENCE, seat, &c->arena, c->weights);
}

/*
 * The reference's two processes, side by side, and of PyTorch's the first run of each; that of the
 * second is compared later, as its others are.
 */
static bool
launch_both(Checks *c)
{
	Measure    *m = c->m;
	Executor   *both[2] = {&c->reference, &c->other};

	c->starts++;
	c->left = gpu_memory_left(m);
	c->beside = true;
	c->slot = m->backend->bring ? 1 : UINT32_MAX;
	for (int i = 0; i < 2; i++)
		if (!measure_begin_launch(m, both[i], SIDE_REFERENCE, i, &c->arena, c->weights))
			return false;
	measure_await_launches(m, both, 2, SPENT_LOAD);
	for (int i = 0; i < 2 && m->backend->bring; i++)
	{
		uint32_t	slot = i == 0 ? 0 : c->slot;

		if (!measure_begin_first(m, both[i], &c->arena, slot, c->seeds[slot],
								 m->job->profile.build_seconds))
			return false;
	}
	if (m->backend->bring)
		measure_await_launches(m, both, 2, SPENT_FIRST);
	return measure_end_launch(m, both[0]) && measure_end_launch(m, both[1]);
}

/* its runs in the second process, which are in another order */
static bool
run_other(Checks *c, uint32_t n, double limit)
{
	Measure    *m = c->m;

	if (c->beside && c->slot == n - 1)
		return measure_read(m, &c->other, SIDE_REFERENCE, &c->arena, 0, c->slot,
							c->found + c->slot * m->output_bytes)
			&& measure_poison(m, &c->other, SIDE_REFERENCE)
			&& run_checks(m, &c->other, SIDE_REFERENCE, &c->arena, n - 1, true, c->seeds, c->found,
						  limit);
	return run_checks(m, &c->other, SIDE_REFERENCE, &c->arena, n, true, c->seeds, c->found, limit);
}

/* what a fresh process gives is expected; whether another gives the same in another order */
static bool
run_reference(Checks *c, bool *agree)
{
	Measure    *m = c->m;
	double		limit = m->job->profile.build_seconds;
	/* what a process writes to its state is brought back before its first two runs alone */
	uint32_t	twice = c->n < 2 || m->restores ? c->n : 2;
	uint32_t	alike = 0;
	bool		good;
	bool		same;

	if (!run_checks(m, &c->reference, SIDE_REFERENCE, &c->arena, c->n, false, c->seeds,
					c->expected, limit)
		|| !measure_inputs_same(m, &c->arena, SIDE_REFERENCE, c->n - 1, &same))
		return false;
	c->overwrites = !same;
	if (!c->beside)
		c->left = m->gpu ? gpu_memory_left(m) : 0;
	good = (c->beside || launch_reference(c, &c->other, 1)) && run_other(c, twice, limit)
		&& note_memory(m, SIDE_REFERENCE, &c->other, c->left, c->beside ? 2 : 1);
	good = good && count_alike(c, c->expected, twice, &alike);
	*agree = alike == twice;
	c->beside = false;
	return good && (!*agree || stands_rounding(c, &c->other, limit));
}

/* which attributes of a reference its runs change, for its verdict */
static bool
name_state(Measure *m, Executor *executor)
{
	ExecutorResult result = executor_command(executor, WIRE_STATE, 0, 0, 0,
											 m->job->profile.build_seconds, NULL);

	if (!measure_failed(m, SIDE_REFERENCE, executor, result, "when asked for its state"))
		return false;
	text_clean(m->state, sizeof(m->state), executor->control->text,
			   sizeof(executor->control->text));
	return true;
}

/* what the calls of a fresh process give where each finds the state that the last one left */
static bool
call_in_a_row(Checks *c, Executor *executor, Side side, uint32_t n, char *out, double limit)
{
	Measure    *m = c->m;
	double		time = m->time[side];
	bool		good;

	m->restores = false;
	c->starts += side == SIDE_REFERENCE;
	good = measure_launch(m, executor, side, 1, &c->arena, c->weights)
		&& run_checks(m, executor, side, &c->arena, n, false, c->seeds, out, limit);
	m->restores = true;
	m->time[side] = time;
	measure_end(m, executor);
	return good;
}

/* A reference that returns its state has it written to by its caller, and does not tell. */
static bool
follow_reference(Checks *c, double limit)
{
	Measure    *m = c->m;
	Executor	other;
	uint32_t	n = c->n < CALLS_IN_A_ROW ? c->n : CALLS_IN_A_ROW;
	uint32_t	alike;

	c->followed = measure_alloc(m, n * m->output_bytes);
	if (!c->followed)
		return conclude(m, OUTCOME_LOST, "no memory for outputs of %zu bytes", m->output_bytes);
	executor_init(&other);
	if (!call_in_a_row(c, &other, SIDE_REFERENCE, n, c->followed, limit)
		|| !call_in_a_row(c, &other, SIDE_REFERENCE, n, c->found, limit)
		|| !count_alike(c, c->followed, n, &alike))
		return false;
	c->in_a_row = n > 1 && alike == n ? n : 0;
	return true;
}

/*
 * Timed runs begin with the state after construction, so code that leaves the state out would be
 * right in all of them.
 */
static bool
follow_candidate(Checks *c)
{
	Measure    *m = c->m;
	uint32_t	alike;

	if (c->in_a_row == 0)
		return true;
	measure_end(m, c->candidate);
	if (!call_in_a_row(c, c->candidate, SIDE_CANDIDATE, c->in_a_row, c->found,
					   measure_run_limit(m))
		|| !count_alike(c, c->followed, c->in_a_row, &alike))
		return false;
	if (alike == c->in_a_row)
		return true;
	measure_cause(m, SIDE_CANDIDATE, "state");
	return conclude(m, OUTCOME_WRONG_OUTPUT, "call %u of a process is wrong, where each finds "
					"the state that the last one left: the reference changes %s", alike + 1,
					m->state);
}

/* the first process of the reference, on a GPU the second beside it, and a first run of each */
static bool
start_reference(Checks *c)
{
	Measure    *m = c->m;

	/* of a single input, one of them might overwrite it while the other reads it */
	if (!(m->gpu && c->n > 1 ? launch_both(c) : launch_reference(c, &c->reference, 0)))
		return false;
	if (c->beside && m->backend->bring)
		return learn_outputs(m, &c->reference)
			&& measure_poison(m, &c->reference, SIDE_REFERENCE);
	return run_checks(m, &c->reference, SIDE_REFERENCE, &c->arena, 1, false, c->seeds, NULL,
					  m->job->profile.build_seconds);
}

/*
 * The reference in two processes; what it gives in the first is expected of the candidate. Where
 * they disagree, it may keep state from run to run. Then each run of either side begins with the
 * state after construction, if that makes it agree.
 */
static bool
check_reference(Checks *c)
{
	Measure    *m = c->m;
	double		limit = m->job->profile.build_seconds;
	size_t		budget = m->backend->arena_bytes(m);
	size_t		left;
	bool		agree;

	/* a first run may warm up for long: libraries initialise, code compiles itself */
	if (!start_reference(c))
		return false;
	/* fewer outputs that take gigabytes are kept; the rounds compare those that are missing here */
	while (c->n > 1 && c->n * m->output_bytes > m->backend->output_share * budget)
		c->n--;
	left = c->beside ? gpu_memory_left(m) : 0;
	c->expected = measure_alloc(m, c->n * m->output_bytes);
	c->found = measure_alloc(m, c->n * m->output_bytes);
	if (!c->expected || !c->found)
		return conclude(m, OUTCOME_LOST, "no memory for outputs of %zu bytes", m->output_bytes);
	/* that is no process's */
	if (c->beside)
		c->left -= left - gpu_memory_left(m);
	if (c->beside && c->n < 2)
	{
		/* its first run was on an input that has no output to compare */
		measure_end(m, &c->other);
		c->beside = false;
	}
	if (m->seeds_runs)
	{
		/* the first run told whether random numbers are consumed; start again with the seed set */
		measure_end(m, &c->reference);
		measure_end(m, &c->other);
		if (!(c->beside ? launch_both(c) : launch_reference(c, &c->reference, 0)))
			return false;
	}
	if (!run_reference(c, &agree))
		return false;
	if (!agree && m->job->language == LANGUAGE_PYTORCH)
	{
		m->restores = true;
		measure_end(m, &c->reference);
		measure_end(m, &c->other);
		if (!launch_reference(c, &c->reference, 0)
			|| !run_reference(c, &agree) || !name_state(m, &c->reference))
			return false;
		measure_end(m, &c->other);
		if (agree && !follow_reference(c, limit))
			return false;
		json_object_set_new(m->result->evidence, "restored", json_string(m->state));
	}
	if ((!agree && !compare(c, c->n < 2 ? c->n : 2, SIDE_REFERENCE))
		|| !find_repeated(m, c->expected, c->n)
		|| !estimate(m, &c->reference, SIDE_REFERENCE, &c->arena, limit, &c->block_cost))
		return false;
	/* on a GPU it ends while the first candidate loads */
	measure_end(m, &c->other);
	m->start_time = m->result->startup_seconds / c->starts;
	m->sound = true;
	return true;
}

/* whether the candidate's first runs are right */
static bool
agrees(Checks *c, uint32_t n, bool *right)
{
	uint32_t	alike = 0;
	bool		good = count_alike(c, c->expected, n, &alike);

	c->compared = n;
	*right = alike == n;
	return good;
}

/* whether a constructor may change what PyTorch computes, as copying by name has the reference's */
static bool
sets_globals(const char *source)
{
	static const char *const words[] = {"set_default", "set_float32", "backends"};

	return text_mentions(source, words, sizeof(words) / sizeof(words[0]));
}

/* its outputs of the first input */
static bool
first_run(Checks *c)
{
	Measure    *m = c->m;
	bool		made = c->begun && m->backend->bring;

	c->begun = false;
	return made ? measure_read(m, c->candidate, SIDE_CANDIDATE, &c->arena, 0, 0, c->found)
		&& measure_poison(m, c->candidate, SIDE_CANDIDATE)
		: run_checks(m, c->candidate, SIDE_CANDIDATE, &c->arena, 1, false, c->seeds, c->found,
					 measure_run_limit(m));
}

/*
 * Whether it has arrays of its own, and whether its runs are right. What is right has to leave its
 * inputs alone, as the reference does.
 */
static bool
run_candidate(Checks *c, bool *weights, bool *right)
{
	Measure    *m = c->m;
	bool		same;

	if (!c->begun)
	{
		if (!measure_launch(m, c->candidate, SIDE_CANDIDATE, 1, &c->arena, c->weights))
			return false;
		c->arrays = c->candidate->value > 0;
	}
	if (m->member->by_name && !c->arrays && !sets_globals(m->job->reference))
	{
		/* its runs would be those that are known to be wrong */
		m->member->by_name = false;
		m->member->alike = true;
		return true;
	}
	m->time[SIDE_CANDIDATE] = 0;
	*weights = m->job->language == LANGUAGE_PYTORCH && c->arrays;
	if (!first_run(c) || !agrees(c, 1, right))
		return false;
	/* the first call of a process counts as all others do */
	if (!*right)
		return true;
	if (!run_checks(m, c->candidate, SIDE_CANDIDATE, &c->arena, c->n, false, c->seeds, c->found,
					measure_run_limit(m))
		|| !agrees(c, c->n, right)
		|| !measure_inputs_same(m, &c->arena, SIDE_CANDIDATE, c->n - 1, &same))
		return false;
	if (!*right || same || c->overwrites)
		return true;
	measure_cause(m, SIDE_CANDIDATE, "input_overwritten");
	return conclude(m, OUTCOME_WRONG_OUTPUT, "the outputs are right, but an input is another after "
					"the run: the reference leaves it as it was, and its caller may need it");
}

/*
 * Whether the weights of a candidate that is wrong would be others if they were copied by name.
 * They may be where it can't say; where they would not, its runs would be as wrong.
 */
static bool
would_change(Checks *c)
{
	Measure    *m = c->m;
	double		started = clock_now();
	ExecutorResult result;

	if (sets_globals(m->job->reference))
		return true;
	result = executor_command(c->candidate, WIRE_WEIGHTS, 0, 0, c->weights,
							  m->job->profile.build_seconds, NULL);
	m->result->startup_seconds += measure_spent(m, SPENT_LOAD, started) - started;
	return result != EXECUTOR_OK || c->candidate->value > 0;
}

/*
 * The candidate draws its weights from the reference's seed, its constructor being run as the
 * reference's is. Where that disagrees, the reference's are copied to those of the same names. What
 * the first check ended with holds for all later processes.
 */
static bool
check_candidate(Checks *c)
{
	Measure    *m = c->m;
	const Profile *p = &m->job->profile;
	/* only a set asks for it */
	size_t		left = m->gpu && m->nmembers > 1 && !c->begun ? gpu_memory_left(m) : 0;
	double		start;
	bool		taken;
	bool		weights;
	bool		right;

	if (!run_candidate(c, &weights, &right))
		return false;
	m->member->alike = weights && !right && !would_change(c);
	if (weights && !right && !m->member->alike)
	{
		m->member->by_name = true;
		measure_end(m, c->candidate);
		if (!run_candidate(c, &weights, &right))
			return false;
	}
	if (weights)
		json_object_set_new(m->result->evidence, "weights",
							json_string(m->member->by_name ? "by name" : "in order"));
	start = clock_now();
	if (!compare(c, c->compared, SIDE_CANDIDATE))
		return false;
	m->check_time = (clock_now() - start) / c->n;
	m->member->checked_seconds = 0;
	taken = m->member->taken;
	if (!estimate(m, c->candidate, SIDE_CANDIDATE, &c->arena, measure_run_limit(m),
				  &c->block_cost))
		return false;
	if (!note_memory(m, SIDE_CANDIDATE, c->candidate, left, 1)
		|| !note_memory(m, SIDE_REFERENCE, &c->reference, 0, 1))
		return false;
	/* from now on both sides' results are copied, and blocks are as long as that makes them */
	if (m->member->taken && !taken
		&& !estimate(m, &c->reference, SIDE_REFERENCE, &c->arena, p->build_seconds,
					 &c->block_cost))
		return false;
	/*
	 * a run shorter than what a block costs is not resolved here, and may be estimated as next to
	 * nothing
	 */
	if (m->time[SIDE_CANDIDATE]
		> p->run_limit_factor * fmax(m->time[SIDE_REFERENCE], c->block_cost))
	{
		measure_cause(m, SIDE_CANDIDATE, "slow_run");
		return conclude(m, OUTCOME_TIMEOUT,
						"the code takes %.3g s a run and the reference %.3g s; the limit is %g "
						"times as long", m->time[SIDE_CANDIDATE], m->time[SIDE_REFERENCE],
						p->run_limit_factor);
	}
	return follow_candidate(c);
}

/* what a member is before its checks */
typedef struct Unchecked
{
	int			number;			/* in the heat */
	Member	   *member;
	Executor	executor;
	bool		arrays;
	bool		done;			/* with a verdict that no mate can have caused, or none */
	bool		taken;
	json_t	   *evidence;
} Unchecked;

/* All run the same inputs: what one has left is overwritten before the next can look there. */
static void
overwrite(Checks *c)
{
	Measure    *m = c->m;

	for (uint32_t slot = 0; slot < c->arena.slots && m->nmembers > 1; slot++)
		measure_unstage(m, &c->arena, slot);
}

static void
enter(Checks *c, Member *member, int place)
{
	Measure    *m = c->m;

	heat_enter(m, member);
	m->time[SIDE_REFERENCE] = c->time;
	c->arena.place = place;
}

static void
check_alone(Checks *c, Member *member)
{
	Executor	executor;

	executor_init(&executor);
	enter(c, member, 1);
	c->candidate = &executor;
	c->begun = false;
	check_candidate(c);
	measure_end(c->m, &executor);
	overwrite(c);
}

/* how many processes have enough of the GPU's memory, and pools as large as these may be */
static int
room_beside(Checks *c, int n)
{
	Measure    *m = c->m;
	size_t		left = (size_t) (GPU_SHARE * (double) gpu_memory_left(m));
	size_t		least = POOL_TIMES * m->reference.pool_used;

	least = m->job->language != LANGUAGE_PYTORCH ? 0 : least > POOL_LEAST ? least : POOL_LEAST;
	while (n > 1 && left < (size_t) n * (least + m->reference.gpu_bytes))
		n--;
	left = left / (size_t) n - m->reference.gpu_bytes;
	m->gpu->set_pool_bytes = left < m->gpu->pool_bytes ? left : m->gpu->pool_bytes;
	return n;
}

/* each that is left begins to load, or to make its first run, or has done all that is begun so */
static void
step_beside(Checks *c, Unchecked *u, int n, int step)
{
	Measure    *m = c->m;
	Executor   *begun[BEGUN_BESIDE];
	int			nbegun = 0;

	for (int i = 0; i < n && !m->dissolved; i++)
	{
		Executor   *executor = &u[i].executor;
		bool		good;

		if (u[i].member->by_itself || u[i].member->result.outcome != OUTCOME_NONE)
			continue;
		enter(c, u[i].member, i + 1);
		if (step == 1)
			u[i].arrays = executor->value > 0;
		good = step == 0 ? measure_begin_launch(m, executor, SIDE_CANDIDATE, 1, &c->arena,
												c->weights)
			: step == 1 ? !m->backend->bring
			|| measure_begin_first(m, executor, &c->arena, 0, c->seeds[0], measure_run_limit(m))
			: measure_end_launch(m, executor);
		if (good)
			begun[nbegun++] = executor;
	}
	heat_enter_all(m);
	if (step == 0 || (step == 1 && m->backend->bring))
		measure_await_launches(m, begun, nbegun, step == 0 ? SPENT_LOAD : SPENT_FIRST);
}

/* what was spent on these is theirs */
static void
share_beside(Measure *m, const Unchecked *u, int n)
{
	for (int i = 0; i < m->nmembers; i++)
		m->members[i].waits = true;
	for (int i = 0; i < n; i++)
		u[i].member->waits = false;
	heat_share(m);
	for (int i = 0; i < m->nmembers; i++)
		m->members[i].waits = false;
}

/*
 * Members whose processes begin side by side, and are then checked one after the other. Each has
 * slots and a pool of its own, so outputs that are wrong are its own doing. Whatever else fails
 * there may be another's, and the member is checked again by itself.
 */
static void
check_beside(Checks *c, Unchecked *u, int n)
{
	Measure    *m = c->m;
	size_t		left = gpu_memory_left(m);
	size_t		taken;

	measure_share(m, n);
	for (int step = 0; step < 3 && !m->dissolved; step++)
		step_beside(c, u, n, step);
	taken = left - gpu_memory_left(m);
	share_beside(m, u, n);
	for (int i = 0; i < n && !m->dissolved; i++)
	{
		Member	   *member = u[i].member;

		if (member->by_itself || member->result.outcome != OUTCOME_NONE)
			continue;
		enter(c, member, i + 1);
		c->candidate = &u[i].executor;
		c->arrays = u[i].arrays;
		c->begun = true;
		if (taken / (size_t) n > u[i].executor.pool_bytes)
			member->code.gpu_bytes = taken / (size_t) n - u[i].executor.pool_bytes;
		u[i].done = check_candidate(c) || member->result.outcome == OUTCOME_WRONG_OUTPUT
			|| member->result.outcome == OUTCOME_CANCELLED;
	}
	for (int i = 0; i < n; i++)
	{
		enter(c, u[i].member, i + 1);
		measure_end(m, &u[i].executor);
	}
	for (int i = 0; i < n; i++)
	{
		c->arena.place = i + 1;
		overwrite(c);
	}
	measure_share_no_more(m);
}

/* as it was before its checks */
static void
uncheck(Unchecked *u)
{
	Result	   *r = &u->member->result;

	r->outcome = OUTCOME_NONE;
	r->detail[0] = '\0';
	json_decref(r->evidence);
	r->evidence = json_incref(u->evidence);
	r->checks = 0;
	r->max_error = 0;
	u->member->killed = u->member->by_itself = u->member->by_name = u->member->alike = false;
	u->member->taken = u->taken;
}

/* A candidate that is wrong leaves its heat. */
static void
check_candidates(Checks *c)
{
	Measure    *m = c->m;
	bool		taken = m->member->taken;

	c->time = m->time[SIDE_REFERENCE];
	heat_share(m);
	for (int i = 0; heat_next(m, &i);)
	{
		Unchecked	u[BEGUN_BESIDE];
		int			n = 0;

		for (; n < c->beside_most && heat_next(m, &i); i++)
			u[n++] = (Unchecked) {.number = i,.member = m->member};
		if (n > 1)
			n = room_beside(c, n);
		for (int k = 0; k < n; k++)
		{
			u[k].member->taken = u[k].taken = taken;
			u[k].evidence = json_deep_copy(u[k].member->result.evidence);
			executor_init(&u[k].executor);
		}
		if (n > 1)
			check_beside(c, u, n);
		for (int k = 0; k < n; k++)
		{
			if (!u[k].done)
			{
				uncheck(&u[k]);
				check_alone(c, u[k].member);
			}
			json_decref(u[k].evidence);
		}
		i = u[n - 1].number + 1;
	}
}

bool
checks_run(Measure *m)
{
	uint32_t	n = (uint32_t) m->job->profile.first_checks;
	Checks		c = {.m = m, .n = n, .slots = n > CHECK_SLOTS ? n : CHECK_SLOTS, .beside_most = 1};
	bool		good;

	arena_init(&c.arena);
	executor_init(&c.reference);
	executor_init(&c.other);
	c.weights = random_next(&m->random);
	if (m->gpu)
		c.beside_most = m->nmembers < BEGUN_BESIDE ? m->nmembers : BEGUN_BESIDE;
	good = make_inputs(&c) && check_reference(&c);
	if (good)
		check_candidates(&c);
	heat_enter_all(m);
	measure_end(m, &c.reference);
	measure_end(m, &c.other);
	arena_destroy(&c.arena);
	measure_free(m, c.expected);
	measure_free(m, c.found);
	measure_free(m, c.followed);
	free(c.seeds);
	free(c.order);
	return heat_left(m) > 0;
}
