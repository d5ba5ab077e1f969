/*
 * verdict.c
 *		Which scores get more audits, and how many at least; and what a score is worth whose
 *		interval is wide.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/backend/parts.h"
#include "../../runner/supervisor/timing/audit.c"
#include "../../runner/supervisor/timing/verdict.c"
#include "../../runner/supervisor/timing/more.c"
#include "../../runner/supervisor/timing/samples.c"

#include "tap.h"

static Job	job = {.profile = {
	.audits = 400,.audit_sigma = 3,.audit_margin = 0.25,
	.confidence = 0.95, .nlooks = 3, .precision_goal = 0.005, .precision_slope = 0.05,
		.half_width_limit = 0.01
}};
static Member member;
static const Backend backend = {.cold_seconds = 2e-6, HOST_NUMBERS};
static Measure measure = {.job = &job, .member = &member, .result = &member.result,
	.time = member.time, .backend = &backend};
static int	made;

bool
rounds_audit(Rounds *s, Half *half, bool reference_first)
{
	made++;
	values_append(&s->audit[SIDE_REFERENCE], 2e-3);
	values_append(&s->audit[SIDE_CANDIDATE], 1e-3);
	values_append(&s->audit_more, -1e-3);
	return true;
}

void
plan_moves(const Rounds *s)
{
}

bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena,
			   uint64_t weight_seed)
{
	return true;
}

bool
baseline_warm(Rounds *s, Half *half, Side side)
{
	return true;
}

double
rounds_estimate(const Rounds *s)
{
	return NAN;
}

/* what verdict.c does elsewhere is not tried here */
void
measure_end(Measure *m, Executor *executor)
{
}

void
measure_progress(Measure *m, const char *phase, int pairs, int rounds, double estimate,
				 double lower, double upper, double left, bool force)
{
}

void
executor_init(Executor *executor)
{
}

uint64_t
random_next(RandomStream *stream)
{
	return 0;
}

bool
conclude(Measure *m, Outcome outcome, const char *format,...)
{
	if (m->result->outcome == OUTCOME_NONE)
		m->result->outcome = outcome;
	return false;
}

bool
stopping_over_budget(const Rounds *s)
{
	return false;
}

/* a candidate's steps in traps */
static double steps[STEPS] = {5e-6, 5e-6, 5e-6};
static double reference_step = 40e-6;
static double copying;			/* a result, in all runs of either side */

bool
rounds_traps_due(const Rounds *s)
{
	return s->runs[0] >= 8;
}

bool
rounds_trap(Rounds *s, Half *half)
{
	made++;
	for (int side = 0; side < 2; side++)
		for (int kind = 0; kind < STEPS; kind++)
			values_append(&s->steps[side][kind],
						  side == SIDE_CANDIDATE ? steps[kind] : reference_step);
	return true;
}

/* how many more a score gets that has `audits`, all alike; no time is left for more than must be */
static int
more(double score, int audits, bool planned)
{
	Rounds		s = {.m = &measure,.attentive = true,.audits_a_half = planned};

	values_append(&s.buckets, score);
	values_append(&s.seen.times[SIDE_REFERENCE], 2e-3);
	for (int i = 0; i < audits; i++)
		rounds_audit(&s, NULL, true);
	made = 0;
	check(more_audits(&s), "the measurement goes on");
	free(s.buckets.v);
	free(s.seen.times[SIDE_REFERENCE].v);
	free(s.audit[SIDE_REFERENCE].v);
	free(s.audit[SIDE_CANDIDATE].v);
	free(s.audit_more.v);
	return made;
}

static bool own_core = true;	/* the supervisor's, so that audits are not waited for asleep */

/*
 * What audits leave of a score, where the reference takes `block` seconds in blocks and `audit` in
 * audits, the candidate `little` in the first of every so many audits and `candidate` in the
 * others, and a run of no code `idle`; 0: that is not known
 */
