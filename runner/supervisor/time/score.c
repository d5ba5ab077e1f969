/*
 * score.c
 *		Pairs of all candidates, and their scores.
 *
 * Candidates of a group share pairs: one reference and as many of them as memory holds. What goes
 * wrong in a group's pair, but for wrong outputs and cheats, sends a candidate, or all of them, to
 * pairs of its own.
 */
#include "src/score.h"
#include "supervisor/time/time.h"

#define RUNS_LEAST		12		/* of a window */
#define RUNS_LONG		4		/* the same, where they take long */
#define LONG_RUNS		0.3		/* seconds of a window of so few runs */
#define DROPPED			2
#define MAKING_TIMES	4		/* times window_seconds, that inputs of a window take to make */
#define MOST_BYTES		0x1p27	/* of a window that has more runs than the reference's */
#define COMPARE_SHARE	0.2		/* of a window's seconds, for comparing outputs, at most */
#define SLOW_TIMES		4		/* times the reference's run, that is too long beside others */
#define LEAST_SCORE		1e-9	/* what a column takes */

/* How many runs a window has: as many as its seconds hold, within memory and time for inputs. */
static Plan
make_plan(Measure *m)
{
	const Profile *p = &m->job->profile;
	double		run = m->member->time[SIDE_REFERENCE];
	double		runs = p->window_seconds / run;
	/* A slot of inputs has a master copy. */
	double		bytes = (double) (2 * m->inputs.slot_bytes + m->output_slot_bytes + 1);
	double		most = fmin(WIRE_MAX_RUNS, (double) m->device.arena_bytes / bytes) - 1;
	double		least = run * RUNS_LEAST > LONG_RUNS ? fmax(RUNS_LONG, LONG_RUNS / run)
		: RUNS_LEAST;
	double		share = fmin(COMPARE_SHARE, p->check_seconds
							 / (p->looks[p->nlooks - 1] * p->bucket_seconds));
	double		compared;
	Plan		plan;

	if (m->inputs.make_seconds > 0)
		most = fmin(most, fmax(least, fmax(MAKING_TIMES * p->window_seconds, least * run)
							   / m->inputs.make_seconds));
	plan.runs = (uint32_t) fmax(1, fmin(fmax(runs, least), most));
	plan.most = (uint32_t) fmax(plan.runs, fmin(most, MOST_BYTES / bytes));
	plan.dropped = plan.runs >= RUNS_LEAST ? DROPPED : plan.runs > 2 ? 1 : 0;
	compared = share * fmax(p->window_seconds, plan.runs * run)
		/ fmax(m->facts.compare_seconds, 1e-7);
	/* The run after a compared one does not count, and some runs count in each window. */
	plan.compared = m->backend->rests ? 1
		: (uint32_t) fmax(1, fmin(fmin(COMPARED_MOST / 2, compared),
								  (plan.runs - plan.dropped) / 4));
	plan.compared_most = (uint32_t) fmax(1, fmin(2 * plan.compared,
												 (plan.runs - plan.dropped - 1) / 2));
	return plan;
}

static void
conclude_score(Measure *m, Result *r)
{
	const Profile *p = &m->job->profile;
	Stop	   *stop = &r->stop;
	double		estimate = stop->estimate;

	r->score = fmax(cudal1_score_paid(estimate, stop->lower, stop->wide), LEAST_SCORE);
	r->variance = cudal1_score_variance(stop->ratios.v, stop->ratios.n);
	stop->lower = fmin(stop->lower, estimate);
	stop->upper = fmax(stop->upper, estimate);
	if (p->variance_limit > 0 && r->variance > p->variance_limit)
		conclude(m, OUTCOME_UNSTABLE, "the variance across the pairs is %.4g, above %.4g",
				 r->variance, p->variance_limit);
	else if (stop->upper * p->run_limit_factor < 1)
		measure_too_slow(m, values_median(&r->candidate), values_median(&r->reference));
	else if (estimate * p->run_limit_factor < 1)
		conclude(m, OUTCOME_UNVERIFIED, "the pairs leave a speedup of %.3g to %.3g: others took "
				 "the core in most windows", stop->lower, stop->upper);
	else if (stop->wide)
		conclude(m, OUTCOME_SUCCESSFUL, "the interval after %zu pairs is +-%.2f %%, wider than "
				 "%.2f %%: the score is %s", stop->ratios.n, 100 * stop->half_width,
				 100 * p->half_width_limit, stop->lower >= 1 ? "its lower end"
				 : "the median, at most 1");
	else
		conclude(m, OUTCOME_SUCCESSFUL, NULL);
}

/*
 * Chooses the members of the next pair: a group, or one that is by itself. Slow code comes after
 * the others, because its long windows leave a pair few rounds.
 */
static int
choose(Measure *m, Member **chosen)
{
	int			count = 0;
	int			room;

	for (int slow = 0; slow <= 1 && count == 0; slow++)
		for (int i = 0; i < m->nmembers; i++)
		{
			Member	   *member = &m->members[i];
			const double *time = member->time;

			if (member->result.outcome == OUTCOME_NONE && !member->by_itself
				&& (time[SIDE_CANDIDATE] > SLOW_TIMES * time[SIDE_REFERENCE]) == slow)
				chosen[count++] = member;
		}
	for (int i = 0; i < m->nmembers && count == 0; i++)
		if (m->members[i].result.outcome == OUTCOME_NONE)
			chosen[count++] = &m->members[i];
	room = count > 1 && m->backend->room ? m->backend->room(m, count) : count;
	return room < count ? room : count;
}

/* What follows from a pair, before which the member had so many. */
static void
take(Measure *m, Member *member, size_t pairs, bool by_itself)
{
	Result	   *r = &member->result;
	Stop	   *stop = &r->stop;

	heat_enter(m, member);
	if (r->outcome != OUTCOME_NONE || m->all.result.outcome != OUTCOME_NONE)
		return;
	if (stop->ratios.n == pairs)
	{
		/* a pair of its own that fails has said why */
		if (by_itself)
			conclude(m, OUTCOME_LOST, "a pair ended for no known reason");
		member->by_itself = true;
		return;
	}
	if (stop_is_finished(stop, heat_seconds(m)))
		conclude_score(m, r);
	measure_progress(m, "measuring", true);
}

void
time_members(Measure *m)
{
	Plan		plan = make_plan(m);

	json_object_set_new(m->all.result.evidence, "runs", json_integer(plan.runs));
	measure_progress(m, "measuring", true);
	for (int number = 0; heat_left(m) > 0; number++)
	{
		Member	   *chosen[HEAT_MAX];
		int			count = choose(m, chosen);
		size_t		pairs[HEAT_MAX];

		for (int i = 0; i < count; i++)
			pairs[i] = chosen[i]->result.stop.ratios.n;
		pair_run(m, &plan, chosen, count, number);
		heat_share_among(m, chosen, count);
		for (int i = 0; i < count; i++)
			take(m, chosen[i], pairs[i], count == 1);
	}
}
