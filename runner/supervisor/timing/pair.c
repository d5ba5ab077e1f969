/*
 * pair.c
 *		A fresh pair of processes, in two halves: one bucket.
 *
 * What the placement of code and memory adds to a time is constant within a pair of processes and
 * independent between pairs, so the spread between buckets shows the error, which more rounds of
 * one pair would hide. The halves swap which side starts first and, for PyTorch, which side runs in
 * which forked parent. The bucket is the geometric mean of both. On a GPU the candidate of the
 * first half stays for the second, with a new reference, because making a context takes a tenth of
 * a second, one at a time on a whole host.
 *
 * The phases of a half: start_half() starts and settles the processes, run_rounds() makes rounds,
 * audits and traps in random order, judge_half() finds out whether the half was disturbed. In a
 * round each side runs one block on the same inputs, in an order that is random but balanced.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "supervisor/backend.h"
#include "supervisor/timing/timing.h"

#define MAX_SAMPLES		4000
#define MAX_PRICED		2		/* halves, after which a disturbed half is not repeated */
/* standard error of a half that needs no more rounds, in goals */
#define STEADY_SHARE			0.5
#define TRAP_EVERY		16		/* rounds, on average */
#define TRAP_EVERY_LATE	4		/* after a late output */
#define MIN_ORDERED		2		/* rounds of an order, for a median of their own */
#define BUDGET_ROUNDS	2		/* of a half, where the budget is used up */

void
rounds_show(const Rounds *s, bool force)
{
	const Profile *p = &s->m->job->profile;
	double		elapsed = clock_now() - s->started;
	double		share = (double) s->seen.rounds / (2.0 * p->pairs * s->whole_half);

	if (s->of)
		s = s->of;
	measure_progress(s->m, "measuring", (int) s->buckets.n, s->seen.rounds, rounds_estimate(s),
					 s->lower, s->upper, share > 0.02 && share < 1 ? elapsed / share - elapsed
					 : NAN, force);
}

/*
 * Which of two forked parents a side's process comes from. Sides swap seats with the order, so a
 * parent's address layout favours each side once. On a GPU, where the candidate of both halves is
 * one process, both sides have the same seat, another one in each pair.
 */
static int
seat(const Rounds *s, Side side, int half_number)
{
	if (s->m->backend->keeps_candidate)
		return (int) (s->buckets.n % 2);
	return side == SIDE_REFERENCE ? half_number : !half_number;
}

/*
 * Whether the rounds of a half tell its ratio better than pairs repeat each other. On a GPU most of
 * a pair's time goes into starting its processes. Where blocks are steady and pairs are not, more
 * pairs say more than longer ones.
 */
static bool
is_steady(const Rounds *s, const Half *half)
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
		variance += pow(cudal1_score_median_error(half->ratio[first].v, half->ratio[first].n)
						/ values_median(&half->ratio[first]) / 2, 2);
	return sqrt(variance) <= STEADY_SHARE * goal;
}

/*
 * Starts the half's processes, one after the other, and lets them settle. The reference that starts
 * first is timed alone; the first of a measurement also meets a second reference in the candidate's
 * place.
 */
static bool
start_half(Rounds *s, Half *half, int half_number, Values *alone)
{
	Measure    *m = s->m;
	const Profile *p = &m->job->profile;
	Side		first = half_number == 0 ? SIDE_REFERENCE : SIDE_CANDIDATE;
	bool		kept = s->has_kept_candidate;

	if (kept)
		*half->executor[SIDE_CANDIDATE] = s->kept_candidate;
	else
	{
		s->weights = random_next(&m->random);
		if (m->backend->begin_pair)
			m->backend->begin_pair(m, &s->arena);
	}
	s->has_kept_candidate = false;
	for (int i = 0; i < 2; i++)
	{
		Side		side = i == 0 ? first : !first;

		if (kept && side == SIDE_CANDIDATE)
			continue;
		if (!measure_launch(m, half->executor[side], side, seat(s, side, half_number), &s->arena,
							s->weights)
			|| !baseline_warm(s, half, side))
			return false;
		if (i == 0 && first == SIDE_REFERENCE)
		{
			if (!baseline_time(s, half, alone))
				return false;
			s->alone = values_median(alone);
		}
		if (alone->n > 0 && i == 0 && s->neighbour == 0)
		{
			s->neighbour = 1;
			if (p->precision_goal > 0 && m->time[side] < MEASURE_SLOW
				&& !baseline_meet_neighbour(s, half, alone))
				return false;
		}
	}
	return baseline_settle_both(s, half);
}

