/*
 * diagnose.c
 *		Why a candidate's outputs are wrong, found by trying.
 *
 * A verdict says what is wrong; code is mended sooner by knowing why. So code that is wrong runs
 * again, in fresh processes on fresh inputs, each time with one thing changed: the whole device is
 * waited for, outputs start as zeros, weights are the reference's. If it is right then, that thing
 * is the cause. All of it comes after the last clock and has a limit of time. What is told is
 * which runs were wrong and what made them right, and nothing of what an output should be. Members
 * of a heat get the same inputs, which the reference has run once.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "common/text.h"
#include "supervisor/backend.h"
#include "supervisor/beside.h"
#include "supervisor/checks/diagnose.h"
#include "supervisor/heat.h"
#include "supervisor/outcome.h"
#include "supervisor/checks/outputs.h"
#include "supervisor/checks/poison.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/session.h"

#define DIAGNOSIS_SECONDS	10.0
#define MAX_RUNS		8
#define MANY_PASSES		64
#define MANY_SECONDS	2.0
#define RUNS_SECONDS	0.5		/* of the reference's runs in a trial, about */
#define NEAR			30.0	/* tolerances: what is no farther off is nearly right */
/* unless it is off by more of what an output's elements are: half precision has wide tolerances */
#define NEAR_SHARE		0.2
/* or than so many times what the reference moves by where its inputs are a rounding off */
#define AS_FAR			4.0
#define FAR				300.0	/* more is no matter of precision, as where one element turns */
/* tolerances: right runs that come so close, and a wrong one no farther off, are of a kind */
#define CLOSE			0.5
#define JUST			2.0

/*
 * First trials of several members on a GPU, whose processes begin side by side, because that takes
 * longer than a trial
 */
typedef struct Trials
{
	Member	   *of[BEGUN_BESIDE];
	Executor	executor[BEGUN_BESIDE + 1]; /* the last is the reference's */
	bool		by_name[BEGUN_BESIDE];
	bool		failed[BEGUN_BESIDE];
	int			n;
	bool		given_up;		/* each of those that are left begins by itself */
} Trials;

typedef struct Diagnosis
{
	Measure    *m;
	Trials	   *trials;
	Executor   *begun;			/* of the first trial; NULL: none */
	Result		verdict;		/* put aside, because trials come to outcomes of their own */
	bool		killed;
	/* members of a heat are tried on the same inputs, until one wants others in their places */
	bool		prepared;
	bool		spent;
	Arena		arena;
	uint32_t	n;				/* runs of a trial, each on an input of its own */
	uint32_t	slot[MAX_RUNS];
	uint64_t	seed[MAX_RUNS];
	uint64_t	weights;
	char	   *expected;
	char	   *found[2];		/* of the first pass, and of one in the opposite order */
	/* of the last trial, by input */
	bool		bad[2][MAX_RUNS];
	double		error;			/* the largest, in tolerances */
	double		deviation;		/* likewise, of right outputs, too */
	double		far;			/* the error over what is near for its output */
	bool		finite;			/* wrong elements are, as far as they were looked at */
	uint32_t	calls;			/* before the first wrong one */
	bool		changed;		/* an input was another after its run */
	bool		overwrites;		/* after the reference's, too */
	bool		unsteady;		/* the same input gave other outputs */
	bool		arrays;			/* the code has some of its own, as weights */
} Diagnosis;

/* how a trial is made; the rest of it stands in the measurement, as TrialChange */
typedef enum Manner
{
	MANNER_SINGLE,				/* a block for each run */
	MANNER_TWICE,				/* and all of them once more, the last input first */
	MANNER_TURNED,				/* the last input first */
	MANNER_ANEW,				/* and as many other inputs in the places of the first */
	MANNER_BLOCK,				/* all runs in one block */
	MANNER_MANY,				/* all of them again and again, until one is wrong */
} Manner;

static double
left(const Diagnosis *d)
{
	return d->m->trial_ends - clock_now();
}

static bool
is_over(const Diagnosis *d)
{
	return executor_cancelled || left(d) <= 0 || d->m->result->outcome == OUTCOME_LOST;
}