static double
bound_of(double block, double audit, double candidate, double little, int every, double idle)
{
	Rounds		s = {.m = &measure,.attentive = own_core};
	double		found;
	double		shown;

	measure.result->evidence = json_object();
	values_append(&s.seen.times[SIDE_REFERENCE], block);
	for (int i = 0; i < 40; i++)
	{
		values_append(&s.audit[SIDE_REFERENCE], audit);
		values_append(&s.audit[SIDE_CANDIDATE], i % every == 0 ? little : candidate);
		values_append(&s.audit_more, s.audit[SIDE_CANDIDATE].v[i] - audit);
		if (idle > 0)
			values_append(&s.audit_idle, idle);
	}
	found = audit_bound(&s, 0, true, &shown);
	json_decref(measure.result->evidence);
	free(s.seen.times[SIDE_REFERENCE].v);
	free(s.audit[SIDE_REFERENCE].v);
	free(s.audit[SIDE_CANDIDATE].v);
	free(s.audit_more.v);
	free(s.audit_idle.v);
	return found;
}

/* the reference takes 1 ms in audits, and the candidate takes `little` in every third of them */
static double
third_bound(double candidate, double little)
{
	return bound_of(1e-3, 1e-3, candidate, little, 3, 0);
}

static double
bound(double block, double candidate)
{
	return bound_of(block, 1e-3, candidate, candidate, 1, 0);
}

/* on a host where the reference takes 100 us in blocks and 400 us in audits */
static double
busy_bound(double candidate, double idle)
{
	return bound_of(100e-6, 400e-6, candidate, candidate, 1, idle);
}

/*
 * n buckets about a speed, whose logarithms are those quantiles of a normal distribution that have
 * an nth of it between them, mixed
 */
static void
spread(Values *buckets, size_t n, double speed, double deviation)
{
	for (size_t i = 0; i < n; i++)
	{
		double		p = (double) (i * 5 % n + 0.5) / (double) n;

		values_append(buckets, speed * exp(deviation * cudal1_score_t_quantile(p, 1e9)));
	}
}

static double least;				/* of these pairs */

/*
 * the score of a speed that n pairs found, their logarithms having a deviation, beside so many A/A
 * pairs with one of theirs
 */
static double
paid(size_t n, double speed, double deviation, size_t aa, double aa_deviation)
{
	Rounds		of_reference = {.m = &measure};
	Rounds		s = {.m = &measure,.aa = aa > 0 ? &of_reference : NULL};

	*measure.result = (Result) {.evidence = json_object()};
	spread(&s.buckets, n, speed, deviation);
	spread(&of_reference.buckets, aa, 1, aa_deviation);
	least = INFINITY;
	for (size_t i = 0; i < n; i++)
		least = fmin(least, s.buckets.v[i]);
	cudal1_score_interval(s.buckets.v, n, job.profile.confidence, job.profile.nlooks, &s.lower,
						  &s.upper, &s.half_width);
	verdict_conclude(&s, false);
	json_decref(measure.result->evidence);
	free(s.buckets.v);
	free(of_reference.buckets.v);
	return measure.result->score;
}

