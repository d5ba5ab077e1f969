/*
 * verdict.c
 *		From the buckets to an outcome.
 *
 * The score is the middle of the buckets, or an end of a wide interval, under the bounds of audits,
 * traps and, on a GPU, the executor's loop.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/timing.h"

#define MIN_STEPS_SEEN	8		/* steps of each kind in traps, to set a bound */
#define MIN_TRAPS_SEEN	3		/* in which both sides' steps are known, to compare them in each */
/* of what a step takes in a trap, that it takes at least elsewhere */
#define STEP_SHARE		0.5
#define LEAST_SCORE			1e-6	/* a score */
#define GREATEST			1e9		/* an upper end */

/* whether traps have told what runs cost */
bool
verdict_steps_known(const Rounds *s)
{
	for (int side = 0; side < 2; side++)
		for (int kind = 0; kind < STEPS; kind++)
			if (s->steps[side][kind].n < MIN_STEPS_SEEN)
				return false;
	return true;
}

/*
 * what a score can be at most whose runs take nothing but what the executor's own loop takes; NAN
 * where that is not known
 */
static double
loop_bound(Rounds *s)
{
	double		loop = values_median(&s->loop);

	if (s->loop.n == 0)
		return NAN;
	json_object_set_new(s->m->result->evidence, "loop_seconds", json_real(loop));
	return values_median(&s->seen.times[SIDE_REFERENCE])
		/ (loop * (1 - AUDIT_WARM * s->m->job->profile.audit_margin));
}

/* seconds of a run from gate to gate, without those of copying its result */
static double
without_copy(const Rounds *s, double seconds)
{
	return baseline_untaken(s->taking, 1, seconds);
}

/* what a run costs the code that launches it, by traps */
static void
typical_steps(const Rounds *s, double *step)
{
	for (int side = 0; side < 2; side++)
		step[side] = without_copy(s, steps_cost(s, values_median(&s->steps[side][STEP_LATE]),
												values_median(&s->steps[side][STEP_RESTED]),
												values_median(&s->steps[side][STEP_NEXT])));
}

/*
 * How many times what it costs the reference. A core that others use is quick in some traps and
 * slow in others, and of such steps one side's median may be a quick one and the other's a slow
 * one. In a trap it mostly is the same for both.
 */
static double
steps_quotient(const Rounds *s, const double *step)
{
	Values		quotients = {0};
	double		quotient;

	for (size_t i = 0; i < s->trapped[SIDE_CANDIDATE].n; i++)
		values_append(&quotients, without_copy(s, s->trapped[SIDE_CANDIDATE].v[i])
					  / without_copy(s, s->trapped[SIDE_REFERENCE].v[i]));
	quotient = quotients.n >= MIN_TRAPS_SEEN ? values_median(&quotients)
		: step[SIDE_CANDIDATE] / step[SIDE_REFERENCE];
	free(quotients.v);
	return quotient;
}

/*
 * A block's time cannot be less than what its runs cost the code that launches them, one after the
 * other. What they cost, traps tell, where a run's input comes only when the run before has
 * answered; what a trap itself adds to a step, the reference's steps tell.
 */
static double
step_bound(Rounds *s)
{
	double		step[2];
	double		pace = without_copy(s, values_median(&s->seen.pace));
	double		quotient;

	if (!verdict_steps_known(s))
		return NAN;
	typical_steps(s, step);
	quotient = steps_quotient(s, step);
	json_object_set_new(s->m->result->evidence, "step_seconds",
						json_pack("[f, f, f, f]", pace, step[SIDE_REFERENCE], step[SIDE_CANDIDATE],
								  quotient));
	return values_median(&s->seen.times[SIDE_REFERENCE])
		/ (fmax(STEP_SHARE * step[SIDE_CANDIDATE], quotient * fmin(pace, step[SIDE_REFERENCE]))
		   * (1 - AUDIT_WARM * s->m->job->profile.audit_margin));
}

/*
 * The lower of both. Steps are unsteady where a core is shared, so they take nothing below 1 from
 * code that blocks show to gain no more than honest code is granted beyond its bound.
 */
static double
launch_bound(Rounds *s, double estimate)
{
	double		bound = fmin(step_bound(s), loop_bound(s));
	double		granted = 1 - AUDIT_WARM * s->m->job->profile.audit_margin;

	return bound < 1 && estimate * granted <= 1 ? 1 : bound;
}

bool
verdict_uneven(Rounds *s)
{
	Result	   *r = s->m->result;

	r->score = r->lower = fmax(fmin(s->least, 1), LEAST_SCORE);
	r->upper = 1;
	r->half_width = GREATEST;
	r->wide = true;
	return conclude(s->m, OUTCOME_SUCCESSFUL, "runs take longer in blocks of some sizes than in "
					"others, time and again: the score is the least of them");
}

