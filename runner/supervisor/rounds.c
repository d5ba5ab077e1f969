/*
 * rounds.c
 *		From fresh pairs of executors to a score.
 *
 * A bucket is a fresh pair of processes in two halves: what the placement of code and memory adds to a time is constant within
 * a pair and independent between pairs, so that the spread between buckets tells the error, which more rounds of one pair
 * would only hide. The halves swap who starts first and, for PyTorch, who runs in which forked parent, and the bucket is the
 * geometric mean of both. On a GPU the candidate of the first half stays for the second, with a new reference: contexts take a tenth
 * of a second to make, one at a time on a whole host, and were half of what a measurement took. Within a half, a round times one block
 * of each side on the same inputs in the same shared
 * memory, in an order that is random but balanced.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/rounds.h"

#define MAX_SAMPLES		4000
#define MAX_PRICED		2		/* halves, before disturbances are not tried again */
#define MIN_ROUNDS		8		/* of a half, where time is short */
#define KNOWN			0.5		/* of the goal: standard error of a half that needs no more rounds */
#define TRAP_EVERY		16		/* rounds, on average */
#define TRAP_EVERY_LATE	4		/* after a late output */
#define MIN_TRAPPED		8		/* runs of a block, for what runs cost to matter */
#define STEP_RUNS		5		/* of an audit on a GPU: the first has it turn to the executor */
#define STEP_SECONDS	5e-3	/* of longer runs the constant cost of a block is next to nothing */
#define MIN_ORDERED		2		/* rounds of an order, for a median of their own */
#define BUDGET_ROUNDS	2		/* of a half, where the budget is used up */
#define BUDGET_PAIRS	3		/* that are made whatever they take: an interval of two says next to nothing */
#define WALL_OF_PAIR	2.0		/* wall time of a pair beside its processes' starts, in the clock time of its blocks */
#define LIKE_BLOCKS		1.25	/* speeds up to which both sides' blocks have the same number of runs */
#define LIKE_SECONDS	2.0		/* how much longer one side's blocks may take than the other's */
#define UNEVEN_BLOCKS	1.5		/* how much less alike blocks may be than those that the times of a pair ask for */
#define MAX_RESIZED		3		/* times in a measurement */
#define UNEVEN_LAST		4.0		/* the same, when blocks are not resized any more */
#define MAX_UNEVEN		3		/* pairs that don't count then, before the measurement ends */
#define WALL_FACTOR		2.5		/* wall time of a half, in its clock time */
#define WALL_FACTOR_GPU	1.7		/* where staging is within the window and steady */
#define L2_TIMES		3.0
#define DIRECT_BYTES	((size_t) 8 << 20)
#define CHECKS_A_HALF	2.0
#define EXTRAS_A_HALF	1.0		/* comparisons of runs that the reference's blocks do not have */
#define NOTED_FILL		1.02	/* what outputs in fresh memory make of a block's time */
#define EXTRA_SHARE		0.1		/* of the reference's runs, that it makes for these at most */