static void
check_wide(void)
{
	const Result *r = measure.result;
	double		honest;
	double		score;
	double		most = 0;

	score = paid(21, 0.995, 0.004, 0, 0);
	check(near(score, 0.995, 1e-12) && !r->wide && r->half_width < 0.01
		  && r->outcome == OUTCOME_SUCCESSFUL, "a narrow interval is paid at its middle");
	score = paid(21, 1.5, 0.1, 0, 0);
	check(score == r->lower && score > 1.3 && r->wide && r->half_width > 0.05,
		  "a wide one above 1 at its lower end, and marked");
	check(r->outcome == OUTCOME_SUCCESSFUL, "it is no failure");
	score = paid(21, 1.02, 0.06, 7, 0.06);
	check(score == 1 && r->lower < 1 && r->wide,
		  "one that holds 1, where the reference's own are as wide, at 1.00");
	score = paid(21, 0.99, 0.06, 7, 0.06);
	check(score == 1, "from below as well");
	honest = paid(21, 0.8, 0.06, 7, 0.06);
	check(honest > 0.82 && honest <= r->upper && r->wide, "one below 1 near its upper end, as far "
		  "as an interval of the reference's spread reaches");
	score = paid(21, 0.99, 0.06, 7, 0.01);
	check(near(score, 0.99, 1e-12) && r->wide,
		  "but at its middle where the reference's pairs spread less");
	score = paid(21, 1.02, 0.06, 7, 0.01);
	check(score == 1 && r->lower < 1 && r->wide, "and at 1.00 if that is above it");
	score = paid(21, 0.99, 0.02, 7, 0.012);
	check(near(score, 0.99, 1e-12) && r->wide,
		  "at its middle where they spread hardly less, and theirs would be narrow");
	score = paid(14, 0.97, 0.06, 6, 0.06);
	check(near(score, 0.97, 1e-3) && r->wide, "likewise where too few of them could be made");
	score = paid(14, 0.97, 0.06, 0, 0);
	check(near(score, 0.97, 1e-3) && r->outcome == OUTCOME_SUCCESSFUL, "or none");
	for (double wider = 1; wider < 50; wider *= 1.1)
		most = fmax(most, paid(21, 0.8, 0.06 * wider, 7, 0.06));
	check(near(most, honest, 1e-12),
		  "no candidate below 1 gains by spreading more than the reference does");
	most = 0;
	for (double wider = 1; wider < 50; wider *= 1.1)
		most = fmax(most, paid(21, 0.8, 0.005 * wider, 7, 0.005));
	check(near(most, 0.8, 1e-12), "nor does it where the reference's pairs are steady");
	score = paid(3, 0.02, 20, 0, 0);
	check(score >= 1e-6 && r->lower >= 0 && r->upper <= 1e9 && r->half_width <= 1e9
		  && r->outcome == OUTCOME_SUCCESSFUL,
		  "whatever the spread, the numbers are those that a result can have");

	job.profile.half_width_most = 0.2;
	score = paid(4, 1.2, 0.05, 0, 0);
	check(near(score, 1.2, 3e-4) && !r->wide && r->half_width > 0.05,
		  "by a limit for them, intervals above 1 are paid their middle, as far as it goes");
	score = paid(4, 0.8, 0.05, 0, 0);
	check(near(score, 0.8, 3e-4) && !r->wide, "and those below 1");
	score = paid(4, 1.02, 0.05, 7, 0.05);
	check(score == 1 && r->wide, "but one that holds 1 is as wide as without");
	score = paid(4, 2, 0.2, 0, 0);
	check(score == least && score > 1.2 * r->lower && r->wide && r->half_width > 0.2,
		  "and so is one that is wider, but its end is no less than the least of four pairs");
	score = paid(4, 0.9, 0.3, 7, 0.01);
	check(score > least && score < 1 && r->wide, "one that lies below 1 is paid its middle");
	score = paid(4, 1.5, 0.2, 7, 0.01);
	check(score == 1 && r->lower < 1 && least > 1 && r->wide,
		  "one that holds 1 is paid no more than that");
	score = paid(3, 2, 0.2, 0, 0);
	check(score == 1 && r->wide, "three pairs are too few for that, and hold 1");
	job.profile.half_width_most = 0;
	job.profile.half_width_limit = 0;
	score = paid(21, 0.8, 0.1, 0, 0);
	check(near(score, 0.8, 1e-12) && !r->wide, "without a limit no interval is wide");
	job.profile.variance_limit = 0.005;
	paid(7, 1.1, 0.2, 0, 0);
	check(r->outcome == OUTCOME_UNSTABLE, "the paper's limit on the variance discards");
	job.profile.variance_limit = 0;
	job.profile.half_width_limit = 0.01;
}

/* seven pairs with this score, of a reference whose run takes so many seconds in blocks */
static Rounds
audited(double score, double seconds)
{
	Rounds		s = {.m = &measure,.attentive = true,.audits_a_half = 1};

	job.profile.audits = 400;
	*measure.result = (Result) {.evidence = json_object()};
	for (int i = 0; i < 7; i++)
		values_append(&s.buckets, score);
	values_append(&s.seen.times[SIDE_REFERENCE], seconds);
	return s;
}