/*
 * whether a task on a GPU can be measured at all, whichever side prevents it; false after
 * conclude()
 */
static bool
is_told(Rounds *s)
{
	Measure    *m = s->m;
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);

	if (!m->gpu || values_median(&s->buckets) <= 1)
		return true;
	if (s->runs[SIDE_REFERENCE] == 1 && reference < s->turns
		&& audit_late_seconds(s, SIDE_CANDIDATE) <= 0)
		return conclude(m, OUTCOME_UNVERIFIED, "a run of %.3g s by itself is shorter than the "
						"GPU's turning to a process, %.3g s", reference, s->turns);
	if (rounds_traps_due(s) && !verdict_steps_known(s))
		return conclude(m, OUTCOME_UNVERIFIED, "what a run costs could not be told");
	return true;
}

double
verdict_wide_from(const Rounds *s)
{
	const Profile *p = &s->m->job->profile;

	return p->half_width_limit > 0
		? cudal1_score_wide_from(values_median(&s->buckets), p->half_width_limit,
								 p->precision_slope, p->half_width_most) : INFINITY;
}

bool
verdict_asks_aa(const Rounds *s, double half_width)
{
	double		end = cudal1_score_nearer_end(s->lower, s->upper);

	return half_width > verdict_wide_from(s)
		&& cudal1_score_conservative_round(end) > cudal1_score_conservative_round(s->lower);
}

/*
 * The score of a wide interval. From 1 on it is the lower end, or the least of a few pairs,
 * whichever side made the interval wide. Where it reaches below 1 it is the middle, at most 1, as
 * if the interval were narrow. The end nearer to 1 is above what was measured, so the candidate is
 * granted no more doubt than intervals of the reference itself show, and none where those are not
 * wide, where its pairs spread more than the reference's do, or where its budget left no time for
 * A/A pairs.
 */
static double
careful_score(Rounds *s, double score, const char **why)
{
	const Profile *p = &s->m->job->profile;
	json_t	   *evidence = json_pack("{s:f}", "estimate", score);
	json_t	   *pairs;
	double		lower = cudal1_score_least_end(s->buckets.v, s->buckets.n, s->lower);
	double		middle = fmax(lower, fmin(score, 1));
	double		doubt;
	bool		own;

	json_object_set_new(s->m->result->evidence, "wide", evidence);
	if (!verdict_asks_aa(s, s->half_width))
	{
		*why = lower > s->lower && lower >= 1 ? "the score is the least of its pairs"
			: "the score is its end nearer to 1.00";
		return cudal1_score_nearer_end(lower, s->upper);
	}
	*why = "the score is its middle, at most 1.00";
	if (!s->aa || s->aa->buckets.n < AA_PAIRS)
		return middle;
	doubt = cudal1_score_doubt(s->buckets.v, s->buckets.n, s->aa->buckets.v, s->aa->buckets.n,
							   p->confidence, p->nlooks, &own);
	pairs = json_array();
	for (size_t i = 0; i < s->aa->buckets.n; i++)
		json_array_append_new(pairs, json_real(s->aa->buckets.v[i]));
	json_object_set_new(evidence, "aa", pairs);
	json_object_set_new(evidence, "own", json_boolean(own));
	*why = "pairs of the reference with itself spread less, so the score is its middle, at most "
		"1.00";
	if (own)
		return middle;
	json_object_set_new(evidence, "doubt", json_real(doubt));
	*why = "pairs of the reference with itself spread as much, so the score is its end nearer to "
		"1.00, as far as theirs would reach";
	return cudal1_score_nearer_end(lower,
								   fmin(s->upper, doubt > verdict_wide_from(s) ? score * (1 + doubt)
										: score));
}

/*
 * Where the reference's runs are what its host takes, and the candidate's steps are shorter, a
 * higher bound, or NAN. Traps lengthen steps, as the reference's tell.
 */
static double
host_bound(Rounds *s, double *shown)
{
	double		pace = without_copy(s, values_median(&s->seen.pace));
	double		step[2];

	if (!verdict_steps_known(s))
		return NAN;
	typical_steps(s, step);
	if (fmin(pace, step[SIDE_REFERENCE])
		< HOST_SHARE * values_median(&s->seen.times[SIDE_REFERENCE]))
		return NAN;
	return audit_host_bound(s, fmax(step[SIDE_REFERENCE] - step[SIDE_CANDIDATE], 0)
							* fmin(1, pace / step[SIDE_REFERENCE]), shown);
}

/*
 * The bound of audits. Single runs say little where a GPU's host is busy, so there late audits may
 * lower it.
 */
static double
audits_bound(Rounds *s, double doubt, bool clear, double *shown)
{
	double		bound = audit_bound(s, doubt, clear, shown);
	double		shown_other;
	double		other = isnan(bound) ? NAN : host_bound(s, &shown_other);

	if (other > bound)
	{
		*shown = fmax(*shown, shown_other);
		bound = other;
	}
	other = clear || isnan(bound) ? NAN : audit_late_bound(s, &shown_other);
	if (other < bound)
	{
		*shown = shown_other;
		bound = other;
	}
	return bound;
}