void
rounds_shuffle(Rounds *s, uint32_t *v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--)
	{
		uint32_t	j = (uint32_t) random_below(&s->m->random, i);
		uint32_t	t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

double
rounds_timeout(const Rounds *s, Side side, uint32_t n)
{
	/* one run may take its limit; the others, ten times what they took before */
	return measure_run_limit(s->m) + 10 * n * s->m->time[side] + 1;
}

/*
 * One block of a side over `n` of the slots; keeps the outputs of its first `keep` slots, from place `from` on. Its runs come in random
 * order, so that their place in the block tells nothing of which are kept, or of which the other side ran too. `staged`, if more: how many of
 * the slots are staged as if they would be run.
 */
static bool
block_among(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n, uint32_t staged, uint32_t keep, uint32_t from, double *seconds)
{
	Measure    *m = s->m;
	Executor   *executor = &half->executor[side];
	uint32_t	at[WIRE_MAX_RUNS];
	uint32_t	shuffled[WIRE_MAX_RUNS] = {0};
	uint32_t	listed[WIRE_MAX_RUNS] = {0};
	uint64_t	seeds[WIRE_MAX_RUNS];

	for (uint32_t i = 0; i < n; i++)
		at[i] = i;
	rounds_shuffle(s, at, n);
	/* sampled runs end the block: work that an answer leaves behind is that of its last runs */
	for (uint32_t d = 0; m->gpu && d < 2 && d < m->gpu->drawn.n; d++)
		for (uint32_t i = 0; i < n; i++)
			if (slots[at[i]] == m->gpu->drawn.slot[d])
			{
				uint32_t	t = at[i];

				at[i] = at[n - 1 - d];
				at[n - 1 - d] = t;
				break;
			}
	for (uint32_t i = 0; i < n; i++)
	{
		shuffled[i] = slots[at[i]];
		seeds[i] = s->seeds[shuffled[i]];
	}
	if (staged > n)
	{
		memcpy(listed, slots, staged * sizeof(*slots));
		rounds_shuffle(s, listed, staged);
	}
	if (!measure_stage(m, &s->arena, side, staged > n ? listed : shuffled, staged > n ? staged : n)
		|| !measure_block(m, executor, side, shuffled, seeds, n, rounds_timeout(s, side, n), seconds))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (at[i] < keep
			&& !measure_read(m, executor, side, &s->arena, i, shuffled[i], s->kept[side] + (from + at[i]) * m->output_bytes))
			return false;
	return measure_poison(m, executor, side);
}

bool
rounds_block(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n, uint32_t keep, double *seconds)
{
	return block_among(s, half, side, slots, n, n, keep, 0, seconds);
}

bool
rounds_inputs(Rounds *s, uint32_t n)
{
	for (uint32_t i = 0; i < s->slots; i++)
		s->order[i] = i;
	rounds_shuffle(s, s->order, s->slots);
	for (uint32_t i = 0; i < n; i++)
		s->seeds[s->order[i]] = random_next(&s->m->random);
	return measure_generate(s->m, &s->arena, s->order, n);
}

bool
rounds_compare(Rounds *s, uint32_t keep)
{
	for (uint32_t i = 0; i < keep; i++)
		if (!measure_compare(s->m, s->kept[SIDE_REFERENCE] + i * s->m->output_bytes, s->kept[SIDE_CANDIDATE] + i * s->m->output_bytes,
							 SIDE_CANDIDATE))
			return false;
	return true;
}

/* a number of which the fraction decides by lot */
static double
by_lot(Rounds *s, double n)
{
	return floor(n) + ((double) random_below(&s->m->random, 1000000) < (n - floor(n)) * 1e6);
}

/*
 * How many outputs of the next round to compare: spread over the pairs of the first look, as many as their time allows. After
 * that, and beyond any limit, still some in every half: a candidate may tell by the clock when the others are used up, and
 * can make later pairs necessary by being unsteady.
 */
static uint32_t
draws(Rounds *s, uint32_t common)
{
	const Profile *p = &s->m->job->profile;
	/* a half may do with fewer rounds than were planned */
	int			total = p->pairs * (s->buckets.n > 0 ? s->rounds_in_buckets / (int) s->buckets.n : 2 * s->rounds_a_half);
	double		left = p->check_seconds - s->m->checked_seconds;
	int			wanted = p->max_checks - s->m->result.checks;
	int			rounds_left = total - s->rounds > 0 ? total - s->rounds : 1;
	double		affordable = left / fmax(s->m->check_time, 1e-6) / rounds_left;
	double		n;

	n = fmin((double) wanted / rounds_left, affordable);
	if (s->m->result.checks < p->min_checks)
		n = fmax(n, (double) (p->min_checks - s->m->result.checks) / rounds_left);
	n = fmax(n, CHECKS_A_HALF / fmin(s->rounds_a_half + s->audits_a_half, 4 * MIN_ROUNDS));
	return (uint32_t) fmin(fmin(by_lot(s, n), common), s->kept_max);
}

/*
 * And how many of those that the candidate's block alone has. Code could tell them by the caches, where the reference went first, and leave
 * them undone. The reference runs some of them after the round, drawn by lot as the others are, but for its time.
 */
static uint32_t
extra_draws(Rounds *s, const uint32_t *n, uint32_t keep)
{
	double		extra;

	if (n[SIDE_CANDIDATE] <= n[SIDE_REFERENCE])
		return 0;
	extra = fmin((double) keep * (n[SIDE_CANDIDATE] - n[SIDE_REFERENCE]) / n[SIDE_REFERENCE], EXTRA_SHARE * n[SIDE_REFERENCE]);
	extra = fmax(extra, EXTRAS_A_HALF / fmin(s->rounds_a_half, 4 * MIN_ROUNDS));
	return (uint32_t) fmin(fmin(by_lot(s, extra), n[SIDE_CANDIDATE] - n[SIDE_REFERENCE]), s->kept_max - keep);
}

/* slots that an audit on a GPU stages: what both sides' blocks do, but no more than turn each other out of its cache */
uint32_t
rounds_audit_staged(const Rounds *s)
{
	const Measure *m = s->m;
	uint32_t	most = s->runs[0] < s->runs[1] ? s->runs[0] : s->runs[1];
	double		enough = 1 + L2_TIMES * (double) m->gpu->l2_bytes / (double) (m->input_slot_bytes + m->output_bytes + 1);

	return (uint32_t) fmin(most, enough);
}

/* the reference's runs of slots that its block did not have; their time is that of comparing */
static bool
run_extra(Rounds *s, Half *half, const uint32_t *slots, uint32_t n, uint32_t from)
{
	double		started = clock_now();
	double		seconds;

	if (!block_among(s, half, SIDE_REFERENCE, slots, n, n, n, from, &seconds))
		return false;
	s->m->checked_seconds += clock_now() - started;
	return true;
}

/*
 * On a GPU, an audit whose runs begin one by one and end before they answer, see cuda_audit.c. Their inputs come just before and lie in the
 * cache, so that runs of other audits may take longer, but not less.
 */
static bool
step_audit(Rounds *s, Half *half, bool reference_first)
{
	Measure    *m = s->m;
	uint32_t	n = s->slots < STEP_RUNS ? s->slots : STEP_RUNS;
	uint32_t	sample;
	double		taken[2];
	bool		good;

	n = 1 + gpu_late_most(&s->arena, n - 1);
	sample = (uint32_t) random_below(&m->random, n);
	good = rounds_inputs(s, n) && gpu_audit_set(m, &s->arena, s->order, n, true);
	for (int turn = 0; turn < 2 && good; turn++)
	{
		Side		side = (turn == 0) == reference_first ? SIDE_REFERENCE : SIDE_CANDIDATE;
		Executor   *executor = &half->executor[side];
		uint64_t	seeds[STEP_RUNS];
		double		seconds;
		bool		same;

		for (uint32_t i = 0; i < n; i++)
			seeds[i] = s->seeds[s->order[i]];
		good = measure_stage(m, &s->arena, side, s->order, n)
			&& measure_block(m, executor, side, s->order, seeds, n, rounds_timeout(s, side, n), &seconds)
			&& gpu_audit_same(m, &same);
		if (good && !same)
			good = conclude(m, side == SIDE_CANDIDATE ? OUTCOME_WRONG_OUTPUT : OUTCOME_UNVERIFIED,
							"an output of %s changed after its run had said that it was done", side == SIDE_CANDIDATE ? "the code" : "the reference");
		good = good && measure_read(m, executor, side, &s->arena, sample, s->order[sample], s->kept[side]);
		taken[side] = cudal1_score_mean(m->gpu->audit.seconds, n - 1);
	}
	gpu_audit_clear(m);
	for (int side = 0; side < 2 && good; side++)
		values_append(&s->late_runs[side], taken[side]);
	s->audits += (int) n - 1;
	return good && rounds_compare(s, 1);
}

/*
 * A round: both sides on the same fresh inputs. `single`: an audit. On a GPU its run is one among
 * many that are staged, or it would find its inputs in a cache, where a block's runs don't.
 */
static bool
run_round(Rounds *s, Half *half, bool reference_first, bool single)
{
	uint32_t	n[2] = {single ? 1 : s->runs[0], single ? 1 : s->runs[1]};
	uint32_t	common = n[0] < n[1] ? n[0] : n[1];
	uint32_t	staged = single && s->m->gpu ? rounds_audit_staged(s) : 0;
	uint32_t	own[WIRE_MAX_RUNS];
	uint32_t	keep;
	uint32_t	extra;
	double		seconds[2];
	double		charged[2];		/* with what may have been done before the clock ran */
	double		pace;
	Measure    *m = s->m;

	if (single && !m->gpu)
		return audit_spell(s, half, reference_first);
	if (!rounds_inputs(s, n[0] > n[1] ? n[0] : n[1]))
		return false;
	keep = draws(s, common);
	extra = extra_draws(s, n, keep);
	if (m->gpu)
		gpu_draw(m, s->order, common);
	/* those of the candidate's that are compared come first */
	memcpy(own, s->order, (staged > n[SIDE_CANDIDATE] ? staged : n[SIDE_CANDIDATE]) * sizeof(*own));
	for (uint32_t i = 0; i < extra; i++)
	{
		uint32_t	t = own[keep + i];

		own[keep + i] = own[n[SIDE_REFERENCE] + i];
		own[n[SIDE_REFERENCE] + i] = t;
	}
	for (int turn = 0; turn < 2; turn++)
	{
		Side		side = (turn == 0) == reference_first ? SIDE_REFERENCE : SIDE_CANDIDATE;

		if (!block_among(s, half, side, side == SIDE_CANDIDATE ? own : s->order, n[side], staged, side == SIDE_CANDIDATE ? keep + extra : keep, 0,
						 &seconds[side]))
			return false;
		if (single)
			seconds[side] = alone_net(s, half, seconds[side], half->empty_single);
		else
			seconds[side] = alone_counted(s, half, n[side], seconds[side], half->empty[side]);
		charged[side] = seconds[side] + measure_fill(m, &half->executor[side]);
		if (charged[side] > NOTED_FILL * seconds[side])
			rounds_count(s, side == SIDE_CANDIDATE ? "filled_early" : "reference_filled_early");
	}
	pace = half->executor[SIDE_REFERENCE].pace;
	if ((m->gpu && !gpu_check_samples(m))
		|| (extra > 0 && !run_extra(s, half, s->order + n[SIDE_REFERENCE], extra, keep)) || !rounds_compare(s, keep + extra))
		return false;
	if (single)
	{
		audit_note(s, seconds);
		return true;
	}
	for (int side = 0; side < 2; side++)
	{
		values_append(&half->block[side], seconds[side] / n[side]);
		values_append(&s->times[side], seconds[side] / n[side]);
	}
	if (m->gpu)
		values_append(&s->pace, pace);
	values_append(&half->own[reference_first], seconds[SIDE_REFERENCE] / n[SIDE_REFERENCE]);
	values_append(&half->ratio[reference_first],
				  (charged[SIDE_REFERENCE] / n[SIDE_REFERENCE])
				  / (charged[SIDE_CANDIDATE] / n[SIDE_CANDIDATE]));
	s->rounds++;
	return true;
}

bool
rounds_audit(Rounds *s, Half *half, bool reference_first)
{
	return run_round(s, half, reference_first, true);
}

double
rounds_estimate(const Rounds *s)
{
	return s->buckets.n > 0 ? values_median(&s->buckets) : s->all.n > 0 ? values_median(&s->all) : NAN;
}

/* one more of what the evidence counts */
void
rounds_count(Rounds *s, const char *what)
{
	json_t	   *evidence = s->m->result.evidence;

	json_object_set_new(evidence, what, json_integer(json_integer_value(json_object_get(evidence, what)) + 1));
}

/* a single run has nothing to be ahead of */
static bool
has_traps(const Rounds *s)
{
	return s->m->gpu && s->m->spare_core && s->runs[0] > 1 && s->runs[1] > 1 && !s->of;
}

bool
rounds_traps_due(const Rounds *s)
{
	return has_traps(s) && s->runs[0] >= MIN_TRAPPED && s->runs[1] >= MIN_TRAPPED;
}

static void
show(const Rounds *s, bool force)
{
	const Profile *p = &s->m->job->profile;
	double		elapsed = clock_now() - s->started;
	double		share = (double) s->rounds / (2.0 * p->pairs * s->rounds_a_half);

	if (s->of)
		s = s->of;
	measure_progress(s->m, "measuring", (int) s->buckets.n, s->rounds, rounds_estimate(s), s->lower, s->upper,
					 share > 0.02 && share < 1 ? elapsed / share - elapsed : NAN, force);
}

/*
 * Seats swap with the order: a seat's address layout then speaks once for each side. On a GPU, where the candidate of both halves is one
 * process, both sides sit in the same seat, another one in each pair.
 */
static int
seat(const Rounds *s, Side side, int half_number)
{
	if (s->m->gpu)
		return (int) (s->buckets.n % 2);
	return side == SIDE_REFERENCE ? half_number : !half_number;
}

/*
 * Whether the rounds of a half tell its ratio better than pairs repeat each other. On a GPU most of a pair's time is its processes' start: where blocks
 * are steady and pairs are not, more pairs say more than longer ones.
 */
static bool
is_known(const Rounds *s, const Half *half)
{
	const Profile *p = &s->m->job->profile;
	double		goal = p->precision_goal;
	double		variance = 0;

	if (!s->m->gpu || half->ratio[0].n < MIN_ROUNDS / 2 || half->ratio[1].n < MIN_ROUNDS / 2)
		return false;
	if (s->buckets.n > 0)
		goal = fmax(goal, p->precision_slope * fabs(log(rounds_estimate(s))));
	/* of the mean of two medians' logarithms */
	for (int first = 0; first < 2; first++)
		variance += pow(cudal1_score_median_error(half->ratio[first].v, half->ratio[first].n) / values_median(&half->ratio[first]) / 2, 2);
	return sqrt(variance) <= KNOWN * goal;
}

/*
 * One half of a pair. The reference is timed alone where it started first, before the candidate exists, and in the other half after the
 * candidate's end, or slowing it there would pay.
 */
static bool
run_half(Rounds *s, int half_number, Values *plain, Values *capped, bool *disturbed)
{
	Measure    *m = s->m;
	const Profile *p = &m->job->profile;
	Half		half;
	bool		reference_first = half_number == 0;
	Side		first = reference_first ? SIDE_REFERENCE : SIDE_CANDIDATE;
	bool		carried = s->carrying;
	Values		alone = {0};
	uint32_t	steps = (uint32_t) (s->rounds_a_half + s->audits_a_half + s->steps_a_half);
	uint32_t   *plan = calloc(steps, sizeof(*plan));
	uint32_t	orders = (uint32_t) random_below(&m->random, 2);
	double		deadline;
	bool		foreign = false;
	bool		known = false;
	bool		good = false;

	memset(&half, 0, sizeof(half));
	executor_init(&half.executor[0]);
	executor_init(&half.executor[1]);
	*disturbed = false;
	if (carried)
		half.executor[SIDE_CANDIDATE] = s->carried;
	else
	{
		s->weights = random_next(&m->random);
		if (m->gpu)
		{
			m->gpu->swap_pools = random_below(&m->random, 2) == 0;
			gpu_arena_swap(m, &s->arena);
		}
	}
	s->carrying = false;
	for (int i = 0; i < 2; i++)
	{
		Side		side = i == 0 ? first : !first;

		if (carried && side == SIDE_CANDIDATE)
			continue;
		if (!measure_launch(m, &half.executor[side], side, seat(s, side, half_number), &s->arena, s->weights)
			|| !alone_warm(s, &half, side))
			goto done;
		if (i == 0 && reference_first)
		{
			if (!alone_time(s, &half, &alone))
				goto done;
			s->alone = values_median(&alone);
		}
		if (alone.n > 0 && i == 0 && s->neighbour == 0)
		{
			s->neighbour = 1;
			if (p->precision_goal > 0 && m->time[side] < MEASURE_SLOW && !alone_meet_neighbour(s, &half, &alone))
				goto done;
		}
	}
	if (!alone_settle_both(s, &half))
		goto done;
	if (m->gpu)
		gpu_begin_half(m);
	for (uint32_t i = 0; i < steps; i++)
		plan[i] = i;
	rounds_shuffle(s, plan, steps);
	deadline = clock_now() + (m->gpu ? WALL_FACTOR_GPU : WALL_FACTOR) * p->bucket_seconds / 2;
	for (uint32_t i = 0; i < steps; i++)
	{
		bool		audit = plan[i] >= (uint32_t) s->rounds_a_half;
		bool		step = plan[i] >= (uint32_t) (s->rounds_a_half + s->audits_a_half);

		bool		over = rounds_over_budget(s);

		if (half.ratio[0].n + half.ratio[1].n >= (over ? BUDGET_ROUNDS : MIN_ROUNDS) && p->precision_goal > 0)
		{
			/* where staging takes longer than running, fewer rounds will do */
			if (over || clock_now() > deadline)
				break;
			known = known || is_known(s, &half);
		}
		if (known && !audit)
			continue;
		/* every other round of each kind begins with the reference, in random order */
		if (!(step ? step_audit(s, &half, (plan[i] + orders) % 2 == 0) : run_round(s, &half, (plan[i] + orders) % 2 == 0, audit)))
			goto done;
		if (has_traps(s) && random_below(&m->random, s->late > 0 ? TRAP_EVERY_LATE : TRAP_EVERY) == 0 && !rounds_trap(s, &half))
			goto done;
		show(s, false);
	}
	if (m->gpu && gpu_disturbed(m, half.executor, 2) && p->precision_goal > 0)
	{
		foreign = true;
		s->attempts = p->disturbed_attempts;
	}
	if (!reference_first && p->precision_goal > 0)
	{
		measure_end(m, &half.executor[SIDE_CANDIDATE]);
		if (!alone_time_again(s, &half, &alone))
			goto done;
	}
	if (alone.n > 0 && p->precision_goal > 0 && half.block[SIDE_REFERENCE].n >= 4)
	{
		alone_note_beside(s, &half, &alone);
		if (m->gpu)
			alone_cap(s, &half, &alone);
		else if (alone_is_slowed(s, &half, &alone))
		{
			*disturbed = true;
			if (s->disturbed + 1 >= s->attempts)
			{
				alone_price(s, &half, &alone);
				s->priced++;
			}
		}
	}
	*disturbed = *disturbed || foreign;
	for (int first = 0; first < 2; first++)
		for (size_t i = 0; i < half.ratio[first].n; i++)
		{
			values_append(&plain[first], half.ratio[first].v[i]);
			values_append(&capped[first], (half.capped[first].n > 0 ? &half.capped[first] : &half.ratio[first])->v[i]);
		}
	good = true;
done:
	if (good && m->gpu && half_number == 0 && !*disturbed)
	{
		s->carried = half.executor[SIDE_CANDIDATE];
		s->carrying = true;
		executor_init(&half.executor[SIDE_CANDIDATE]);
	}
	measure_end(m, &half.executor[0]);
	measure_end(m, &half.executor[1]);
	free(half.block[0].v);
	free(half.block[1].v);
	free(half.own[0].v);
	free(half.own[1].v);
	free(half.ratio[0].v);
	free(half.ratio[1].v);
	free(half.capped[0].v);
	free(half.capped[1].v);
	free(alone.v);
	free(plan);
	return good;
}

/*
 * Who comes second in a round may find the inputs in a cache: ratios then lie in two heaps, one for each order, and a median of
 * all would fall into the gap. So each order has its median, and what the order does cancels.
 */
static double
half_estimate(const Rounds *s, const Values ratios[2], const Values *both)
{
	if (s->m->job->profile.bucket_estimator == CUDAL1_ESTIMATE_MEAN)
		return cudal1_score_mean(both->v, both->n);
	if (ratios[0].n < MIN_ORDERED || ratios[1].n < MIN_ORDERED)
		return values_median(both);
	return sqrt(values_median(&ratios[0]) * values_median(&ratios[1]));
}

static void
keep_samples(Rounds *s, const Values *ratios)
{
	json_t	   *bucket = json_array();

	for (size_t i = 0; i < ratios->n; i++)
	{
		values_append(&s->all, ratios->v[i]);
		if (s->samples++ < MAX_SAMPLES)
			json_array_append_new(bucket, json_real(round(ratios->v[i] * 1e6) / 1e6));
	}
	if (!s->m->result.samples)
		s->m->result.samples = json_array();
	json_array_append_new(s->m->result.samples, bucket);
}

/* memory on other pages: which of them share sets of a cache holds for as long as they are mapped, and differs between pairs like all placement */
static bool
fresh_arena(Rounds *s)
{
	bool		direct = s->arena.direct;

	arena_destroy(&s->arena);
	if (!measure_arena(s->m, &s->arena, s->slots, 0))
		return false;
	s->arena.direct = direct;
	return true;
}

/* what halves say together can turn over what a half seemed to say, so all buckets are chosen anew */
static void
choose_buckets(Rounds *s)
{
	json_t	   *evidence = s->m->result.evidence;
	double		slower;
	double		error;
	bool		slowed = alone_was_slowed(s, &slower, &error);
	const Values *chosen = slowed ? &s->capped : &s->plain;

	s->buckets.n = 0;
	for (size_t i = 0; i < chosen->n; i++)
		values_append(&s->buckets, chosen->v[i]);
	if (s->excess.n >= 2)
		json_object_set_new(evidence, "reference_slower", json_pack("[f, f]", round(expm1(slower) * 1e4) / 1e4, round(error * 1e4) / 1e4));
	if (slowed)
		json_object_set_new(evidence, "reference_capped", json_integer(s->slowed));
	else
		json_object_del(evidence, "reference_capped");
}

bool
rounds_pair(Rounds *s)
{
	double		plain = 1;
	double		capped = 1;
	Values		bucket = {0};
	bool		good = true;

	if (!s->m->gpu && (s->buckets.n > 0 || s->of) && !fresh_arena(s))
		return false;
	for (int half = 0; half < 2 && good; half++)
	{
		Values		ratios[2][2] = {{{0}}};
		Values		both[2] = {{0}};
		bool		disturbed;
		Rounds		before = *s;

		/* who slows the reference again and again is not worth the device's time three times over */
		s->attempts = s->priced < MAX_PRICED && !rounds_over_budget(s) ? s->m->job->profile.disturbed_attempts : 1;
		for (s->disturbed = 0;; s->disturbed++)
		{
			good = run_half(s, half, ratios[0], ratios[1], &disturbed);
			if (!good || !disturbed)
				break;
			rounds_count(s, "reference_disturbed");
			if (s->disturbed + 1 >= s->attempts)
				break;
			if (rounds_over_budget(s))
				s->attempts = s->disturbed + 2;
			ratios[0][0].n = ratios[0][1].n = ratios[1][0].n = ratios[1][1].n = 0;
			s->rounds = before.rounds;
			s->excess.n = before.excess.n;
			s->slowed = before.slowed;
		}
		for (int kind = 0; kind < 2; kind++)
			for (int first = 0; first < 2; first++)
				for (size_t i = 0; i < ratios[kind][first].n; i++)
				{
					values_append(&both[kind], ratios[kind][first].v[i]);
					if (kind == 0)
						values_append(&bucket, ratios[kind][first].v[i]);
				}
		if (good)
		{
			plain *= half_estimate(s, ratios[0], &both[0]);
			capped *= half_estimate(s, ratios[1], &both[1]);
		}
		for (int kind = 0; kind < 2; kind++)
		{
			free(ratios[kind][0].v);
			free(ratios[kind][1].v);
			free(both[kind].v);
		}
	}
	if (good)
	{
		values_append(&s->plain, sqrt(plain));
		values_append(&s->capped, sqrt(capped));
		choose_buckets(s);
		s->rounds_in_buckets = s->rounds;
		keep_samples(s, &bucket);
	}
	free(bucket.v);
	return good;
}

/*
 * Runs in a block of each side. Finding the caches cold costs a block 0.2 to 0.4 ms on a CPU and 0.1 ms on a GPU, which the empty ones that
 * are taken off don't tell. Blocks that take as long pay the same share of it; a reference whose blocks take an eighth of the candidate's
 * seems 4 to 10 % slower than it is, and on a GPU a candidate whose blocks take a quarter 3.6 %. So where memory or the making of inputs keeps
 * one side's blocks short, the other's are shortened as well.
 */
static void
size_blocks(const Rounds *s, const double *time, uint32_t *runs)
{
	const Profile *p = &s->m->job->profile;

	for (int side = 0; side < 2; side++)
	{
		double		seconds = fmin(p->block_seconds, LIKE_SECONDS * s->most * time[!side]);

		runs[side] = (uint32_t) fmax(1, fmin(s->most, round(seconds / time[side])));
	}
	/* runs beyond those that both sides have lie on inputs that nobody read just before */
	if (fmax(time[0], time[1]) < LIKE_BLOCKS * fmin(time[0], time[1]))
		runs[SIDE_CANDIDATE] = runs[SIDE_REFERENCE];
}

/* sizes of blocks, numbers of rounds; the arena that holds them */
static bool
plan(Rounds *s)
{
	Measure    *m = s->m;
	const Profile *p = &m->job->profile;
	/* a PyTorch executor keeps the outputs of a block in memory of its own */
	size_t		run_bytes = (m->gpu ? 3 : 2) * m->input_slot_bytes + (m->gpu ? 2 : 1) * m->output_slot_bytes
		+ (m->job->language == LANGUAGE_PYTORCH ? m->output_bytes : 0);
	size_t		arena_bytes = m->gpu ? m->gpu->arena_bytes : (size_t) p->arena_mb << 20;
	double		most = fmin(WIRE_MAX_RUNS, (double) arena_bytes / (double) (run_bytes + 1));
	uint32_t	spare;
	double		room;
	double		round_seconds = 0;
	double		half_seconds = p->bucket_seconds / 2;

	/* a PyTorch executor holds a block's outputs, and wants room for its own arrays */
	if (m->gpu && m->output_bytes > 0)
		most = fmin(most, fmax(1, (double) m->gpu->pool_bytes / OUTPUTS_SHARE / (double) m->output_bytes));
	/* making inputs must not take longer than using them */
	if (m->generate_time > 0)
		most = fmin(most, fmax(8, (m->gpu ? 2 : 1) * p->block_seconds / m->generate_time));
	room = most;
	/* caches are cold for the first run of a block alone */
	if (m->gpu && p->cold_cache)
		most = 1;
	s->most = fmax(1, most);
	size_blocks(s, m->time, s->runs);
	for (int side = 0; side < 2; side++)
		round_seconds += s->runs[side] * m->time[side];
	s->slots = s->runs[0] > s->runs[1] ? s->runs[0] : s->runs[1];
	if (s->slots < 4 && most >= 4)
		s->slots = 4;
	/* audits have a few runs where blocks have one */
	if (m->gpu && m->time[SIDE_REFERENCE] < STEP_SECONDS)
		s->slots = (uint32_t) fmax(s->slots, fmin(STEP_RUNS, floor(room)));
	/* a median wants a few rounds, where they don't take seconds */
	s->rounds_a_half = (int) fmax(round_seconds < LONG_ROUND ? MIN_ROUNDS : round_seconds < 1 ? 4 : 1, ceil(half_seconds / round_seconds));
	if (s->rounds_a_half > 1)
		s->rounds_a_half += s->rounds_a_half % 2;
	s->steps_a_half = 0;
	if (m->gpu && m->spare_core && s->slots > 1 && m->time[SIDE_REFERENCE] < STEP_SECONDS)
	{
		double		audit = STEP_RUNS * (m->time[0] + m->time[1] + 2 * m->generate_time) + 1e-3;
		double		affordable = fmin(p->audits / (STEP_RUNS - 1), p->audit_seconds / audit);

		s->steps_a_half = (int) ceil(affordable / (2.0 * p->pairs));
	}
	s->kept_max = (uint32_t) fmax(1, fmin(64, 64e6 / (double) (m->output_bytes + 1)));
	audit_plan(s);
	s->order = calloc(s->slots, sizeof(*s->order));
	s->seeds = calloc(s->slots, sizeof(*s->seeds));
	s->kept[0] = measure_alloc(m, s->kept_max * m->output_bytes);
	s->kept[1] = measure_alloc(m, s->kept_max * m->output_bytes);
	if (!s->order || !s->seeds || !s->kept[0] || !s->kept[1])
		return conclude(m, OUTCOME_LOST, "no memory for outputs");
	/* on a GPU, more for inputs that late runs begin with: of a trap every other one, of an audit all but one */
	spare = !m->gpu ? 0 : s->steps_a_half > 0 ? s->slots - 1 : s->slots / 2;
	if (!measure_arena(m, &s->arena, s->slots, spare < GPU_LATE_RUNS ? spare : GPU_LATE_RUNS))
		return false;
	/* small inputs are copied before each block, so that both sides find the caches alike; large ones would only cost time */
	s->arena.direct = m->job->language == LANGUAGE_C && s->slots * m->input_slot_bytes > DIRECT_BYTES;
	return true;
}

static void
unplan(Rounds *s)
{
	arena_destroy(&s->arena);
	for (int side = 0; side < 2; side++)
	{
		measure_free(s->m, s->kept[side]);
		s->kept[side] = NULL;
	}
	free(s->order);
	free(s->seeds);
	s->order = NULL;
	s->seeds = NULL;
}

/* how many times as long as the other's one side's blocks take */
static double
unevenness(const uint32_t *runs, const double *time)
{
	double		quotient = (runs[0] * time[0]) / (runs[1] * time[1]);

	return fmax(quotient, 1 / quotient);
}

/*
 * A pair whose blocks turn out to be uneven counts for nothing, and they are sized anew. First times are of few runs on inputs that come back;
 * code that keeps results, or lies in wait for them, would have blocks much longer than its reference's.
 */
static bool
pair_of_like_blocks(Rounds *s, bool *counts)
{
	Rounds		before = *s;
	uint32_t	runs[2];
	double		time[2];

	*counts = true;
	if (!rounds_pair(s))
		return false;
	for (int side = 0; side < 2; side++)
		time[side] = cudal1_score_median(s->times[side].v + before.times[side].n, s->times[side].n - before.times[side].n);
	size_blocks(s, time, runs);
	if (unevenness(s->runs, time) <= (s->resized < MAX_RESIZED ? UNEVEN_BLOCKS : UNEVEN_LAST) * unevenness(runs, time))
		return true;
	*counts = false;
	s->least = fmin(s->least, s->plain.v[s->plain.n - 1]);
	for (int side = 0; side < 2; side++)
		s->times[side].n = before.times[side].n;
	s->pace.n = before.pace.n;
	s->all.n = before.all.n;
	s->plain.n = before.plain.n;
	s->capped.n = before.capped.n;
	s->excess.n = before.excess.n;
	s->slowed = before.slowed;
	choose_buckets(s);
	s->rounds = s->rounds_in_buckets = before.rounds;
	s->samples = before.samples;
	json_array_remove(s->m->result.samples, json_array_size(s->m->result.samples) - 1);
	if (s->resized >= MAX_RESIZED)
		return s->uneven++ < MAX_UNEVEN || verdict_uneven(s);
	json_object_set_new(s->m->result.evidence, "resized", json_pack("[i, i, i, i]", (int) s->runs[0], (int) s->runs[1], (int) runs[0], (int) runs[1]));
	s->resized++;
	memcpy(s->m->time, time, sizeof(time));
	unplan(s);
	return plan(s);
}

/* seconds that a measurement is worth: as the job says, by what its task took before, or what the first look takes at the reference's speed */
static double
budget(const Rounds *s)
{
	const Measure *m = s->m;
	const Profile *p = &m->job->profile;
	double		blocks = 4 * s->rounds_a_half * fmax(m->time[SIDE_REFERENCE], fmin(p->block_seconds, s->most * m->time[SIDE_REFERENCE]));
	double		pair = WALL_OF_PAIR * fmax(p->bucket_seconds, blocks) + 4 * m->start_time;

	if (p->budget_factor == 0)
		return INFINITY;
	if (m->job->budget_seconds > 0)
		return m->job->budget_seconds;
	return fmax(p->budget_min, p->budget_factor * p->looks[0] * pair);
}

bool
rounds_over_budget(const Rounds *s)
{
	return clock_now() - s->m->checks_began > s->budget;
}

/* all but the buckets, which the result has */
static void
forget(Rounds *s)
{
	for (int i = 0; i < 2; i++)
	{
		free(s->times[i].v);
		free(s->audit[i].v);
		free(s->late_runs[i].v);
		for (int kind = 0; kind < STEPS; kind++)
			free(s->steps[i][kind].v);
	}
	free(s->audit_more.v);
	free(s->pace.v);
	free(s->loop.v);
	free(s->late_idle.v);
	free(s->all.v);
	free(s->plain.v);
	free(s->capped.v);
	free(s->excess.v);
}

void
rounds_run(Measure *m)
{
	const Profile *p = &m->job->profile;
	Rounds		s = {.m = m,.budget = INFINITY,.lower = NAN,.upper = NAN,.half_width = NAN,.least = INFINITY};
	bool		left = false;
	bool		done = false;

	arena_init(&s.arena);
	s.started = clock_now();
	measure_progress(m, "calibrating", 0, 0, NAN, NAN, NAN, NAN, true);
	if (!plan(&s))
		goto end;
	s.budget = budget(&s);
	while (!done)
	{
		int			pairs;
		bool		look = false;
		bool		counts;
		double		score;

		if ((aa_due(&s) && !aa_pair(&s)) || !pair_of_like_blocks(&s, &counts))
			goto end;
		pairs = (int) s.buckets.n;
		if (!counts || pairs < 2)
			continue;
		cudal1_score_interval(s.buckets.v, s.buckets.n, p->confidence, p->nlooks, &s.lower, &s.upper, &s.half_width);
		score = values_median(&s.buckets);
		if (p->precision_goal > 0)
		{
			for (int i = 0; i < p->nlooks; i++)
				look = look || pairs == p->looks[i];
			/* left where its reward will be below 1.00 whatever follows, and is known well enough to say how slow it is */
			left = p->futility_pairs > 0 && (look || pairs == p->futility_pairs)
				&& cudal1_score_conservative_round(s.upper) < 1
				&& s.half_width <= fmax(2 * p->precision_goal, p->precision_slope * fabs(log(score)));
			s.over_budget = pairs >= BUDGET_PAIRS && rounds_over_budget(&s);
			done = left || s.over_budget || pairs >= p->looks[p->nlooks - 1] || clock_now() - s.started > p->window_seconds
				|| (look && s.half_width <= fmax(p->precision_goal, p->precision_slope * fabs(log(score))));
		}
		else
			done = pairs >= p->pairs;
		show(&s, true);
	}
	if ((left || !verdict_asks_aa(&s, s.half_width) || aa_complete(&s)) && verdict_top_up(&s)
		&& audit_more(&s) && verdict_more_traps(&s))
		verdict_conclude(&s, left);
end:
	m->result.pairs = (int) s.buckets.n;
	m->result.rounds = s.rounds;
	m->result.audits = s.audits;
	m->result.buckets = s.buckets.v;
	m->result.reference_seconds = values_median(&s.times[SIDE_REFERENCE]);
	m->result.candidate_seconds = values_median(&s.times[SIDE_CANDIDATE]);
	if (s.carrying)
		measure_end(m, &s.carried);
	unplan(&s);
	forget(&s);
	if (s.aa)
	{
		if (s.aa->carrying)
			measure_end(m, &s.aa->carried);
		free(s.aa->buckets.v);
		forget(s.aa);
		free(s.aa);
	}
}
