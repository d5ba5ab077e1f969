/*
 * diagnose.c
 *		Why a candidate's outputs are wrong.
 *
 * A cause helps to mend code sooner than a verdict does. So wrong code runs again, in fresh
 * processes on fresh inputs, as it was measured and then with one thing changed: the whole device
 * is waited for, or outputs start as zeros. Five causes are told, those that a model can use: work
 * that is unfinished, a wrong first call, too low a precision, elements that are not written, and
 * work that is needed only where parameters are moved, which they are not here.
 * Trials come after the last clock and have a limit of time. They tell which runs were wrong and
 * what made them right, and nothing of what an output should be. The candidates of a job get the
 * same inputs, which the reference has run once.
 */
#include "supervisor/checks/checks.h"

#define DIAGNOSIS_SECONDS	10.0	/* of a candidate */
#define MAX_RUNS		8		/* inputs of a trial */
#define RUNS_SECONDS	0.5		/* of the reference's runs in a trial, about */
/* tolerances: outputs that are no farther off lack precision alone */
#define NEAR			10.0
/* errors up to so many times the reference's rounding errors count as near, up to a limit */
#define AS_FAR			4.0
#define FAR				300.0
/* tolerances: right runs that come so close, and a wrong one no farther off, lack precision */
#define CLOSE			0.5
#define JUST			2.0

/* the runs of one trial: all inputs, then all in the opposite order */
typedef struct Trial
{
	uint32_t	runs;
	uint32_t	wrong;			/* of them, */
	uint32_t	first;			/* and the first of these */
	double		error;			/* the largest deviation, in tolerances */
	bool		finite;			/* wrong elements are, as far as they were looked at */
	bool		steady;			/* an input gave the same outputs twice, within the tolerance */
} Trial;

typedef struct Diagnosis
{
	Measure    *m;
	Arena		arena;
	bool		moved;			/* parameters were, where the code was wrong */
	uint32_t	n;				/* inputs; 0: not prepared yet */
	bool		prepared;		/* they are there, and what the reference makes of them */
	uint64_t	seed[MAX_RUNS];
	char	   *expected;
	char	   *found[2];		/* outputs of both passes */
} Diagnosis;

/* Compares runs of a pass; false after conclude(). */
static bool
compare_runs(Diagnosis *d, const char *expected, const char *found, Trial *t)
{
	Measure    *m = d->m;

	for (uint32_t i = 0; i < d->n; i++)
	{
		size_t		at = i * m->output_bytes;
		Agreement	a;

		if (!measure_agree(m, expected + at, found + at, m->tolerance, &a))
			return false;
		t->error = fmax(t->error, a.error);
		if (a.wrong >= 0 && t->wrong++ == 0)
			t->first = t->runs;
		if (a.wrong >= 0 && isfinite(a.c.expected) && !isfinite(a.c.found))
			t->finite = false;
		t->runs++;
	}
	return true;
}

/* runs the candidate in a fresh process, with this TrialChange or 0; false: not to the end */
static bool
attempt(Diagnosis *d, uint32_t change, Trial *t)
{
	Measure    *m = d->m;
	Trial		twice = {0};
	Executor	executor;
	bool		good;

	*t = (Trial) {.finite = true,.steady = true};
	if (executor_cancelled || clock_now() >= m->trial.ends)
		return false;
	executor_init(&executor);
	m->result->outcome = OUTCOME_NONE;
	m->trial.changes = change;
	good = measure_launch(m, &executor, SIDE_CANDIDATE, 1, &d->arena)
		&& checks_runs(m, &executor, &d->arena, d->n, false, d->seed, d->found[0])
		&& checks_runs(m, &executor, &d->arena, d->n, true, d->seed, d->found[1]);
	m->trial.changes = 0;
	measure_end(m, &executor);
	good = good && compare_runs(d, d->expected, d->found[0], t)
		&& compare_runs(d, d->expected, d->found[1], t)
		&& compare_runs(d, d->found[0], d->found[1], &twice);
	t->steady = twice.wrong == 0;
	return good;
}

static bool
prepare(Diagnosis *d)
{
	Measure    *m = d->m;
	size_t		each = (m->backend->rests ? 3 : 2) * m->inputs.slot_bytes
		+ (m->backend->rests ? 2 : 1) * m->output_slot_bytes + 3 * m->output_bytes;
	Executor	reference;
	bool		good;

	d->n = MAX_RUNS;
	while (d->n > 1 && (d->n * each > m->device.arena_bytes
						|| d->n * m->member->time[SIDE_REFERENCE] > RUNS_SECONDS))
		d->n--;
	for (uint32_t i = 0; i < d->n; i++)
		d->seed[i] = random_next(&m->random);
	if (!m->backend->make_arena(m, &d->arena, d->n) || !measure_generate(m, &d->arena, d->n)
		|| !(d->expected = measure_alloc(m, d->n * m->output_bytes))
		|| !(d->found[0] = measure_alloc(m, d->n * m->output_bytes))
		|| !(d->found[1] = measure_alloc(m, d->n * m->output_bytes)))
		return false;
	executor_init(&reference);
	good = measure_launch(m, &reference, SIDE_REFERENCE, 0, &d->arena)
		&& checks_runs(m, &reference, &d->arena, d->n, false, d->seed, d->expected);
	measure_end(m, &reference);
	return good;
}

/*
 * A trial of the code as it was measured. Where both ways of giving weights were tried, the first
 * of them is kept if it gives any right output.
 */