/*
 * The half's rounds and audits, in random order. Rounds end early where they take too long, or tell
 * the ratio well enough; audits are all made. `orders`: which rounds the reference begins.
 */
static bool
run_rounds(Rounds *s, Half *half, uint32_t orders)
{
	Measure    *m = s->m;
	const Profile *p = &m->job->profile;
	uint32_t	steps = (uint32_t) (s->rounds_a_half + s->audits_a_half + s->steps_a_half);
	uint32_t   *plan = calloc(steps, sizeof(*plan));
	double		deadline;
	bool		steady = false;
	bool		good = true;

	if (m->backend->begin_half)
		m->backend->begin_half(m);
	for (uint32_t i = 0; i < steps; i++)
		plan[i] = i;
	rounds_shuffle(s, plan, steps);
	deadline = clock_now() + m->backend->wall_factor * p->bucket_seconds / 2;
	for (uint32_t i = 0; good && i < steps; i++)
	{
		bool		audit = plan[i] >= (uint32_t) s->rounds_a_half;
		bool		step = plan[i] >= (uint32_t) (s->rounds_a_half + s->audits_a_half);
		bool		over = stopping_over_budget(s);
		double		began;

		if (half->ratio[0].n + half->ratio[1].n >= (over ? BUDGET_ROUNDS : MIN_ROUNDS)
			&& p->precision_goal > 0)
		{
			/* where staging takes longer than running, fewer rounds will do */
			if (over || clock_now() > deadline)
				break;
			steady = steady || is_steady(s, half);
		}
		if (steady && !audit)
			continue;
		began = clock_now();
		/* every other round of each kind begins with the reference, in random order */
		good = step ? rounds_step_audit(s, half, (plan[i] + orders) % 2 == 0)
			: rounds_round(s, half, (plan[i] + orders) % 2 == 0, audit);
		if (!audit)
		{
			s->round_seconds += clock_now() - began;
			s->rounds_made++;
		}
		if (good && rounds_has_traps(s)
			&& random_below(&m->random, s->late > 0 ? TRAP_EVERY_LATE : TRAP_EVERY) == 0)
			good = rounds_trap(s, half);
		if (good)
			rounds_show(s, false);
	}
	free(plan);
	return good;
}

/*
 * Whether the half is disturbed, by another process on the device or by the candidate, which may
 * slow the reference. At the last attempt the half is priced instead.
 */
static bool
judge_half(Rounds *s, Half *half, int half_number, Values *alone, bool *disturbed)
{
	Measure    *m = s->m;
	const Profile *p = &m->job->profile;
	bool		foreign = m->backend->disturbed && m->backend->disturbed(m, half->executor, 2)
		&& p->precision_goal > 0;

	*disturbed = foreign;
	if (foreign)
		s->attempts = p->disturbed_attempts;
	if (half_number == 1 && p->precision_goal > 0)
	{
		measure_end(m, half->executor[SIDE_CANDIDATE]);
		if (!baseline_time_again(s, half, alone))
			return false;
	}
	if (alone->n == 0 || p->precision_goal <= 0 || half->block[SIDE_REFERENCE].n < 4)
		return true;
	baseline_note_beside(s, half, alone);
	if (m->gpu)
		baseline_cap(s, half, alone);
	else if (baseline_is_slowed(s, half, alone))
	{
		*disturbed = true;
		if (s->disturbed + 1 >= s->attempts)
		{
			baseline_price(s, half, alone);
			s->priced++;
		}
	}
	return true;
}