/* what was found: its code for programs, and a sentence for the code's author */
static void __attribute__((format(printf, 3, 4)))
say(Diagnosis *d, const char *cause, const char *format,...)
{
	size_t		length = strlen(d->verdict.detail);
	char		text[600];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_object_set_new(d->verdict.evidence, "cause", json_string(cause));
	if (length > 0 && length + strlen(text) + 3 < sizeof(d->verdict.detail))
		snprintf(d->verdict.detail + length, sizeof(d->verdict.detail) - length, "%s%s",
				 d->verdict.detail[length - 1] == '.' ? " " : ". ", text);
}

/* what a run has left, its outputs into `out` */
static bool
take_run(Diagnosis *d, Executor *executor, Side side, uint32_t i, char *out)
{
	Measure    *m = d->m;
	bool		same;

	if (!measure_read(m, executor, side, &d->arena, 0, d->slot[i], out)
		|| !measure_poison(m, executor, side)
		|| !measure_inputs_same(m, &d->arena, side, d->slot[i], &same))
		return false;
	d->changed = d->changed || !same;
	return true;
}

static bool
run_one(Diagnosis *d, Executor *executor, Side side, uint32_t i, char *out)
{
	Measure    *m = d->m;
	double		elapsed;

	measure_phase(m, "checking", false);
	return measure_stage(m, &d->arena, side, &d->slot[i], 1)
		&& measure_block(m, executor, side, &d->slot[i], &d->seed[i], 1, left(d), &elapsed)
		&& take_run(d, executor, side, i, out);
}

/* the first input's run, which one that has begun beside others may have made */
static bool
run_first(Diagnosis *d, Executor *executor, Side side, bool begun, char *out)
{
	return begun && d->m->backend->bring ? take_run(d, executor, side, 0, out)
		: run_one(d, executor, side, 0, out);
}

static bool
run_block(Diagnosis *d, Executor *executor, Side side)
{
	Measure    *m = d->m;
	double		elapsed;

	if (!measure_stage(m, &d->arena, side, d->slot, d->n)
		|| !measure_block(m, executor, side, d->slot, d->seed, d->n, left(d), &elapsed))
		return false;
	for (uint32_t i = 0; i < d->n; i++)
		if (!measure_read(m, executor, side, &d->arena, i, d->slot[i],
						  d->found[0] + i * m->output_bytes))
			return false;
	return true;
}

/* tolerances of an output by which precision alone may have it wrong */
static double
near_by(const Measure *m, int output)
{
	double		rtol,
				atol;

	tensor_tolerance(m->output[output].dtype, m->job->tolerance, &rtol, &atol);
	return fmax(fmin(NEAR, NEAR_SHARE / (rtol + atol)), fmin(AS_FAR * m->moves, FAR));
}

/* which runs give other outputs than expected, and by how much; false after conclude() */
static bool
compare_runs(Diagnosis *d, const char *expected, const char *found, bool *differ)
{
	Measure    *m = d->m;
	double		started = clock_now();

	for (uint32_t i = 0; i < d->n; i++)
	{
		size_t		at = i * m->output_bytes;

		differ[i] = false;
		for (int o = 0; o < m->outputs; o++)
		{
			Comparison	c;

			if (!m->backend->compare(m, expected + at, found + at, o, &c))
				return false;
			at += measure_gathered(&m->output[o]);
			d->deviation = fmax(d->deviation, c.error);
			if (c.equal)
				continue;
			differ[i] = true;
			d->error = fmax(d->error, c.error);
			d->far = fmax(d->far, c.error / near_by(m, o));
			d->finite = d->finite && (isfinite(c.found) || !isfinite(c.expected));
		}
	}
	measure_spent(m, SPENT_COMPARE, started);
	return true;
}

static bool
judge(Diagnosis *d, int pass)
{
	return compare_runs(d, d->expected, d->found[pass], d->bad[pass]);
}