/*
 * What is paid where audits contradict the blocks. The doubt and the margin are for honest code,
 * which stays below the bound, so what is far above it gets what audits show. Luck can take honest
 * code a little above, and must not cost it all of the margin: up to a share `audit_margin` above
 * the bound, what is paid falls from the bound to what audits show.
 */
static double
contradicted(const Rounds *s, double bound, double shown, double estimate)
{
	double		least = fmin(fmax(shown, fmin(bound, 1)), bound);
	double		above = (estimate - bound) / (bound * s->m->job->profile.audit_margin);

	return bound - (bound - least) * fmin(above, 1);
}

void
verdict_conclude(Rounds *s, bool left)
{
	Measure    *m = s->m;
	Result	   *r = m->result;
	const Profile *p = &m->job->profile;
	const char *why = NULL;
	bool		by_share = false;
	bool		clear;
	double		doubt = audit_doubt(s, &clear);
	double		audits;
	double		shown;
	double		estimate = p->mean_of_ratios ? cudal1_score_mean(s->seen.all.v, s->seen.all.n)
		: values_median(&s->buckets);

	r->half_width = fmin(s->half_width, GREATEST);
	r->variance = cudal1_score_variance(s->buckets.v, s->buckets.n);
	if (p->variance_limit > 0 && r->variance > p->variance_limit)
		conclude(m, OUTCOME_UNSTABLE, "the variance across the buckets is %.4g, above %.4g",
				 r->variance, p->variance_limit);
	if (!is_told(s))
		return;
	r->wide = !left && s->half_width > verdict_wide_from(s);
	r->score = r->wide ? careful_score(s, estimate, &why) : estimate;
	audits = audits_bound(s, doubt, clear, &shown);
	/*
	 * audits that are too unsteady to tell a tenth take nothing from code that gains nothing, nor
	 * do those on a GPU, which find the host's caches cold
	 */
	if ((m->gpu || !clear) && audits < 1)
		audits = 1;
	r->audit_bound = p->audits > 0 ? fmin(audits, launch_bound(s, estimate)) : NAN;
	if (isfinite(r->audit_bound) && r->audit_bound < estimate)
	{
		json_object_set_new(r->evidence, "score_before_audit", json_real(r->score));
		by_share = audit_by_share(s, doubt, estimate);
		if (audits < estimate)
			r->audit_bound = fmin(r->audit_bound, contradicted(s, audits, shown, estimate));
		if (by_share)
			conclude(m, OUTCOME_SUCCESSFUL, "runs whose inputs come one by one take longer on "
					 "this host than cold code does, so they can't confirm %.4g: the score is what "
					 "they show if that lengthens all runs by a share", estimate);
		estimate = r->audit_bound;
		r->wide |= by_share;
		r->score = fmin(r->score, estimate);
		s->lower = fmin(s->lower, estimate);
		s->upper = by_share ? s->upper : fmin(s->upper, estimate);
	}
	if (audit_unclear(s, estimate, clear))
	{
		/*
		 * The benefit of the doubt is for small doubts: without it, what has been shown is the
		 * lower end. Of a score that is not high the margin remains.
		 */
		if (estimate <= MATTERS)
			shown = audit_undoubted(s);
		shown = isfinite(shown) ? fmax(shown, 1) : s->lower;
		s->lower = fmin(s->lower, shown);
		r->score = fmin(r->score, shown);
		r->wide = true;
		conclude(m, OUTCOME_SUCCESSFUL, "runs whose inputs come one by one are too unsteady to "
				 "confirm %.4g, with a standard error of %.2g us: the score is at most what they "
				 "show", estimate, 1e6 * doubt / p->audit_sigma);
	}
	/* what a column takes */
	r->score = fmax(r->score, LEAST_SCORE);
	r->lower = s->lower;
	r->upper = fmin(s->upper, GREATEST);
	if (s->seen.unresolved > 0)
		json_object_set_new(r->evidence, "unresolved", json_integer(s->seen.unresolved));
	if (2 * s->seen.unresolved > s->seen.rounds)
		conclude(m, OUTCOME_SUCCESSFUL, "most blocks of the code take too little to be told from "
				 "what any block takes: the score is what is certain");
	if (r->wide)
		conclude(m, OUTCOME_SUCCESSFUL,
				 "the interval after %zu pairs%s is +-%.2f %%, wider than %.2f %%: %s",
				 s->buckets.n,
				 s->over_budget
				 ? ", when the time that a measurement of this task may take was used up," : "",
				 100 * r->half_width, 100 * verdict_wide_from(s), why);
	else
		conclude(m, OUTCOME_SUCCESSFUL, NULL);
}
