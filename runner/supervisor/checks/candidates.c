/*
 * candidates.c
 *		Candidates before any pair: is each right, and how long does a run take.
 *
 * On a GPU the processes of a few members of a heat begin side by side, because loading code and
 * making a first run take longer than the checks.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/text.h"
#include "supervisor/backend.h"
#include "supervisor/beside.h"
#include "supervisor/checks/candidates.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/heat.h"
#include "supervisor/outcome.h"
#include "supervisor/checks/outputs.h"
#include "supervisor/checks/probes.h"
#include "supervisor/session.h"

/* seconds, and times what the reference takes: longer loads and first runs are made alone */
#define PATIENCE		3.0
#define PATIENCE_TIMES	4.0
/* Memory outside of pools: at most so many times the reference's on average, or this. */
#define GREEDY_TIMES	2
#define GREEDY_LEAST	((size_t) 1 << 30)

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
	if (!checks_calls_in_a_row(c, c->candidate, SIDE_CANDIDATE, c->in_a_row, c->found,
							   measure_run_limit(m))
		|| !checks_count_alike(c, c->followed, c->in_a_row, &alike))
		return false;
	if (alike == c->in_a_row)
		return true;
	measure_cause(m, SIDE_CANDIDATE, "state");
	return conclude(m, OUTCOME_WRONG_OUTPUT, "call %u of a process is wrong, where each finds "
					"the state that the last one left: the reference changes %s", alike + 1,
					m->state);
}