/* whether the same inputs give the same outputs, within the tolerance */
static bool
compare_passes(Diagnosis *d)
{
	Diagnosis	passes = *d;
	bool		differ[MAX_RUNS] = {false};

	d->unsteady = false;
	if (!compare_runs(&passes, d->found[0], d->found[1], differ))
		return false;
	for (uint32_t i = 0; i < d->n; i++)
		d->unsteady = d->unsteady || differ[i];
	return true;
}

/* all runs on the same inputs, again and again; counts the calls until one is wrong */
static bool
run_many(Diagnosis *d, Executor *executor)
{
	Measure    *m = d->m;
	double		until = clock_now() + fmin(MANY_SECONDS, left(d) / 2);

	d->calls = 0;
	for (int pass = 0; pass < MANY_PASSES && clock_now() < until; pass++)
	{
		for (uint32_t i = 0; i < d->n; i++)
			if (!run_one(d, executor, SIDE_CANDIDATE, i, d->found[0] + i * m->output_bytes))
				return false;
		if (!judge(d, 0))
			return false;
		for (uint32_t i = 0; i < d->n; i++, d->calls++)
			if (d->bad[0][i])
				return true;
	}
	return true;
}

/*
 * The candidate's runs in a fresh process, or in the one that has begun; false if they were not all
 * made
 */
static bool
attempt_once(Diagnosis *d, uint32_t change, Manner manner)
{
	Measure    *m = d->m;
	Executor	own;
	Executor   *executor = &own;
	bool		begun = d->begun != NULL;
	bool		good;

	executor_init(&own);
	if (begun)
		executor = d->begun;
	d->begun = NULL;
	if (is_over(d))
		return false;
	m->result->outcome = OUTCOME_NONE;
	d->error = d->deviation = d->far = 0;
	d->finite = true;
	d->changed = false;
	memset(d->bad, 0, sizeof(d->bad));
	m->trial = change;
	good = begun || measure_launch(m, executor, SIDE_CANDIDATE, 1, &d->arena, d->weights);
	d->arrays = m->job->language == LANGUAGE_PYTORCH && executor->arrays > 0;
	if (manner == MANNER_BLOCK)
		good = good && run_block(d, executor, SIDE_CANDIDATE);
	if (manner == MANNER_MANY)
		good = good && run_many(d, executor);
	for (uint32_t call = 0; good && manner < MANNER_BLOCK && call < d->n; call++)
	{
		uint32_t	i = manner == MANNER_TURNED ? d->n - 1 - call : call;
		char	   *out = d->found[0] + i * m->output_bytes;

		good = i == 0 ? run_first(d, executor, SIDE_CANDIDATE, begun, out)
			: run_one(d, executor, SIDE_CANDIDATE, i, out);
	}
	for (uint32_t i = d->n; good && manner == MANNER_TWICE && i-- > 0;)
		good = run_one(d, executor, SIDE_CANDIDATE, i, d->found[1] + i * m->output_bytes);
	d->spent = d->spent || manner == MANNER_ANEW;
	good = good && (manner != MANNER_ANEW || measure_generate(m, &d->arena, d->slot, d->n));
	for (uint32_t i = 0; good && manner == MANNER_ANEW && i < d->n; i++)
		good = run_one(d, executor, SIDE_CANDIDATE, i, d->found[1] + i * m->output_bytes);
	m->trial = 0;
	measure_end(m, executor);
	return good && judge(d, 0) && (manner != MANNER_TWICE || (judge(d, 1) && compare_passes(d)));
}

/* what fails beside others may have lacked what they held, and is tried by itself */
static bool
attempt(Diagnosis *d, uint32_t change, Manner manner)
{
	bool		begun = d->begun != NULL;

	return attempt_once(d, change, manner) || (begun && attempt_once(d, change, manner));
}

static uint32_t
count(const Diagnosis *d, int pass)
{
	uint32_t	wrong = 0;

	for (uint32_t i = 0; i < d->n; i++)
		wrong += d->bad[pass][i];
	return wrong;
}

/* whether a change makes the code right */
static bool
mends(Diagnosis *d, uint32_t change, Manner manner)
{
	return attempt(d, change, manner) && count(d, 0) + count(d, 1) == 0;
}