/* an audit of each side, in seconds */
static void
append_audit(Rounds *s, double reference, double candidate)
{
	values_append(&s->audit[SIDE_REFERENCE], reference);
	values_append(&s->audit[SIDE_CANDIDATE], candidate);
	values_append(&s->audit_more, candidate - reference);
}

/* what these are paid */
static double
conclude_audited(Rounds *s)
{
	cudal1_score_interval(s->buckets.v, s->buckets.n, 0.95, 3, &s->lower, &s->upper,
						  &s->half_width);
	verdict_conclude(s, false);
	json_decref(measure.result->evidence);
	free(s->buckets.v);
	free(s->seen.times[SIDE_REFERENCE].v);
	free(s->audit[SIDE_REFERENCE].v);
	free(s->audit[SIDE_CANDIDATE].v);
	free(s->audit_more.v);
	return measure.result->score;
}

/*
 * audits that say nothing clear, since both sides' spread: the candidate's take as long as the
 * reference's, or so many times as long
 */
static double
check_unclear(double score, double slower)
{
	Rounds		s = audited(score, 1e-3);

	for (int i = 0; i < 40; i++)
		append_audit(&s, 1e-3 * (1 + 0.9 * (i / 5 % 2)), 1e-3 * (slower + 0.9 * (i / 10 % 2)));
	conclude_audited(&s);
	if (score < 1)
		check(near(measure.result->score, score, 1e-12),
			  "nor do they lower one that claims no gain");
	else
	{
		check(measure.result->outcome == OUTCOME_SUCCESSFUL && measure.result->wide,
			  "audits too unsteady to confirm a score don't take it away");
		check(measure.result->score < 1.2 && measure.result->score == measure.result->lower,
			  "it is what they show without a doubt granted");
	}
	return measure.result->score;
}

/*
 * what a score is paid whose reference takes 5 us in blocks, and in audits 0.2 us, more or less,
 * because a busy host has what any audit takes seem as long as one with a run; `saved`: by the
 * candidate, whose audits differ by `noise`
 */
static double
paid_by_short_audits(double score, double saved, double noise)
{
	Rounds		s = audited(score, 5e-6);

	for (int i = 0; i < 40; i++)
		append_audit(&s, 1e-7 + 2e-7 * (i / 5 % 2),
					 2e-7 + noise * (i / 10 % 2 - 0.5) - saved);
	return conclude_audited(&s);
}

/* what a score is worth where the reference takes 1 ms in blocks, in audits these seconds */
static double
after_audits(double score, double reference, double candidate)
{
	Rounds		s = audited(score, 1e-3);

	for (int i = 0; i < 40; i++)
		append_audit(&s, reference, candidate);
	return conclude_audited(&s);
}

/* traps that a score gets on a GPU, whose steps so many have told; so many outputs were late */
static int
traps_made(double score, int known, int late, uint32_t runs)
{
	Rounds		s = {.m = &measure,.late = late,.runs = {runs, runs}};

	values_append(&s.buckets, score);
	for (int i = 0; i < known; i++)
		rounds_trap(&s, NULL);
	made = 0;
	check(more_traps(&s), "the measurement goes on");
	free(s.buckets.v);
	for (int side = 0; side < 2; side++)
		for (int kind = 0; kind < STEPS; kind++)
			free(s.steps[side][kind].v);
	return made;
}

/*
 * what a run's steps of 5 us, and an executor's loop of so many, leave of a score that blocks say,
 * where the reference takes 40 us
 */