/* whether the candidate's first runs are right */
static bool
agrees(Checks *c, uint32_t n, bool *right)
{
	uint32_t	alike = 0;
	bool		good = checks_count_alike(c, c->expected, n, &alike);

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

/* Takes a candidate's outputs for the first input. */
static bool
first_run(Checks *c)
{
	Measure    *m = c->m;
	bool		made = c->begun && m->backend->first_input;

	c->begun = false;
	return made ? checks_begun_run(c, c->candidate, SIDE_CANDIDATE, 0)
		: checks_runs(m, c->candidate, SIDE_CANDIDATE, &c->arena, 1, false, c->seeds, c->found,
					  measure_run_limit(m));
}

/*
 * A first run beside others that is wrong may have found too little memory, which another had then.
 * Whether it is as wrong in its own turn; if not, the code is checked again by itself
 */
static bool
still_wrong(Checks *c)
{
	Measure    *m = c->m;
	bool		right;

	if (!checks_runs(m, c->candidate, SIDE_CANDIDATE, &c->arena, 1, false, c->seeds, c->found,
					 measure_run_limit(m))
		|| !agrees(c, 1, &right))
		return false;
	m->member->by_itself = right;
	return !right;
}

/*
 * Whether a candidate has arrays of its own, and whether its runs are right. Right code leaves its
 * inputs alone, as the reference does.
 */
static bool
run_candidate(Checks *c, bool *weights, bool *right)
{
	Measure    *m = c->m;
	bool		beside = c->begun && m->backend->first_input;
	/* with probes there are about as many runs as without them */
	uint32_t	fewer = c->n > 2 + (uint32_t) c->probes ? c->n - (uint32_t) c->probes : 2;
	uint32_t	n = c->n < fewer ? c->n : fewer;
	bool		same;

	if (!c->begun
		&& !measure_launch(m, c->candidate, SIDE_CANDIDATE, 1, &c->arena, c->weights))
		return false;
	if (m->member->by_name && c->candidate->arrays == 0 && !sets_globals(m->job->reference))
	{
		/* Runs with weights in order are known to be wrong. */
		m->member->by_name = false;
		m->member->alike = true;
		return true;
	}
	m->time[SIDE_CANDIDATE] = 0;
	*weights = m->backend->module && c->candidate->arrays > 0;
	if (!first_run(c) || !agrees(c, 1, right) || (beside && !*right && !still_wrong(c)))
		return false;
	/* the first call of a process counts as all others do */
	if (!*right)
		return true;
	if (!checks_runs(m, c->candidate, SIDE_CANDIDATE, &c->arena, n, false, c->seeds, c->found,
					 measure_run_limit(m))
		|| !agrees(c, n, right)
		|| !measure_inputs_same(m, &c->arena, SIDE_CANDIDATE, n - 1, &same))
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
	/* only a set asks for it */
	size_t		left = m->nmembers > 1 && !c->begun ? m->backend->memory_left(m) : 0;
	double		start;
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
	if (!checks_compare(c, c->compared, SIDE_CANDIDATE))
	{
		probes_explain(c);
		return false;
	}
	m->check_time = (clock_now() - start) / c->compared;
	if (!probes_check(c))
		return false;
	if (!checks_note_memory(m, SIDE_CANDIDATE, c->candidate, left, 1)
		|| !checks_note_memory(m, SIDE_REFERENCE, &c->reference, 0, 1))
		return false;
	return follow_candidate(c);
}

/* The state of a member before its checks. */
typedef struct Unchecked
{
	int			number;			/* in the heat */
	Member	   *member;
	Executor	executor;
	bool		done;			/* with a verdict that no mate can have caused, or as right */
	json_t	   *evidence;
} Unchecked;

/* some of them, which begin side by side */
typedef struct Beginning
{
	Checks	   *c;
	Unchecked  *of;
} Beginning;

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
check_alone(Checks *c, Member *member, Executor *executor)
{
	executor_init(executor);
	enter(c, member, 1);
	c->candidate = executor;
	c->begun = false;
	check_candidate(c);
	measure_end(c->m, executor);
	overwrite(c);
}

static bool
enter_unchecked(void *context, int i, Start *start)
{
	Beginning  *b = context;
	Checks	   *c = b->c;
	Unchecked  *u = &b->of[i];

	if (c->m->dissolved || u->member->by_itself || u->member->result.outcome != OUTCOME_NONE)
		return false;
	enter(c, u->member, i + 1);
	*start = (Start) {.executor = &u->executor, .side = SIDE_CANDIDATE, .seat = 1,
		.arena = &c->arena, .weights = c->weights, .seed = c->seeds[0],
		.timeout = measure_run_limit(c->m)};
	return true;
}

static bool
others_go_on(void *context, int i)
{
	return !((Beginning *) context)->c->m->dissolved;
}

/* Shares out what was spent on these; it uses up no budget, as one may have kept others waiting. */
static void
share_beside(Measure *m, const Unchecked *u, int n)
{
	Member	   *members[BEGUN_BESIDE] = {NULL};

	for (int i = 0; i < n; i++)
	{
		members[i] = u[i].member;
		members[i]->before_checks -= members[i]->result.device_seconds;
	}
	heat_share_among(m, members, n);
	for (int i = 0; i < n; i++)
		members[i]->before_checks += members[i]->result.device_seconds;
}

/*
 * Notes what each of these has taken of the GPU's memory outside of its pool, as far as they are
 * alike. Whether none has taken far more than the reference: what it has, others lack
 */
static bool
note_beside(Measure *m, const Unchecked *u, int n, size_t left)
{
	size_t		each = checks_gpu_bytes(m, &u->executor, left, (size_t) n);
	size_t		most = GREEDY_TIMES * m->reference.gpu_bytes;

	for (int i = 0; i < n; i++)
		u[i].member->code.gpu_bytes = each;
	return each <= (most > GREEDY_LEAST ? most : GREEDY_LEAST);
}

/* Brings a member back to its state before the checks. */
static void
uncheck(Unchecked *u)
{
	Member	   *member = u->member;

	member->result.outcome = OUTCOME_NONE;
	member->result.detail[0] = '\0';
	json_decref(member->result.evidence);
	member->result.evidence = json_incref(u->evidence);
	member->result.checks = 0;
	member->result.max_error = 0;
	member->code.gpu_bytes = 0;
	member->killed = member->by_itself = member->by_name = member->alike = false;
}

/*
 * Members whose processes begin side by side, and are then checked one after the other. Each has
 * slots and a pool of its own, so outputs that are wrong, and errors of names, types or shapes, are
 * its own doing, unless mates hold what memory the GPU has outside of these. Whatever else fails
 * there may be another's doing, too, and the member is checked again by itself.
 */
static void
check_beside(Checks *c, Unchecked *u, int n)
{
	Measure    *m = c->m;
	size_t		left = gpu_memory_left(m);
	bool		good;

	for (int i = 0; i < n; i++)
	{
		executor_init(&u[i].executor);
		u[i].evidence = json_deep_copy(u[i].member->result.evidence);
	}
	heat_live_together(m, n);
	m->patience = PATIENCE + PATIENCE_TIMES * (m->reference.load_alone + m->reference.first_alone);
	measure_load_beside(m, &(Beside) {.n = n, .enter = enter_unchecked, .goes_on = others_go_on,
			.context = &(Beginning) {.c = c,.of = u}});
	heat_enter_all(m);
	good = note_beside(m, u, n, left);
	share_beside(m, u, n);
	for (int i = 0; i < n && good && !m->dissolved; i++)
	{
		Member	   *member = u[i].member;

		if (member->by_itself)
			continue;
		enter(c, member, i + 1);
		c->candidate = &u[i].executor;
		c->begun = true;
		u[i].done = (member->result.outcome == OUTCOME_NONE && check_candidate(c))
			|| member->result.outcome == OUTCOME_CANCELLED
			|| ((member->result.outcome == OUTCOME_WRONG_OUTPUT
				 || member->result.outcome == OUTCOME_LAUNCH_FAILURE)
				&& gpu_memory_left(m) > (1 - GPU_SHARE) / 2 * (double) left);
	}
	for (int i = 0; i < n; i++)
	{
		heat_enter(m, u[i].member);
		measure_end(m, &u[i].executor);
	}
	heat_enter_all(m);
	for (int i = 0; i < n; i++)
	{
		c->arena.place = i + 1;
		overwrite(c);
	}
	share_beside(m, u, n);
	m->patience = 0;
	heat_live_apart(m);
	for (int i = 0; i < n; i++)
	{
		if (!u[i].done)
			uncheck(&u[i]);
		json_decref(u[i].evidence);
	}
}

void
checks_of_candidates(Checks *c)
{
	Measure    *m = c->m;

	c->time = m->time[SIDE_REFERENCE];
	heat_share(m);
	for (int i = 0; heat_next(m, &i);)
	{
		Unchecked	u[BEGUN_BESIDE];
		int			n = 0;

		for (; n < c->beside_most && heat_next(m, &i); i++)
			u[n++] = (Unchecked) {.number = i,.member = m->member};
		if (n > 1)
			n = m->backend->room(m, n);
		if (n > 1)
			check_beside(c, u, n);
		for (int k = 0; k < n; k++)
			if (!u[k].done)
				check_alone(c, u[k].member, &u[k].executor);
		i = u[n - 1].number + 1;
	}
}