static void
end_half(Rounds *s, Half *half, bool keep_candidate)
{
	if (keep_candidate)
	{
		s->kept_candidate = *half->executor[SIDE_CANDIDATE];
		s->has_kept_candidate = true;
		executor_init(half->executor[SIDE_CANDIDATE]);
	}
	for (int i = 0; i < 2; i++)
	{
		measure_end(s->m, half->executor[i]);
		free(half->block[i].v);
		free(half->own[i].v);
		free(half->ratio[i].v);
		free(half->capped[i].v);
	}
}

/*
 * One half of a pair. The reference is timed alone where it started first, before the candidate
 * exists, and in the other half after the candidate's end, or slowing it there would pay.
 */
static bool
run_half(Rounds *s, int half_number, Values *plain, Values *capped, bool *disturbed)
{
	Half		half;
	Values		alone = {0};
	uint32_t	orders = (uint32_t) random_below(&s->m->random, 2);
	bool		good;

	half_init(&half);
	*disturbed = false;
	good = start_half(s, &half, half_number, &alone) && run_rounds(s, &half, orders)
		&& judge_half(s, &half, half_number, &alone, disturbed);
	for (int first = 0; good && first < 2; first++)
		for (size_t i = 0; i < half.ratio[first].n; i++)
		{
			const Values *limited = half.capped[first].n > 0 ? &half.capped[first]
				: &half.ratio[first];

			values_append(&plain[first], half.ratio[first].v[i]);
			values_append(&capped[first], limited->v[i]);
		}
	end_half(s, &half,
			 good && s->m->backend->keeps_candidate && half_number == 0 && !*disturbed);
	free(alone.v);
	return good;
}

/*
 * The second side of a round may find the inputs in a cache. Ratios then lie in two heaps, one for
 * each order, and a median of all would fall into the gap between them. So each order has its
 * median, and the effect of the order cancels.
 */
static double
half_median(const Values ratios[2], const Values *both)
{
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
		values_append(&s->seen.all, ratios->v[i]);
		if (s->seen.samples++ < MAX_SAMPLES)
			json_array_append_new(bucket, json_real(round(ratios->v[i] * 1e6) / 1e6));
	}
	if (!s->m->result->samples)
		s->m->result->samples = json_array();
	json_array_append_new(s->m->result->samples, bucket);
}

/*
 * A pair's bucket: the geometric mean of its halves' medians, or the mean of all its ratios.
 */
static double
pair_estimate(const Rounds *s, double halves, const Values *all)
{
	if (s->m->job->profile.bucket_estimator == CUDAL1_ESTIMATE_MEAN)
		return cudal1_score_mean(all->v, all->n);
	return sqrt(halves);
}

/*
 * Maps the arena on other pages, because which pages share sets of a cache holds for as long as
 * they are mapped, and must be independent between pairs.
 */
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

/*
 * Chooses all buckets anew after a pair, because all halves together decide whether any is capped.
 */
void
rounds_choose_buckets(Rounds *s)
{
	json_t	   *evidence = s->m->result->evidence;
	double		slower;
	double		error;
	bool		slowed = baseline_was_slowed(s, &slower, &error);
	const Values *chosen = slowed ? &s->seen.capped : &s->seen.plain;

	s->buckets.n = 0;
	for (size_t i = 0; i < chosen->n; i++)
		values_append(&s->buckets, chosen->v[i]);
	if (s->seen.excess.n >= 2)
		json_object_set_new(evidence, "reference_slower",
							json_pack("[f, f]", round(expm1(slower) * 1e4) / 1e4,
									  round(error * 1e4) / 1e4));
	if (slowed)
		json_object_set_new(evidence, "reference_capped", json_integer(s->seen.slowed));
	else
		json_object_del(evidence, "reference_capped");
}