/* the outputs that are expected, of a process that has begun beside others, or its own */
static bool
expect(Diagnosis *d, Executor *reference, bool begun)
{
	Measure    *m = d->m;
	bool		good;

	d->changed = false;
	good = run_first(d, reference, SIDE_REFERENCE, begun, d->expected);
	for (uint32_t i = 1; good && i < d->n; i++)
		good = run_one(d, reference, SIDE_REFERENCE, i, d->expected + i * m->output_bytes);
	d->overwrites = d->changed;
	measure_end(m, reference);
	return good;
}

static bool
reference_runs(Diagnosis *d)
{
	Measure    *m = d->m;
	Executor	reference;

	executor_init(&reference);
	if (measure_launch(m, &reference, SIDE_REFERENCE, 0, &d->arena, d->weights))
		return expect(d, &reference, false);
	measure_end(m, &reference);
	return false;
}

/* what a run takes where so many candidates have memory of their own */
static size_t
run_bytes(const Measure *m, int candidates)
{
	size_t		others = (size_t) candidates - 1;

	return (m->backend->input_copies + others) * m->input_slot_bytes
		+ (m->backend->output_copies + others) * m->output_slot_bytes + 3 * m->output_bytes;
}

/* what both sides get */
static bool
prepare(Diagnosis *d)
{
	Measure    *m = d->m;
	size_t		budget = m->backend->arena_bytes(m);
	size_t		each = run_bytes(m, m->shares ? m->shares : 1);

	d->n = MAX_RUNS;
	while (d->n > 1 && (d->n * each > budget || d->n * m->time[SIDE_REFERENCE] > RUNS_SECONDS))
		d->n--;
	for (uint32_t i = 0; i < d->n; i++)
	{
		d->slot[i] = i;
		d->seed[i] = random_next(&m->random);
	}
	d->weights = random_next(&m->random);
	if (!measure_arena(m, &d->arena, d->n, 0) || !measure_generate(m, &d->arena, d->slot, d->n))
		return false;
	d->expected = measure_alloc(m, d->n * m->output_bytes);
	d->found[0] = measure_alloc(m, d->n * m->output_bytes);
	d->found[1] = measure_alloc(m, d->n * m->output_bytes);
	return d->expected && d->found[0] && d->found[1];
}

/*
 * A first trial as the code was measured. Where both ways of giving weights were tried, the first
 * of them is kept if it gives any right output.
 */
static bool
measure_again(Diagnosis *d)
{
	Measure    *m = d->m;
	uint32_t	wrong;

	if (!m->member->by_name)
		return attempt(d, 0, MANNER_TWICE);
	m->member->by_name = false;
	if (!attempt(d, 0, MANNER_TWICE))
		return false;
	wrong = count(d, 0) + count(d, 1);
	if (wrong < 2 * d->n)
		return true;
	m->member->by_name = true;
	return attempt(d, 0, MANNER_TWICE);
}

/* the calls of the first process, in order, that were wrong: from which on, and whether all are */
static bool
starts_wrong_at(const Diagnosis *d, uint32_t *first)
{
	bool		wrong[2 * MAX_RUNS] = {false};

	for (uint32_t i = 0; i < d->n; i++)
	{
		wrong[i] = d->bad[0][i];
		wrong[2 * d->n - 1 - i] = d->bad[1][i];
	}
	for (*first = 0; *first < 2 * d->n && !wrong[*first]; (*first)++)
		;
	for (uint32_t i = *first; i < 2 * d->n; i++)
		if (!wrong[i])
			return false;
	return *first > 0 && *first < 2 * d->n;
}

static bool
say_unfinished(Diagnosis *d)
{
	if (d->m->gpu)
		say(d, "unfinished", "It is right when the whole device is waited for: work goes on in a "
			"stream that the current stream does not wait for");
	else
		say(d, "unfinished", "It is right a moment later: something is still at work when the "
			"call returns");
	return true;
}

