/*
 * candidates.c
 *		Candidates before any pair: is each right, and how long does a run take.
 */
#define _GNU_SOURCE
#include "supervisor/checks/checks.h"

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
					m->facts.state);
}

/*
 * Whether a candidate has arrays of its own, and whether its runs are right. Right code leaves its
 * inputs alone, as the reference does.
 */
static bool
run_candidate(Checks *c, bool *weights, bool *right)
{
	Measure    *m = c->m;
	/* with probes there are about as many runs as without them */
	uint32_t	fewer = c->n > 2 + (uint32_t) c->probes ? c->n - (uint32_t) c->probes : 2;
	uint32_t	n = c->n < fewer ? c->n : fewer;
	/* the first call of a process counts as all others do */
	uint32_t	runs[] = {1, n};
	bool		same;

	if (!measure_launch(m, c->candidate, SIDE_CANDIDATE, 1, &c->arena, c->weights))
		return false;
	m->member->time[SIDE_CANDIDATE] = 0;
	*weights = m->backend->module && c->candidate->arrays > 0;
	*right = true;
	for (int i = 0; i < 2 && *right; i++)
	{
		uint32_t	alike;
		double		start;

		if (!checks_runs(m, c->candidate, SIDE_CANDIDATE, &c->arena, runs[i], false, c->seeds,
						 c->found, measure_run_limit(m)))
			return false;
		start = clock_now();
		if (!checks_count_alike(c, c->expected, runs[i], &alike))
			return false;
		m->costs.comparison = (clock_now() - start) / runs[i];
		*right = alike == runs[i];
	}
	if (!*right)
		return true;
	m->result->checks += (int) n;
	m->result->max_error = fmax(m->result->max_error, c->agreement.error);
	if (!measure_inputs_same(m, &c->arena, SIDE_CANDIDATE, n - 1, &same))
		return false;
	if (same || c->overwrites)
		return true;
	measure_cause(m, SIDE_CANDIDATE, "input_overwritten");
	return conclude(m, OUTCOME_WRONG_OUTPUT, "the outputs are right, but an input is another after "
					"the run: the reference leaves it as it was, and its caller may need it");
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
	bool		weights;
	bool		right;

	if (!run_candidate(c, &weights, &right))
		return false;
	if (weights && !right)
	{
		m->member->by_name = true;
		measure_end(m, c->candidate);
		if (!run_candidate(c, &weights, &right))
			return false;
	}
	if (weights)
		json_object_set_new(m->result->evidence, "weights",
							json_string(m->member->by_name ? "by name" : "in order"));
	if (!right)
		return measure_blame(m, &c->agreement, SIDE_CANDIDATE, NULL);
	return probes_check(c) && follow_candidate(c);
}

/* All run the same inputs: what one has left is overwritten before the next can look there. */
static void
overwrite(Checks *c)
{
	Measure    *m = c->m;

	for (uint32_t slot = 0; slot < c->arena.slots && m->nmembers > 1; slot++)
		m->backend->unstage(m, &c->arena, slot);
}

void
checks_of_candidates(Checks *c)
{
	Measure    *m = c->m;
	double		reference = m->member->time[SIDE_REFERENCE];

	heat_share(m);
	for (int i = 0; heat_next(m, &i); i++)
	{
		Executor	executor;

		executor_init(&executor);
		c->candidate = &executor;
		c->arena.place = 1;
		m->member->time[SIDE_REFERENCE] = reference;
		check_candidate(c);
		measure_end(m, &executor);
		overwrite(c);
	}
}