void
seen_take_back(Seen *seen, const Seen *before)
{
	Seen		now = *seen;

	*seen = *before;
	/* lists may have moved, and keep what room they have */
	for (size_t i = 0; i < SEEN_LISTS; i++)
	{
		size_t		n = ((const Values *) before)[i].n;

		((Values *) seen)[i] = ((const Values *) &now)[i];
		((Values *) seen)[i].n = n;
	}
}

/*
 * The variance of a round's logarithm, of which medians see pi / 2 times as much. `ratios`: of
 * both orders, each about a centre of its own. NAN: too few rounds
 */
static double
noise_of(const Rounds *s, const Values ratios[2])
{
	double		penalty = s->m->job->profile.bucket_estimator == CUDAL1_ESTIMATE_MEAN ? 1
		: acos(-1) / 2;
	double		squares = 0;
	double		freedom = 0;

	for (int first = 0; first < 2; first++)
	{
		const Values *v = &ratios[first];
		double		sum = 0;

		for (size_t i = 0; i < v->n; i++)
			sum += log(v->v[i]);
		for (size_t i = 0; i < v->n; i++)
			squares += pow(log(v->v[i]) - sum / (double) v->n, 2);
		freedom += v->n > 0 ? (double) v->n - 1 : 0;
	}
	return freedom > 0 ? penalty * squares / freedom : NAN;
}

bool
rounds_pair(Rounds *s)
{
	double		began = clock_now();
	double		halves[2] = {1, 1}; /* plain, capped */
	Values		all[2] = {{0}};
	double		noise = 0;
	double		error = 0;
	bool		good = true;

	if (!s->m->backend->keeps_candidate && (s->buckets.n > 0 || s->of) && !fresh_arena(s))
		return false;
	for (int half = 0; half < 2 && good; half++)
	{
		Values		ratios[2][2] = {{{0}}};
		Values		both[2] = {{0}};
		bool		disturbed;
		Seen		before = s->seen;

		/*
		 * a candidate that slows the reference again and again gets no more of the device's time
		 */
		s->attempts = s->priced < MAX_PRICED
			&& !stopping_over_budget(s) ? s->m->job->profile.disturbed_attempts : 1;
		for (s->disturbed = 0;; s->disturbed++)
		{
			good = run_half(s, half, ratios[0], ratios[1], &disturbed);
			if (!good || !disturbed)
				break;
			rounds_count(s, "reference_disturbed");
			if (s->disturbed + 1 >= s->attempts)
				break;
			if (stopping_over_budget(s))
				s->attempts = s->disturbed + 2;
			ratios[0][0].n = ratios[0][1].n = ratios[1][0].n = ratios[1][1].n = 0;
			seen_take_back(&s->seen, &before);
		}
		for (int kind = 0; kind < 2; kind++)
			for (int first = 0; first < 2; first++)
				for (size_t i = 0; i < ratios[kind][first].n; i++)
				{
					values_append(&both[kind], ratios[kind][first].v[i]);
					values_append(&all[kind], ratios[kind][first].v[i]);
				}
		if (good)
		{
			double		of_round = noise_of(s, ratios[0]);

			noise += of_round / 2;
			error += of_round / (double) both[0].n / 4;
		}
		for (int kind = 0; kind < 2; kind++)
		{
			if (good)
				halves[kind] *= half_median(ratios[kind], &both[kind]);
			free(ratios[kind][0].v);
			free(ratios[kind][1].v);
			free(both[kind].v);
		}
	}
	if (good)
	{
		values_append(&s->seen.plain, pair_estimate(s, halves[0], &all[0]));
		values_append(&s->seen.capped, pair_estimate(s, halves[1], &all[1]));
		values_append(&s->seen.noise, noise);
		values_append(&s->seen.error, error);
		rounds_choose_buckets(s);
		s->seen.rounds_in_buckets = s->seen.rounds;
		keep_samples(s, &all[0]);
	}
	free(all[0].v);
	free(all[1].v);
	s->pair_seconds += clock_now() - began;
	return good;
}