static bool
find_kept(Diagnosis *d, Manner manner)
{
	if (!d->m->backend->outputs_apart || !mends(d, TRIAL_LEFT, manner))
		return false;
	say(d, "kept_result", "It is right where no caller writes to its results: it counts on what a "
		"result held that was returned before");
	return true;
}

/*
 * other inputs where those of before lay; true where the cause is found, or where the time was up
 * before the reference had run on them
 */
static bool
find_address(Diagnosis *d)
{
	bool		all;

	if (!attempt(d, 0, MANNER_ANEW) || !reference_runs(d))
		return true;
	if (!judge(d, 1))
		return true;
	if (count(d, 1) == 0)
		return false;
	all = count(d, 1) == d->n;
	/* by the inputs themselves, if a process that has seen no others is wrong for the same */
	if (!attempt(d, 0, MANNER_TWICE))
		return true;
	if (count(d, 0) > 0 && memcmp(d->bad[0], d->bad[1], sizeof(d->bad[0])) == 0)
	{
		say(d, "some_inputs", "It is wrong for %u of %u inputs, whenever it gets them",
			count(d, 0), 2 * d->n);
		return true;
	}
	if (!all || count(d, 0) + count(d, 1) > 0)
		return false;
	say(d, "later_calls", "It is right for the first input that lies at an address, and wrong for "
		"others that lie there later: it keeps results by their inputs' addresses");
	return true;
}

/* single runs are right */
static bool
find_in_blocks(Diagnosis *d)
{
	if (d->n < 2 || !attempt(d, 0, MANNER_BLOCK))
		return false;
	if (count(d, 0) == 0)
	{
		if (find_address(d) || !attempt(d, 0, MANNER_MANY))
			return true;
		/* in as many calls it was right before */
		if (count(d, 0) > 0 && d->calls < 2 * d->n)
		{
			if (mends(d, TRIAL_WAITED, MANNER_TWICE))
				return say_unfinished(d);
			say(d, "unsteady", "It is right in some processes and wrong in others: random numbers, "
				"a race, or memory that was not initialised");
		}
		else if (count(d, 0) > 0)
			say(d, "later_calls", "It is right in the first %u calls of a process and wrong later, "
				"also for the same input: it keeps something from call to call", d->calls);
		else if (d->deviation >= CLOSE && d->verdict.wrong_error <= JUST)
			say(d, "tolerance", "It was right in %u further runs on %u inputs, but by up to %.2g "
				"of the tolerance off: its precision is too low for some inputs", d->calls, d->n,
				d->deviation);
		else
			say(d, "rarely", "It was right in %u further runs on %u inputs, so it is wrong rarely: "
				"for few inputs, because of a race, or because it tells inputs apart by what "
				"another may have later, as id() of a tensor", d->calls, d->n);
		return true;
	}
	if (mends(d, TRIAL_WAITED, MANNER_BLOCK))
		return say_unfinished(d);
	if (find_kept(d, MANNER_BLOCK))
		return true;
	say(d, "consecutive", "It is right when the device rests after each run, and wrong when runs "
		"follow one another at once");
	return true;
}

/*
 * whether it is by the number of calls that the first trial is wrong; `right`: calls before the
 * first wrong one, 0 where the first call alone is wrong
 */
static bool
is_by_call(const Diagnosis *d, uint32_t *right)
{
	*right = 0;
	return (d->bad[0][0] && count(d, 0) == 1 && count(d, 1) == 0) || starts_wrong_at(d, right);
}

/* whether what is right is the input that a process gets first, whichever that is */
static bool
find_first_input(Diagnosis *d)
{
	Diagnosis	seen = *d;

	if (d->n > 1 && !d->bad[0][0] && count(d, 0) == d->n - 1
		&& attempt(d, 0, MANNER_TURNED) && d->bad[0][0] && !d->bad[0][d->n - 1])
	{
		say(d, "later_calls", "It is right for the first input alone that a process gets: it keeps "
			"something of that");
		return true;
	}
	*d = seen;
	return false;
}

