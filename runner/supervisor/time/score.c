/*
 * score.c
 *		Pairs of all candidates, and their scores.
 *
 * Candidates of a group share pairs: one reference and as many of them as memory holds. What goes
 * wrong in a group's pair, but for wrong outputs and cheats, sends a candidate, or all of them, to
 * pairs of its own.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

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

typedef struct Timed
{
	Member	   *member;
	Stop		stop;
	Values		reference;		/* seconds a run, by pair */
	Values		candidate;
} Timed;

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

	if (m->costs.input > 0)
		most = fmin(most, fmax(least, fmax(MAKING_TIMES * p->window_seconds, least * run)
							   / m->costs.input));
	plan.runs = (uint32_t) fmax(1, fmin(fmax(runs, least), most));
	plan.most = (uint32_t) fmax(plan.runs, fmin(most, MOST_BYTES / bytes));
	plan.dropped = plan.runs >= RUNS_LEAST ? DROPPED : plan.runs > 2 ? 1 : 0;
	compared = share * fmax(p->window_seconds, plan.runs * run) / fmax(m->costs.comparison, 1e-7);
	/* The run after a compared one does not count, and some runs count in each window. */
	plan.compared = m->backend->rests ? 1
		: (uint32_t) fmax(1, fmin(fmin(COMPARED_MOST / 2, compared),
								  (plan.runs - plan.dropped) / 4));
	plan.compared_most = (uint32_t) fmax(1, fmin(2 * plan.compared,
												 (plan.runs - plan.dropped - 1) / 2));
	return plan;
}

static double
estimate_of(const Timed *t)
{
	return t->stop.profile->mean ? cudal1_score_mean(t->stop.ratios.v, t->stop.ratios.n)
		: cudal1_score_median(t->stop.ratios.v, t->stop.ratios.n);
}

static void
conclude_score(Measure *m, Timed *t)
{
	Result	   *r = &t->member->result;
	const Profile *p = &m->job->profile;
	const Stop *stop = &t->stop;
	double		estimate = estimate_of(t);

	heat_enter(m, t->member);
	r->half_width = stop->half_width;
	r->variance = cudal1_score_variance(stop->ratios.v, stop->ratios.n);
	r->lower = fmin(stop->lower, estimate);
	r->upper = fmax(stop->upper, estimate);
	r->wide = stop->wide;
	r->score = fmax(cudal1_score_paid(estimate, stop->lower, r->wide), LEAST_SCORE);
	if (p->variance_limit > 0 && r->variance > p->variance_limit)
		conclude(m, OUTCOME_UNSTABLE, "the variance across the pairs is %.4g, above %.4g",
				 r->variance, p->variance_limit);
	else if (r->upper * p->run_limit_factor < 1)
		measure_too_slow(m, values_median(&t->candidate), values_median(&t->reference));
	else if (estimate * p->run_limit_factor < 1)
		conclude(m, OUTCOME_UNVERIFIED, "the pairs leave a speedup of %.3g to %.3g: others took "
				 "the core in most windows", r->lower, r->upper);
	else if (r->wide)
		conclude(m, OUTCOME_SUCCESSFUL, "the interval after %zu pairs is +-%.2f %%, wider than "
				 "%.2f %%: the score is %s", stop->ratios.n, 100 * stop->half_width,
				 100 * p->half_width_limit, stop->lower >= 1 ? "its lower end"
				 : "the median, at most 1");
	else
		conclude(m, OUTCOME_SUCCESSFUL, NULL);
}

static void
end_member(Timed *t, const Plan *plan)
{
	Result	   *r = &t->member->result;

	r->pairs = (int) t->stop.ratios.n;
	r->reference_seconds = values_median(&t->reference);
	r->candidate_seconds = values_median(&t->candidate);
	/* the result owns them from here on */
	r->buckets = t->stop.ratios.v;
	json_object_set_new(r->evidence, "runs", json_integer(plan->runs));
	free(t->reference.v);
	free(t->candidate.v);
}

/*
 * Chooses the members of the next pair: a group, or one that is by itself. Slow code comes after
 * the others, because its long windows leave a pair few rounds.
 */
static int
choose(Measure *m, Timed *timed, int n, Timed **chosen)
{
	int			count = 0;
	int			room;

	for (int slow = 0; slow <= 1 && count == 0; slow++)
		for (int i = 0; i < n; i++)
		{
			const Member *member = timed[i].member;
			const double *time = member->time;

			if (member->result.outcome == OUTCOME_NONE && !member->by_itself
				&& (time[SIDE_CANDIDATE] > SLOW_TIMES * time[SIDE_REFERENCE]) == slow)
				chosen[count++] = &timed[i];
		}
	for (int i = 0; i < n && count == 0; i++)
		if (timed[i].member->result.outcome == OUTCOME_NONE)
			chosen[count++] = &timed[i];
	room = count > 1 && m->backend->room ? m->backend->room(m, count) : count;
	return room < count ? room : count;
}

/* What follows from a pair; given: NULL where it went wrong. */
static void
take(Measure *m, Timed *t, const Given *given, bool by_itself)
{
	heat_enter(m, t->member);
	if (t->member->result.outcome != OUTCOME_NONE || m->all.result.outcome != OUTCOME_NONE)
		return;
	if (!given || isnan(given->ratio))
	{
		/* a pair of its own that fails has said why */
		if (by_itself)
			conclude(m, OUTCOME_LOST, "a pair ended for no known reason");
		t->member->by_itself = true;
		return;
	}
	values_append(&t->reference, given->reference);
	values_append(&t->candidate, given->candidate);
	values_append(&t->stop.ratios, given->ratio);
	if (stop_is_finished(&t->stop, heat_seconds(m)))
		conclude_score(m, t);
	measure_progress(m, "measuring", (int) t->stop.ratios.n, t->member->result.rounds,
					 estimate_of(t), t->stop.lower, t->stop.upper,
					 t->member->result.outcome != OUTCOME_NONE ? 0
					 : stop_left(&t->stop, heat_seconds(m)), true);
}

void
time_members(Measure *m)
{
	Timed		timed[HEAT_MAX];
	Plan		plan;
	int			n = 0;

	measure_phase(m, "measuring", true);
	for (int i = 0; heat_next(m, &i); i++)
	{
		timed[n] = (Timed) {.member = m->member};
		stop_init(&timed[n++].stop, &m->job->profile);
	}
	plan = make_plan(m);
	for (int number = 0; heat_left(m) > 0; number++)
	{
		Timed	   *chosen[HEAT_MAX];
		int			count = choose(m, timed, n, chosen);
		Member	   *members[HEAT_MAX];
		Given		given[HEAT_MAX];
		bool		good;

		for (int i = 0; i < count; i++)
			members[i] = chosen[i]->member;
		good = pair_run(m, &plan, members, count, number, given);
		heat_share_among(m, members, count);
		for (int i = 0; i < count; i++)
			take(m, chosen[i], good ? &given[i] : NULL, count == 1);
	}
	for (int i = 0; i < n; i++)
		end_member(&timed[i], &plan);
}