static double
launches_leave(double estimate, double loop)
{
	Rounds		s = {.m = &measure, .turns = 280e-6, .taking = copying};
	double		found;

	measure.result->evidence = json_object();
	values_append(&s.seen.times[SIDE_REFERENCE], 40e-6);
	values_append(&s.seen.pace, 40e-6);
	for (int i = 0; i < MIN_STEPS_SEEN; i++)
		rounds_trap(&s, NULL);
	if (loop > 0)
		values_append(&s.loop, loop);
	found = launch_bound(&s, estimate);
	json_decref(measure.result->evidence);
	free(s.seen.times[SIDE_REFERENCE].v);
	free(s.seen.pace.v);
	free(s.loop.v);
	for (int side = 0; side < 2; side++)
		for (int kind = 0; kind < STEPS; kind++)
			free(s.steps[side][kind].v);
	return found;
}

/* random numbers of [0, 1) */
static double
draw(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (double) (state >> 11) / 9007199254740992.0;
}

/*
 * The bound by so many traps of a core that is 1.8 times as slow in two of five of them. It seldom
 * changes between a trap's blocks. The reference's runs take 75 us on a quick core and the
 * candidate's a share of that, and a trap adds 12 us.
 */
static double
shared_core(int traps, double share)
{
	Rounds		s = {.m = &measure, .turns = 280e-6};
	double		pace = 75e-6;
	double		found;

	measure.result->evidence = json_object();
	values_append(&s.seen.times[SIDE_REFERENCE], pace);
	values_append(&s.seen.pace, pace);
	for (int i = 0; i < traps; i++)
	{
		bool		slow = draw() < 0.4;

		for (int side = 0; side < 2; side++)
		{
			double		run = (75e-6 * (side == SIDE_CANDIDATE ? share : 1) + 12e-6)
				* (slow ? 1.8 : 1);
			Values		kinds[STEPS] = {{0}};

			for (int j = 0; j < 16; j++)
				values_append(&kinds[j % STEPS], run * (0.9 + 0.2 * draw()));
			values_append(&s.trapped[side],
						  steps_cost(&s, values_median(&kinds[STEP_LATE]),
									 values_median(&kinds[STEP_RESTED]),
									 values_median(&kinds[STEP_NEXT])));
			for (int kind = 0; kind < STEPS; kind++)
			{
				for (size_t j = 0; j < kinds[kind].n; j++)
					values_append(&s.steps[side][kind], kinds[kind].v[j]);
				free(kinds[kind].v);
			}
			slow = slow != (draw() < 0.1);
		}
	}
	found = launch_bound(&s, 20);
	json_decref(measure.result->evidence);
	free(s.seen.times[SIDE_REFERENCE].v);
	free(s.seen.pace.v);
	for (int side = 0; side < 2; side++)
	{
		free(s.trapped[side].v);
		for (int kind = 0; kind < STEPS; kind++)
			free(s.steps[side][kind].v);
	}
	return found;
}

/* how many of a hundred measurements of eight traps have a bound in this range */
static int
bounds_within(double share, double from, double to)
{
	int			within = 0;

	for (int i = 0; i < 100; i++)
	{
		double		found = shared_core(8, share);

		within += found >= from && found <= to;
	}
	return within;
}

static double
step_or_loop(double loop)
{
	return launches_leave(20, loop);
}

static bool of_host;				/* PyTorch, whose steps are known */
static bool clear = true;			/* single runs are */
static double shown;				/* what a score above the bound is paid */
static double late_reference = 68e-6;	/* a run of the reference's whose input is late */

/*
 * what audits leave of a score on a GPU where the reference takes 100 us in blocks and `audit` in
 * audits of single runs; `single`, `late`: what the candidate takes in audits of either kind
 */