static bool
measure_again(Diagnosis *d, Trial *t)
{
	Member	   *member = d->m->member;
	bool		both = member->by_name;

	member->by_name = false;
	if (!attempt(d, 0, t))
		return false;
	member->by_name = both && t->wrong == t->runs;
	return !member->by_name || attempt(d, 0, t);
}

static bool
lacks_precision(const Diagnosis *d, const Trial *t, double wrong_error)
{
	if (t->wrong == 0)
		return t->error >= CLOSE && wrong_error <= JUST;
	return t->finite && t->error <= fmax(NEAR, fmin(AS_FAR * d->m->facts.moves, FAR));
}

/*
 * Finds the cause of a wrong output; `wrong_error`: by how many tolerances it was off. NULL where
 * no trial came to an end, else the cause, and a sentence on it in `text`.
 */
static const char *
find_cause(Diagnosis *d, double wrong_error, char *text, size_t size)
{
	const Measure *m = d->m;
	/* outputs start as other noise in each run */
	bool		noisy = !m->backend->module;
	Trial		t;
	Trial		changed;

	if (!measure_again(d, &t))
		return NULL;
	/* work that is not waited for leaves some outputs right, or shows the noise beneath them */
	if (t.wrong > 0 && (!noisy || !t.steady || t.wrong < t.runs)
		&& attempt(d, TRIAL_WAITED, &changed) && changed.wrong == 0)
	{
		snprintf(text, size, m->backend->apart
				 ? "It is right when the whole device is waited for: work goes on in a stream that "
				 "the current stream does not wait for"
				 : "It is right a moment later: something is still at work when the call returns");
		return "unfinished";
	}
	if (t.wrong == 1 && t.first == 0)
	{
		snprintf(text, size, "It is wrong in the first call of a process alone, and right "
				 "from then on, also for the same input");
		return "first_call";
	}
	if (lacks_precision(d, &t, wrong_error))
	{
		snprintf(text, size, "All outputs are within %.3g tolerances in %u runs: perhaps only its "
				 "precision is too low, or the task's tolerance too small",
				 t.wrong > 0 ? ceil(t.error) : 1, t.runs);
		return "tolerance";
	}
	if (t.wrong == 0 && d->moved)
	{
		snprintf(text, size, "It is right where parameters are the constants that they begin "
				 "with, and wrong where they are moved");
		return "probe";
	}
	if (noisy && t.wrong > 0 && !t.steady && attempt(d, TRIAL_ZEROED, &changed)
		&& (changed.wrong == 0 || changed.steady))
	{
		snprintf(text, size, changed.wrong == 0 ? "It is right where outputs start as zeros: it "
				 "adds to them, or does not write zeros"
				 : "It leaves elements of its outputs as they were");
		return "uninitialised";
	}
	if (t.wrong == 0)
		snprintf(text, size, "It is right in %u further runs, so it is wrong for few inputs, or "
				 "now and then", t.runs);
	else
		snprintf(text, size, "It is wrong in %u of %u further runs%s", t.wrong, t.runs,
				 t.steady ? "" : ", and gives other outputs for the same input");
	return "values";
}

static void
add_cause(Result *verdict, const Result *trials, const char *cause, const char *text)
{
	size_t		length = strlen(verdict->detail);

	json_object_set_new(verdict->evidence, "cause", json_string(cause ? cause : "values"));
	if (cause && strcmp(cause, "probe") == 0)
		json_object_set_new(verdict->evidence, "probe", json_string(probe_names[PROBE_PARAMETERS]));
	if (cause && length > 0 && length + strlen(text) + 3 < sizeof(verdict->detail))
		snprintf(verdict->detail + length, sizeof(verdict->detail) - length, "%s%s",
				 verdict->detail[length - 1] == '.' ? " " : ". ", text);
	for (int i = 0; i < SPENDINGS; i++)
		verdict->spent[i] += trials->spent[i];
}

static void
diagnose_member(Diagnosis *d)
{
	Measure    *m = d->m;
	Result		verdict = *m->result;
	bool		killed = m->member->killed;
	const char *cause = NULL;
	char		text[300] = "";

	*m->result = (Result) {.evidence = json_object()};
	m->trial.ends = clock_now() + DIAGNOSIS_SECONDS;
	if (d->n == 0)
		d->prepared = prepare(d);
	if (d->prepared)
		cause = find_cause(d, verdict.wrong_error, text, sizeof(text));
	m->trial.ends = 0;
	add_cause(&verdict, m->result, cause, text);
	json_decref(m->result->evidence);
	*m->result = verdict;
	m->member->killed = killed;
	/* Overwrite what one process has left in the slots before the next can look there. */
	for (uint32_t i = 0; d->prepared && i < d->n; i++)
		m->backend->unstage(m, &d->arena, i);
}

void
diagnose(Measure *m)
{
	Diagnosis	d = {.m = m,.moved = m->facts.moves_parameters};

	arena_init(&d.arena);
	m->facts.moves_parameters = false;
	for (int i = 0; i < m->nmembers; i++)
	{
		heat_enter(m, &m->members[i]);
		if (m->result->outcome == OUTCOME_WRONG_OUTPUT
			&& !json_object_get(m->result->evidence, "cause"))
			diagnose_member(&d);
	}
	arena_destroy(&d.arena);
	measure_free(m, d.expected);
	measure_free(m, d.found[0]);
	measure_free(m, d.found[1]);
	m->facts.moves_parameters = d.moved;
}