/* whether it is by the number of calls, by the inputs, or by chance */
static bool
find_pattern(Diagnosis *d)
{
	uint32_t	wrong = count(d, 0);
	uint32_t	right;

	if (is_by_call(d, &right) && right == 0)
		say(d, "first_call", "It is wrong in the first call of a process alone, and right from "
			"then on, also for the same input");
	else if (is_by_call(d, &right))
		say(d, "later_calls", "It is right in the first %u call%s of a process and wrong from then "
			"on, also for the same input: it keeps something from call to call", right,
			right == 1 ? "" : "s");
	else if (wrong < d->n && memcmp(d->bad[0], d->bad[1], sizeof(d->bad[0])) == 0)
		say(d, "some_inputs", "It is wrong for %u of %u inputs, whenever it gets them", wrong,
			d->n);
	else if (d->unsteady)
		say(d, "unsteady", "It gives other outputs for the same input: random numbers, a race, or "
			"memory that was not initialised");
	else
		return false;
	return true;
}

/*
 * Whether inputs alone make the first trial wrong, in each call alike. Outputs of C and CUDA begin
 * as other noise in each run, which shows where they are not written, or not yet.
 */
static bool
is_determined(const Diagnosis *d)
{
	return !d->m->backend->outputs_apart && !d->unsteady && count(d, 0) + count(d, 1) == 2 * d->n;
}

/*
 * Whether something of PyTorch code can be at work that the current stream does not wait for. Code
 * without any of these words calls PyTorch's own operations, one after the other.
 */
static bool
may_go_on(const Diagnosis *d)
{
	static const char *const words[] = {"stream", "graph", "compile", "thread", "async",
		"concurrent", "blocking", "pin_memory", "inline", "extension", "library", "triton", "jit",
		"ctypes", "__import__", "import_module", "cuda", "warp", "taichi", "jax", "numba"};

	return d->m->job->language != LANGUAGE_PYTORCH
		|| text_mentions(d->m->code[SIDE_CANDIDATE]->source, words,
						 sizeof(words) / sizeof(words[0]));
}

static void
find(Diagnosis *d)
{
	const Measure *m = d->m;
	Diagnosis	seen;
	bool		determined;
	uint32_t	calls;

	if (!measure_again(d))
		return;
	if (count(d, 0) + count(d, 1) == 0)
	{
		find_in_blocks(d);
		return;
	}
	determined = is_determined(d);
	/*
	 * first, because work that is not waited for can leave the first call right; with as many
	 * calls, because later ones alone may be wrong
	 */
	seen = *d;
	if (!determined && may_go_on(d) && mends(d, TRIAL_WAITED, MANNER_TWICE))
	{
		say_unfinished(d);
		return;
	}
	*d = seen;
	/* the result of the first call is the one that no caller has written to before */
	if ((!d->bad[0][0] || d->unsteady) && find_kept(d, MANNER_TWICE))
		return;
	*d = seen;
	if (find_first_input(d))
		return;
	if (d->far <= 1 && d->finite && !is_by_call(d, &calls))
	{
		char		moves[200] = "";

		if (m->moves > 0)
			snprintf(moves, sizeof(moves), ", or the task's tolerance is too small: the "
					 "reference moves by %.3g where its inputs are off by a unit in the last place",
					 m->moves);
		say(d, "tolerance", "All outputs are within %.3g tolerances in %u runs: perhaps only its "
			"precision is wrong%s", ceil(d->error), 2 * d->n, moves);
		return;
	}
	seen = *d;
	if (!m->backend->outputs_apart && !determined && attempt(d, TRIAL_ZEROED, MANNER_TWICE)
		&& (count(d, 0) + count(d, 1) == 0 || (seen.unsteady && !d->unsteady)))
	{
		bool		right = count(d, 0) + count(d, 1) == 0;

		say(d, "uninitialised", right ? "It is right where outputs start as zeros: it adds to "
			"them, or does not write zeros" : "It leaves elements of its outputs as they were");
		return;
	}
	if (seen.arrays && !m->member->alike && mends(d, TRIAL_WEIGHTS, MANNER_TWICE))
	{
		say(d, "weights", "It is right with the reference's weights: its own are others, because "
			"it draws them in another order, or otherwise, or gives them other names");
		return;
	}
	*d = seen;
	if (find_pattern(d))
		return;
	if (d->changed && !d->overwrites)
		say(d, "input_overwritten", "It overwrites an input");
	else if (!d->finite)
		say(d, "not_finite", "It gives NaN or infinities where the reference gives numbers");
	else
		say(d, "values", "It is wrong for all of %u inputs, in each call alike", d->n);
}