static double
gpu_bound(double audit, double single, double late, uint32_t runs)
{
	static Gpu	gpu;
	Rounds		s = {.m = &measure,.runs = {runs, runs},.late_whole = of_host};
	double		found;

	measure.gpu = &gpu;
	job.language = of_host ? LANGUAGE_PYTORCH : LANGUAGE_CUDA;
	if (of_host)
	{
		values_append(&s.loop, 8e-6);
		values_append(&s.seen.pace, reference_step);
	}
	measure.result->evidence = json_object();
	values_append(&s.seen.times[SIDE_REFERENCE], 100e-6);
	values_append(&s.late_idle, 8e-6);
	for (int i = 0; i < 20; i++)
	{
		if (runs > 1)
		{
			values_append(&s.audit[SIDE_REFERENCE], audit);
			values_append(&s.audit[SIDE_CANDIDATE], single);
			values_append(&s.audit_more, single - audit);
		}
		values_append(&s.late_runs[SIDE_REFERENCE], late_reference);
		values_append(&s.late_runs[SIDE_CANDIDATE], late);
		values_append(&s.late_more, late - late_reference);
		if (of_host)
			rounds_trap(&s, NULL);
	}
	found = audits_bound(&s, 0, clear, &shown);
	json_decref(measure.result->evidence);
	measure.gpu = NULL;
	free(s.seen.times[SIDE_REFERENCE].v);
	free(s.late_idle.v);
	free(s.late_more.v);
	free(s.seen.pace.v);
	free(s.loop.v);
	free(s.audit_more.v);
	for (int side = 0; side < 2; side++)
	{
		for (int kind = 0; kind < STEPS; kind++)
			free(s.steps[side][kind].v);
		free(s.audit[side].v);
		free(s.late_runs[side].v);
	}
	return found;
}

int
main(void)
{
	double		twice;

	check_wide();
	check_unclear(2, 1);
	check_unclear(0.98, 3);
	check(check_unclear(1.4, 1) < 1.03 && measure.result->wide,
		  "nor do they confirm a lower one that stands by their doubt alone");
	check(check_unclear(4, 0.6) < 1.2, "less a standard error, since luck would be paid");
	check(near(check_unclear(1.6, 1.2), 1, 1e-12), "and no less than 1.00");
	check(near(paid_by_short_audits(3, 0, 2e-7), 1, 1e-12)
		  && near(paid_by_short_audits(1.58, 0, 2e-7), 1, 1e-12)
		  && near(paid_by_short_audits(1.3, 0, 2e-7), 1, 1e-12),
		  "audits far shorter than runs in blocks have as much more doubt");
	check(near(paid_by_short_audits(3, 1.2e-7, 4e-7), 1, 1e-12),
		  "luck that is lengthened as much as that is not paid");
	check(paid_by_short_audits(2, 2.5e-6, 2e-7) == 2, "and confirm what saves as much in them");
	check(gpu_bound(100e-6, 40e-6, 36e-6, 90) > 2.5,
		  "code that takes 40 us of 100 in audits of single runs may be so fast");
	check(gpu_bound(100e-6, 40e-6, 36e-6, 1) > 2.3, "nearly so where blocks are such runs");
	check(gpu_bound(100e-6, -100e-6, 68e-6, 1) < 1.12,
		  "and code that works in audits alone is no faster");
	check(gpu_bound(100e-6, -100e-6, 115e-6, 90) < 1.2, "but not code whose work hides in the "
		  "turns that are taken off, and takes 115 us with late inputs");
	check(gpu_bound(100e-6, -100e-6, 115e-6, 1) < 1.2, "nor where blocks are such runs");
	check(gpu_bound(80e-6, 20e-6, 20e-6, 90) > 4,
		  "of a reference that takes 80 us in audits, code that takes 20 may be 4 times as fast");
	check(gpu_bound(80e-6, 80e-6, 88e-6, 90) < 1.12, "code that takes as long is no faster");
	check(gpu_bound(20e-6, 2e-6, 10e-6, 90) < 1.6, "by half as much again at the most");
	check(gpu_bound(80e-6, 90e-6, 98e-6, 90) > 100.0 / 110, "but nothing in code that is slower");
	of_host = true;
	steps[STEP_LATE] = steps[STEP_NEXT] = steps[STEP_RESTED] = 20e-6;
	check(gpu_bound(80e-6, 65e-6, 28e-6, 90) < 1.7, "of what a GPU works on, single runs tell all");
	reference_step = 98e-6;
	check(gpu_bound(80e-6, 65e-6, 28e-6, 90) > 1.9,
		  "they hide what code saves of its host's work, which steps and late inputs show");
	check(gpu_bound(80e-6, 65e-6, 68e-6, 90) < 1.7, "both of them");
	late_reference = 120e-6;
	steps[STEP_LATE] = steps[STEP_NEXT] = steps[STEP_RESTED] = 1e-6;
	check(gpu_bound(80e-6, 80e-6, 24e-6, 90) < 10.1,
		  "where these find a fifth of the reference's time, no less, whatever a launch takes");
	check(near(shown, 100 / 24., 1e-9), "and what is above that counts with all of such a run");
	late_reference = 68e-6;
	steps[STEP_LATE] = steps[STEP_NEXT] = 20e-6;
	steps[STEP_RESTED] = 98e-6;
	check(gpu_bound(80e-6, 80e-6, 2e-6, 90) < 1.26,
		  "code that answers late inputs ahead gains nothing by that");
	check(gpu_bound(80e-6, 20e-6, 20e-6, 90) > 4, "nor do they take what single runs show");
	check(gpu_bound(450e-6, 450e-6, 68e-6, 90) < 2.1, "nor what a busy host's might");
	clear = false;
	check(gpu_bound(450e-6, 250e-6, 68e-6, 90) < 1.12,
		  "where these say nothing, late inputs bound code that is no faster");
	check(gpu_bound(450e-6, 470e-6, 28e-6, 90) < 1.5, "which raise no bound");
	check(gpu_bound(72e-6, 72e-6, 2e-6, 90) < 1.5, "that code could choose by its noise");
	clear = true;
	of_host = false;
	reference_step = 40e-6;
	steps[STEP_LATE] = steps[STEP_NEXT] = steps[STEP_RESTED] = 5e-6;
	check(traps_made(1.2, 0, 0, 100) == MIN_STEPS_SEEN,
		  "a score above 1 whose steps no trap has told gets traps");
	check(traps_made(1.2, 5, 0, 100) == MIN_STEPS_SEEN - 5, "as many as that takes");
	check(traps_made(0.9, 0, 0, 100) == 0, "one that is no reward gets none");
	check(traps_made(1.2, 0, 0, 2) == 0, "nor does one of runs that are few and long");
	check(traps_made(1.2, 50, 0, 100) == 0, "nor one whose steps are known");
	check(traps_made(1.2, 50, 1, 100) == 8, "unless an output was late, perhaps in the last trap");
	check(fabs(step_or_loop(0) - 40 / 4.5) < 1e-6,
		  "a score is no more than runs cost the code that launches them");
	check(fabs(step_or_loop(8e-6) - 40 / 7.2) < 1e-6, "nor than they cost the executor's own loop");
	steps[STEP_LATE] = steps[STEP_NEXT] = 0.1e-6;
	check(fabs(step_or_loop(0) - 40 / 4.5) < 1e-6,
		  "also where a kernel that stays does it, which has to be launched anew after a rest");
	steps[STEP_LATE] = steps[STEP_NEXT] = 40e-6;
	steps[STEP_RESTED] = 175e-6;
	check(fabs(step_or_loop(0) - 40 / 36.) < 1e-6,
		  "but code that waits for its kernels is not blamed for the GPU's turns");
	copying = 10e-6;
	check(fabs(step_or_loop(0) - 40 / 27.) < 1e-6, "nor for the copying of its results");
	copying = 0;
	steps[STEP_LATE] = 90e-6;
	check(launches_leave(0.91, 0) == 1 && launches_leave(1.05, 0) == 1,
		  "steps that a shared core lengthens take nothing below 1 from code that gains nothing");
	check(launches_leave(1.2, 0) < 0.5, "but from code that blocks say is faster");
	check(bounds_within(0.6, 0.95 / 0.6, INFINITY) > 95,
		  "traps on a core that is slow by turns take next to nothing from right code");
	check(bounds_within(1, 0, 1.2) > 95,
		  "nor do they leave much more than 1 to code whose runs cost what the reference's do");
	check(bound(1e-3, 0.25e-3) > 4, "code that audits find four times as fast may be so");
	check(bound(2e-3, 0.25e-3) > 4,
		  "nor does it pay for a host that slows blocks more than audits");
	check(bound(30e-3, 0.25e-3) > 4, "nor if that is thirty times as slow");
	check(bound(2e-3, 1e-3) < 1.03 && bound(0.5e-3, 1e-3) < 1.03,
		  "code that audits find no faster is not, on whatever host");
	check(bound(1e-3, 0.5e-3) < 2.4 && bound(2e-3, 0.5e-3) < 2.4,
		  "code that audits find twice as fast is hardly faster");
	check(bound(0.9e-3, 0.775e-3) < 1.35,
		  "blocks that are a tenth shorter than audits make no more of what a candidate saves");
	check(busy_bound(310e-6, 0) < 1.4,
		  "where audits take four times as long, what code saves counts for a share");
	check(busy_bound(310e-6, 300e-6) > 10, "unless runs of no code take as much longer");
	check(busy_bound(350e-6, 200e-6) < busy_bound(350e-6, 300e-6)
		  && busy_bound(350e-6, 200e-6) > busy_bound(350e-6, 0),
		  "what they don't take is a share still");
	check(near(busy_bound(350e-6, 500e-6), busy_bound(350e-6, 300e-6), 1e-12)
		  && busy_bound(350e-6, 500e-6) < 2.4,
		  "however long they take, code that saves half of a run is hardly twice as fast");
	check(busy_bound(400e-6, 300e-6) < 1.03, "and code that saves nothing in audits is no faster");
	check(third_bound(1e-3, 0.05e-3) < 1.6,
		  "code that is fast for a third of the inputs is not judged by those");
	check(third_bound(0.05e-3, 1e-3) < 3.2,
		  "nor is code that is fast for two thirds of them");
	check(after_audits(1.27, 1e-3, 0.8e-3) == 1.27, "a score within the margin of audits is paid");
	check(fabs(after_audits(10, 1e-3, 0.8e-3) - 1.25) < 1e-9,
		  "one that contradicts them gets what they show, without the margin");
	twice = bound(1e-3, 0.5e-3);
	check(near(after_audits(twice * 0.999, 1e-3, 0.5e-3), twice * 0.999, 1e-12)
		  && near(after_audits(twice * 1.001, 1e-3, 0.5e-3), twice, 0.001),
		  "one that luck takes a little above the bound loses little");
	check(near(after_audits(twice * 1.125, 1e-3, 0.5e-3), (twice + 2) / 2, 1e-9)
		  && near(after_audits(twice * 1.251, 1e-3, 0.5e-3), 2, 1e-9),
		  "what it loses grows evenly with how far it is above");
	check(after_audits(10, 1e-3, 1.01e-3) == 1 && !measure.result->wide,
		  "and where they show nothing, 1.00");
	check(fabs(after_audits(3, 3e-3, 2.3e-3) - 1.307) < 1e-3 && measure.result->wide
		  && measure.result->lower == measure.result->score && near(measure.result->upper, 3, 1e-9),
		  "where audits take longer than cold code does, it is the lower end of what they show");
	check(after_audits(20, 3e-3, 2.3e-3) < 1.31 && !measure.result->wide,
		  "which no reading of them confirms for code that is worth less");
	own_core = false;
	check(near(bound_of(100e-6, 100e-6, 100e-6, 100e-6, 1, 0), 4.0 / 3, 1e-9)
		  && near(bound_of(100e-6, 390e-6, 390e-6, 390e-6, 1, 0), 4.0 / 3, 1e-9),
		  "without a core of its own a quarter of the reference is granted, whatever audits take");
	own_core = true;
	check(more(1.2, 3, true) == 5,
		  "a score above 1 that few audits confirm gets those that a bound needs");
	check(more(2.0, 0, true) == 8, "a high score that no audit confirms gets them, too");
	check(more(1.2, 8, true) == 0, "a score that enough audits confirm gets no more");
	check(more(0.9, 3, true) == 0, "a score that no bound can lower gets none");
	check(more(1.2, 0, false) == 0, "where none are planned, none are made");
	return done();
}