/* outputs are of another type or shape: are they right otherwise? */
static void
find_alike(Diagnosis *d, const char *cause)
{
	if (attempt(d, TRIAL_ALIKE, MANNER_SINGLE))
		say(d, cause, count(d, 0) == 0 ? "Its values agree otherwise"
			: "Its values differ as well");
}

/* C, where inputs can't be written to: does the code go on where it may? */
static void
find_crash(Diagnosis *d)
{
	/* what ends a later call ends none of these, with inputs of its own or without */
	if (!attempt(d, 0, MANNER_SINGLE) && attempt(d, TRIAL_OWN_INPUTS, MANNER_SINGLE))
		say(d, "input_overwritten", "It writes to an input, which it may only read");
}

static void
forget(Diagnosis *d)
{
	arena_destroy(&d->arena);
	measure_free(d->m, d->expected);
	measure_free(d->m, d->found[0]);
	measure_free(d->m, d->found[1]);
	*d = (Diagnosis) {.m = d->m,.trials = d->trials};
	arena_init(&d->arena);
}

/* whether trials will look for the cause of a wrong output */
static bool
is_sought(const Member *member)
{
	return member->result.outcome == OUTCOME_WRONG_OUTPUT
		&& !json_object_get(member->result.evidence, "cause");
}

static bool
enter_trial(void *context, int i, Start *start)
{
	Diagnosis  *d = context;
	Trials	   *t = d->trials;
	bool		reference = i == t->n;

	if (d->m->dissolved || (!reference && t->failed[i]))
		return false;
	if (reference)
		heat_enter_all(d->m);
	else
		heat_enter(d->m, t->of[i]);
	d->arena.place = i + 1;
	*start = (Start) {.executor = &t->executor[i],
		.side = reference ? SIDE_REFERENCE : SIDE_CANDIDATE,.seat = !reference,
		.arena = &d->arena,.weights = d->weights,.slot = d->slot[0],.seed = d->seed[0],
		.timeout = DIAGNOSIS_SECONDS};
	return true;
}

static bool
others_go_on(void *context, int i)
{
	Diagnosis  *d = context;

	if (i == d->trials->n)
		return false;
	d->trials->failed[i] = true;
	measure_end(d->m, &d->trials->executor[i]);
	return !d->m->dissolved;
}

static void
end_trials(Diagnosis *d)
{
	Trials	   *t = d->trials;

	for (int i = 0; i < t->n; i++)
	{
		heat_enter(d->m, t->of[i]);
		measure_end(d->m, &t->executor[i]);
	}
	heat_enter_all(d->m);
	measure_end(d->m, &t->executor[t->n]);
	t->n = 0;
}

/*
 * Begins the first trials of members from this one on. The code is loaded as it is at first in
 * measure_again(). There is memory for the further trials of one of them while all live.
 */
static void
begin_trials(Diagnosis *d, int from)
{
	Measure    *m = d->m;
	Trials	   *t = d->trials;
	int			sought = 0;

	end_trials(d);
	if (!m->gpu || t->given_up || executor_cancelled)
		return;
	for (int i = from; i < m->nmembers && sought < BEGUN_BESIDE; i++)
		if (is_sought(&m->members[i]))
			t->of[sought++] = &m->members[i];
	while (sought > 1 && MAX_RUNS * run_bytes(m, sought) > m->backend->arena_bytes(m))
		sought--;
	if (sought < 2)
		return;
	forget(d);
	heat_live_together(m, sought);
	heat_enter_all(m);
	m->trial_ends = clock_now() + DIAGNOSIS_SECONDS;
	m->patience = DIAGNOSIS_SECONDS;
	d->prepared = prepare(d);
	t->n = d->prepared ? measure_room_beside(m, sought + 1, m->gpu->pool_bytes
											 + 2 * m->reference.gpu_bytes) - 1 : 0;
	for (int i = 0; i <= t->n; i++)
		executor_init(&t->executor[i]);
	for (int i = 0; i < t->n; i++)
	{
		t->failed[i] = false;
		t->by_name[i] = t->of[i]->by_name;
		t->of[i]->by_name = false;
	}
	t->given_up = t->n < 2
		|| !measure_load_beside(m, &(Beside) {.n = t->n + 1,.enter = enter_trial,
				.goes_on = others_go_on,.context = d})
		|| m->dissolved || !expect(d, &t->executor[t->n], true);
	for (int i = 0; i < t->n; i++)
		t->of[i]->by_name = t->by_name[i];
	heat_share_among(m, t->of, sought);
	m->trial_ends = m->patience = 0;
	heat_live_apart(m);
	if (t->given_up)
	{
		end_trials(d);
		forget(d);
	}
}

/* which of the trials that have begun is the current member's; -1: none */
static int
trial_of(const Diagnosis *d)
{
	for (int i = 0; i < d->trials->n; i++)
		if (d->trials->of[i] == d->m->member)
			return i;
	return -1;
}

/* what the trials took is the member's, too */
static void
add_spent(Result *verdict, const Result *trials)
{
	verdict->startup_seconds += trials->startup_seconds;
	verdict->clock_seconds += trials->clock_seconds;
	for (int i = 0; i < SPENDINGS; i++)
		verdict->spent[i] += trials->spent[i];
}

/* of the current member */
static void
diagnose_member(Diagnosis *d)
{
	Measure    *m = d->m;
	const char *cause = json_string_value(json_object_get(m->result->evidence, "cause"));
	bool		crash = m->result->outcome == OUTCOME_CRASH && m->job->language == LANGUAGE_C
		&& cause && strcmp(cause, "segfault") == 0;
	bool		alike = cause && (strcmp(cause, "dtype") == 0 || strcmp(cause, "shape") == 0);
	int			trial = trial_of(d);

	if (!crash && (m->result->outcome != OUTCOME_WRONG_OUTPUT || (cause && !alike)))
		return;
	d->verdict = *m->result;
	d->killed = m->member->killed;
	/* found at once, without a trial */
	if (!cause)
		json_object_set_new(d->verdict.evidence, "cause", json_string("values"));
	*m->result = (Result) {.evidence = json_object()};
	m->trial_ends = clock_now() + DIAGNOSIS_SECONDS;
	d->prepared = d->prepared || (prepare(d) && reference_runs(d));
	d->arena.place = trial < 0 ? 1 : trial + 1;
	d->begun = trial < 0 || d->trials->failed[trial] ? NULL : &d->trials->executor[trial];
	if (d->prepared)
	{
		if (crash)
			find_crash(d);
		else if (alike)
			find_alike(d, cause);
		else
			find(d);
	}
	m->trial_ends = 0;
	if (trial >= 0)
		measure_end(m, &d->trials->executor[trial]);
	json_decref(m->result->evidence);
	add_spent(&d->verdict, m->result);
	*m->result = d->verdict;
	m->member->killed = d->killed;
	/* what one has left in the slots is overwritten before the next can look there */
	for (uint32_t i = 0; d->prepared && i < d->n; i++)
		measure_unstage(m, &d->arena, i);
	if (!d->prepared || d->spent)
	{
		d->trials->given_up |= d->spent;
		end_trials(d);
		forget(d);
	}
}

void
diagnose(Measure *m)
{
	Trials		trials = {.n = 0};
	Diagnosis	d = {.m = m,.trials = &trials};

	arena_init(&d.arena);
	executor_init(&trials.executor[0]);
	for (int i = 0; i < m->nmembers; i++)
	{
		heat_enter(m, &m->members[i]);
		if (is_sought(m->member) && trial_of(&d) < 0)
			begin_trials(&d, i);
		heat_enter(m, &m->members[i]);
		diagnose_member(&d);
	}
	end_trials(&d);
	forget(&d);
}
