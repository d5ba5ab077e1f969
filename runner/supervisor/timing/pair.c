/*
 * pair.c
 *		Fresh processes of both sides: one bucket.
 *
 * What the placement of code and memory adds to a time is constant within a pair of processes and
 * independent between pairs, so the spread between buckets shows the error, which more rounds of
 * one pair would hide. On a CPU a pair has two halves, which swap what side starts first and, for
 * PyTorch, what side runs in which forked parent. The bucket is the geometric mean of both. On a
 * GPU a pair is one half, and pairs swap what starts first, because making a context takes a tenth
 * of a second, one at a time on a whole host.
 *
 * The phases of a half: start_half() starts and settles the processes, run_rounds() makes rounds,
 * audits and traps in random order, judge_half() finds out whether the half was disturbed. In a
 * round each side runs one block on the same inputs, in an order that is random but balanced. A set
 * of several candidates has one reference's process, and one block of it a round (set.c).
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/backend.h"
#include "supervisor/beside.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/set.h"

#define MAX_SAMPLES		4000
#define MAX_PRICED		2		/* halves, after which a disturbed half is not repeated */
/* standard error of a pair that needs no more rounds, in goals */
#define STEADY_SHARE	0.35
#define TRAP_EVERY		8		/* rounds, on average */
#define TRAP_EVERY_LATE	4		/* rounds and audits, after a late output */
#define MIN_ORDERED		2		/* rounds of an order, for a median of their own */
#define BUDGET_ROUNDS	2		/* of a half, where the budget is used up */
#define ROUNDS_IN_A_ROW	4		/* of a set */
#define QUARTILES		1.34898	/* standard deviations between those of a normal distribution */

void
rounds_show(const Rounds *s, bool force)
{
	const Profile *p = &s->m->job->profile;
	double		elapsed = clock_now() - s->started;
	double		share = (double) s->seen.rounds
		/ ((double) s->m->backend->halves * p->pairs * s->whole_half);

	if (p->precision_goal <= 0)
		share = fmax(share, elapsed / p->window_seconds);
	if (s->of)
		s = s->of;
	measure_progress(s->m, "measuring", (int) s->buckets.n, s->seen.rounds, rounds_estimate(s),
					 s->lower, s->upper, share > 0.02 && share < 1 ? elapsed / share - elapsed
					 : NAN, force);
}

/* what starts first: the reference in halves with number 0, a candidate in those with number 1 */
static int
number_of(const Rounds *s, int half)
{
	return s->m->backend->halves > 1 ? half : (int) (s->buckets.n % 2);
}

/*
 * Which of two forked parents a side's process comes from. Sides swap seats with the order, so a
 * parent's address layout favours each side once. Where a pair is one half, both sides have the
 * same seat, the other one after two pairs.
 */
static int
seat(const Rounds *s, Side side, int half_number)
{
	if (s->m->backend->halves == 1)
		return (int) (s->buckets.n / 2 % 2);
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

	if (!s->m->gpu || half->ratio[0].n < MIN_ROUNDS || half->ratio[1].n < MIN_ROUNDS)
		return false;
	if (s->buckets.n > 0)
		goal = fmax(goal, p->precision_slope * fabs(log(rounds_estimate(s))));
	/* of the mean of two medians' logarithms */
	for (int first = 0; first < 2; first++)
		variance += pow(cudal1_score_median_error(half->ratio[first].v, half->ratio[first].n)
						/ values_median(&half->ratio[first]) / 2, 2);
	return sqrt(variance) <= STEADY_SHARE * goal;
}

static bool
all_steady(const Set *set)
{
	for (int i = 0; i < set->n; i++)
		if ((set->n == 1 || set_has(set, i)) && !is_steady(set->of[i], set->half[i]))
			return false;
	return true;
}

/* after a round or audits: traps of each member, drawn by lot */
static bool
some_traps(Set *set, bool is_round)
{
	for (int i = 0; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];
		uint64_t	every = s->late > 0 ? TRAP_EVERY_LATE : TRAP_EVERY;

		if ((is_round || s->late > 0) && rounds_has_traps(s)
			&& random_below(&s->m->random, every) == 0 && set_enter(set, i)
			&& !rounds_trap(s, set->half[i]) && !set_goes_on(set))
			return false;
	}
	return true;
}

/*
 * Whether the half's processes load their code side by side: on a GPU, where candidates start
 * first, the reference among them. A reference that starts first is timed before they exist, and
 * those of a set load without it then.
 */
static bool
loads_together(const Set *set, int half_number)
{
	return set->of[0]->m->gpu && (set->n > 1 || half_number > 0);
}

/*
 * Starts the reference's process, unless it was among those that did side by side, and lets it
 * settle. The reference that starts first is timed alone; on a CPU the first of a measurement also
 * meets a second reference in the candidate's place.
 */
static bool
start_reference(Set *set, int half_number, Values *alone)
{
	Rounds	   *s = set->of[0];
	const Rounds before = *s;
	Half	   *half = set->half[0];
	Measure    *m = s->m;
	bool		launched = half_number > 0 && loads_together(set, half_number);

	set_enter_all(set);
	if ((!launched
		 && !measure_launch(m, half->executor[SIDE_REFERENCE], SIDE_REFERENCE,
							seat(s, SIDE_REFERENCE, half_number), &s->arena, s->weights))
		|| !baseline_warm(s, half, SIDE_REFERENCE) || !baseline_share(set, &before))
		return false;
	if (half_number > 0)
		return true;
	if (!baseline_time(s, half, alone))
		return false;
	s->alone = values_median(alone);
	return m->gpu || alone->n == 0 || s->neighbour > 0 || baseline_meet_neighbour(s, half, alone);
}

/* a set's processes that load side by side */
typedef struct Loading
{
	Set		   *set;
	int			half_number;
} Loading;

/* The reference is the last, so that a candidate has the blame for what it does to both. */
static bool
enter_side(void *context, int i, Start *start)
{
	const Loading *l = context;
	Set		   *set = l->set;
	bool		reference = i == set->n;
	Side		side = reference ? SIDE_REFERENCE : SIDE_CANDIDATE;
	Rounds	   *s = set->of[reference ? 0 : i];

	if (reference)
		set_enter_all(set);
	else if (!set_enter(set, i))
		return false;
	*start = (Start) {.executor = set->half[reference ? 0 : i]->executor[side],.side = side,
		.seat = seat(s, side, l->half_number),.arena = &s->arena,.weights = s->weights,
		.slot = set->of[0]->order[0],.seed = random_next(&s->m->random),
		.timeout = rounds_timeout(s, side, 1)};
	return true;
}

static bool
others_go_on(void *context, int i)
{
	const Loading *l = context;

	return i < l->set->n && set_goes_on(l->set);
}

static void
enter_all(void *context)
{
	set_enter_all(((Loading *) context)->set);
}

/* loads the code of several processes, in PyTorch with a run on an input that no later run has */
static bool
load_together(Set *set, int half_number)
{
	Measure    *m = set->of[0]->m;

	return (!m->backend->bring || rounds_inputs(set->of[0], 1))
		&& measure_load_beside(m, &(Beside) {.n = set->n + (half_number > 0), .enter = enter_side,
				.goes_on = others_go_on, .enter_all = enter_all,
				.context = &(Loading) {.set = set,.half_number = half_number}});
}

/* starts the candidates' processes, and lets them settle one after the other */
static bool
start_candidates(Set *set, int half_number)
{
	bool		together = loads_together(set, half_number);

	set_lend(set);
	if (together && !load_together(set, half_number))
		return false;
	for (int i = 0; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		set_lend(set);
		if (set_enter(set, i)
			&& ((!together
				 && !measure_launch(s->m, set->half[i]->executor[SIDE_CANDIDATE], SIDE_CANDIDATE,
									seat(s, SIDE_CANDIDATE, half_number), &s->arena, s->weights))
				|| !baseline_warm(s, set->half[i], SIDE_CANDIDATE))
			&& !set_goes_on(set))
			return false;
	}
	return true;
}

static bool
start_half(Set *set, int half_number, Values *alone)
{
	Rounds	   *first = set->of[0];
	Measure    *m = first->m;

	set_enter_all(set);
	plan_moves(first);
	m->running = SPENT_WARM;
	first->weights = random_next(&m->random);
	if (m->backend->begin_pair && !m->backend->begin_pair(m, &first->arena))
		return false;
	set_lend(set);
	if ((half_number == 0 && !start_reference(set, half_number, alone))
		|| !start_candidates(set, half_number)
		|| (half_number > 0 && !start_reference(set, half_number, alone)))
		return false;
	set_lend(set);
	return baseline_settle_all(set);
}

/*
 * The steps of a half: each member's audits, and then rounds. The audits and the rounds that were
 * planned are mixed, and further rounds follow for as long as they are not steady.
 */
typedef struct Steps
{
	uint32_t	audits;
	uint32_t	all;
	uint32_t   *plan;			/* in which order they are made */
	uint8_t    *orders;			/* of the rounds */
	uint32_t	orders_of_audits;	/* which of these the reference begins */
} Steps;

/* rows of audits that a half has of a member */
static uint32_t
rows_of_audits(const Rounds *s)
{
	uint32_t	n = (uint32_t) (s->audits_a_half + s->steps_a_half);

	return (n + audits_in_a_row(s) - 1) / audits_in_a_row(s);
}

/*
 * Times as many rounds as planned, and as much time, that rounds may take which are not steady. On
 * a GPU starting a pair of one candidate takes longer than its rounds, and pairs of such rounds
 * differ by them, not by what processes keep. Rounds of a set take longer by its members, and its
 * start hardly does. Where the stay was chosen, it is as chosen; rounds that take long are as many
 * as planned; and some profiles don't ask for a width.
 */
static uint32_t
patience(const Set *set)
{
	const Rounds *s = set->of[0];
	const Profile *p = &s->m->job->profile;
	uint32_t	times = UNSTEADY_STAY / (uint32_t) set->n;

	if (!s->m->gpu || p->precision_goal <= 0 || p->half_width_limit <= 0 || s->share < 1
		|| s->rounds_a_half < 2 * MIN_ROUNDS)
		return 1;
	return times > 1 ? times : 1;
}

/*
 * Lets the first steps of a shuffled plan have their rounds in rows. In a set the reference has a
 * part in the audits of all members, so before a round it would have run lately, and they would
 * not. It has in the first round of a row alone, and medians leave that out.
 */
static bool
gather_rounds(const Set *set, Steps *steps, uint32_t n)
{
	uint32_t   *shuffled = calloc(n, sizeof(*shuffled));
	uint32_t   *to = steps->plan;
	uint32_t	met = 0;
	uint32_t	next = 0;

	if (!shuffled)
		return conclude(set->of[0]->m, OUTCOME_LOST, "no memory");
	memcpy(shuffled, steps->plan, n * sizeof(*shuffled));
	for (uint32_t i = 0; i < n; i++)
	{
		if (shuffled[i] < steps->audits)
			*to++ = shuffled[i];
		else if (met++ % ROUNDS_IN_A_ROW == 0)
			for (uint32_t taken = 0; taken < ROUNDS_IN_A_ROW; taken++, next++)
			{
				while (next < n && shuffled[next] < steps->audits)
					next++;
				if (next == n)
					break;
				*to++ = shuffled[next];
			}
	}
	free(shuffled);
	return true;
}

static bool
plan_steps(const Set *set, Steps *steps)
{
	uint32_t	planned = 0;
	uint32_t	rounds;
	uint32_t	mixed;

	*steps = (Steps) {.audits = 0};
	for (int i = 0; i < set->n; i++)
	{
		const Rounds *s = set->of[i];

		if ((uint32_t) s->rounds_a_half > planned)
			planned = (uint32_t) s->rounds_a_half;
		steps->audits += rows_of_audits(s);
	}
	mixed = steps->audits + planned;
	rounds = planned * patience(set);
	steps->all = steps->audits + rounds;
	steps->orders_of_audits = (uint32_t) random_below(&set->of[0]->m->random, 2);
	steps->orders = set_orders(set, rounds);
	steps->plan = calloc(steps->all, sizeof(*steps->plan));
	if (!steps->orders || !steps->plan)
		return conclude(set->of[0]->m, OUTCOME_LOST, "no memory");
	for (uint32_t i = 0; i < steps->all; i++)
		steps->plan[i] = i;
	rounds_shuffle(set->of[0], steps->plan, mixed);
	rounds_shuffle(set->of[0], steps->plan + mixed, steps->all - mixed);
	return set->n == 1 || gather_rounds(set, steps, mixed);
}

/* audits from this one on that follow each other */
static bool
audit_row(Rounds *s, Half *half, uint32_t first, bool reference_first)
{
	uint32_t	plain = (uint32_t) s->audits_a_half;
	uint32_t	end = first + audits_in_a_row(s);
	uint32_t	all = plain + (uint32_t) s->steps_a_half;

	end = end < all ? end : all;
	if (audits_in_a_row(s) > 1)
	{
		uint32_t	ahead = first < plain ? 1 + (end < plain ? end : plain) - first : 0;

		if ((ahead > 0 && audits_made_ahead(s) && !rounds_inputs_ahead(s, ahead))
			|| !rounds_audit(s, half, reference_first))
			return false;
		audit_take_back(s);
	}
	for (uint32_t i = first; i < end; i++, reference_first = !reference_first)
		if (!(i < plain ? rounds_audit : rounds_step_audit)(s, half, reference_first))
			return false;
	return true;
}

/* a row of audits of one member, by its number among all rows of the half */
static bool
audit(Set *set, uint32_t number, bool reference_first)
{
	for (int i = 0; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		if (number < rows_of_audits(s))
			return !set_enter(set, i)
				|| audit_row(s, set->half[i], number * audits_in_a_row(s), reference_first)
				|| set_goes_on(set);
		number -= rows_of_audits(s);
	}
	return true;
}

/* of several, one after the other */
static void
show(const Set *set)
{
	int			place = (int) fmod(2 * clock_now(), set->n);

	if (set_enter(set, place))
		rounds_show(set->of[place], false);
}

/* those that so many rounds have each */
static bool
draw_traps(Set *set, uint32_t *rounds)
{
	bool		good = true;

	set->of[0]->m->running = SPENT_TRAP;
	for (; good && *rounds > 0; --*rounds)
		good = some_traps(set, true);
	return good;
}

/*
 * The half's rounds and audits, in random order. Rounds end early where they take too long, or tell
 * the ratio well enough, and go on where they do not; audits are all made.
 */
static bool
run_steps(Set *set, const Steps *steps)
{
	Rounds	   *first = set->of[0];
	Measure    *m = first->m;
	const Profile *p = &m->job->profile;
	double		began_half = clock_now();
	double		limit = p->precision_goal > 0
		? m->backend->wall_factor * p->bucket_seconds / m->backend->halves * (set->n + 1) / 2
		: p->window_seconds / p->pairs / m->backend->halves;
	uint32_t	made = 0;
	uint32_t	untrapped = 0;
	bool		steady = false;
	bool		good = true;

	if (m->backend->begin_half)
		m->backend->begin_half(m);
	for (uint32_t i = 0; good && i < steps->all; i++)
	{
		uint32_t	step = steps->plan[i];
		bool		is_round = step >= steps->audits;
		/* of several, each member's budget is looked at between pairs */
		bool		over = set->n == 1 && stopping_over_budget(first);
		double		began;

		if ((int) made >= (over ? BUDGET_ROUNDS : 2 * MIN_ROUNDS / m->backend->halves))
		{
			steady = steady || all_steady(set);
			/* where staging takes longer than running, fewer rounds will do */
			if ((over && p->precision_goal > 0)
				|| clock_now() - began_half > limit * (steady ? 1 : patience(set)))
				break;
		}
		if (steady && is_round)
			continue;
		began = clock_now();
		m->running = is_round ? SPENT_BLOCK : SPENT_AUDIT;
		/* every other audit of each kind begins with the reference, in random order */
		good = is_round
			? rounds_round(set, steps->orders + (step - steps->audits) * (uint32_t) (set->n + 1),
						   false)
			: audit(set, step, (step + steps->orders_of_audits) % 2 == 0);
		for (int j = 0; j < set->n && is_round; j++)
		{
			set->of[j]->round_seconds += clock_now() - began;
			set->of[j]->rounds_made++;
		}
		made += is_round;
		untrapped += is_round;
		m->running = SPENT_TRAP;
		good = good && (is_round || some_traps(set, false));
		/* seldom within a row, for the same reason; by lot, or code would know where none come */
		if (!is_round || set->n == 1 || random_below(&m->random, ROUNDS_IN_A_ROW) == 0)
			good = good && draw_traps(set, &untrapped);
		if (good)
			show(set);
	}
	return good && draw_traps(set, &untrapped);
}

static bool
run_rounds(Set *set)
{
	Steps		steps;
	bool		good;

	set_enter_all(set);
	for (int i = 0; i < set->n; i++)
		set->half[i]->refused = executor_pool_refused(set->half[i]->executor[SIDE_CANDIDATE]);
	good = plan_steps(set, &steps) && run_steps(set, &steps);
	set->of[0]->m->running = SPENT_WARM;
	free(steps.plan);
	free(steps.orders);
	return good;
}

static void
end_half(Set *set)
{
	/* it ends beside them */
	executor_kill(&set->half[0]->process[SIDE_REFERENCE]);
	set_end_candidates(set);
	for (int i = 0; i < set->n; i++)
	{
		Half	   *half = set->half[i];

		for (int j = 0; j < 2; j++)
		{
			free(half->block[j].v);
			free(half->own[j].v);
			free(half->laps[j].v);
			free(half->pace[j].v);
			free(half->ratio[j].v);
			free(half->capped[j].v);
		}
	}
	set_enter_all(set);
	measure_end(set->of[0]->m, &set->half[0]->process[SIDE_REFERENCE]);
}

/* a member's part of the pair under way */
typedef struct Bucket
{
	Half		half;
	/* of the half: plain ratios and capped ones, by order */
	Values		ratios[2][2];
	Seen		before;			/* the half */
	double		halves[2];		/* the product of their medians, plain and capped */
	Values		all[2];
	double		noise;
	double		usual;
	double		error;
} Bucket;

/*
 * One half of a pair. The reference is timed alone where it started first, before the candidate
 * exists, and elsewhere after the candidate's end, or slowing it there would pay.
 */
static bool
run_half(Set *set, Bucket *buckets, int half_number, bool *disturbed)
{
	Values		alone = {0};
	bool		good;

	for (int i = 0; i < set->n; i++)
	{
		half_init(&buckets[i].half);
		set->half[i] = &buckets[i].half;
	}
	set_lend(set);
	*disturbed = false;
	good = start_half(set, half_number, &alone) && run_rounds(set)
		&& judge_half(set, half_number, &alone, disturbed);
	for (int i = 0; good && i < set->n; i++)
		for (int first = 0; first < 2; first++)
		{
			const Half *half = set->half[i];
			const Values *limited = half->capped[first].n > 0 ? &half->capped[first]
				: &half->ratio[first];

			for (size_t j = 0; j < half->ratio[first].n; j++)
			{
				values_append(&buckets[i].ratios[0][first], half->ratio[first].v[j]);
				values_append(&buckets[i].ratios[1][first], limited->v[j]);
			}
		}
	end_half(set);
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

/* A pair's bucket: the geometric mean of its halves' medians, or the mean of all its ratios. */
static double
pair_estimate(const Rounds *s, double halves, const Values *all)
{
	if (s->m->job->profile.bucket_estimator == CUDAL1_ESTIMATE_MEAN)
		return cudal1_score_mean(all->v, all->n);
	return pow(halves, 1.0 / s->m->backend->halves);
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
 * The variance of a round's logarithm, of which medians see pi / 2 times as much; `usual`: the same
 * by quartiles. `ratios`: of both orders, each about a centre of its own. NAN: too few rounds
 */
static double
noise_of(const Rounds *s, const Values ratios[2], double *usual)
{
	double		penalty = s->m->job->profile.bucket_estimator == CUDAL1_ESTIMATE_MEAN ? 1
		: acos(-1) / 2;
	double		squares = 0;
	double		freedom = 0;
	Values		off = {0};

	for (int first = 0; first < 2; first++)
	{
		const Values *v = &ratios[first];
		double		sum = 0;

		for (size_t i = 0; i < v->n; i++)
			sum += log(v->v[i]);
		for (size_t i = 0; i < v->n; i++)
		{
			squares += pow(log(v->v[i]) - sum / (double) v->n, 2);
			values_append(&off, log(v->v[i] / values_median(v)));
		}
		freedom += v->n > 0 ? (double) v->n - 1 : 0;
	}
	*usual = freedom > 0 ? penalty * (double) off.n / freedom
		* pow((cudal1_score_percentile(off.v, off.n, 0.75)
			   - cudal1_score_percentile(off.v, off.n, 0.25)) / QUARTILES, 2) : NAN;
	free(off.v);
	return freedom > 0 ? penalty * squares / freedom : NAN;
}

/* a half, until it is undisturbed or has no more attempts */
static bool
try_half(Set *set, Bucket *buckets, int half_number)
{
	Rounds	   *first = set->of[0];
	bool		over = set->n == 1 && stopping_over_budget(first);
	bool		disturbed;

	/* a candidate that slows the reference again and again gets no more of the device's time */
	first->attempts = first->priced < MAX_PRICED
		&& !over ? first->m->job->profile.disturbed_attempts : 1;
	for (int i = 0; i < set->n; i++)
		buckets[i].before = set->of[i]->seen;
	for (first->disturbed = 0;; first->disturbed++)
	{
		if (!run_half(set, buckets, half_number, &disturbed))
			return false;
		if (!disturbed)
			return true;
		for (int i = 0; i < set->n; i++)
			if (set_enter(set, i))
				rounds_count(set->of[i], "reference_disturbed");
		if (first->disturbed + 1 >= first->attempts)
			return true;
		if (set->n == 1 && stopping_over_budget(first))
			first->attempts = first->disturbed + 2;
		for (int i = 0; i < set->n; i++)
		{
			for (int order = 0; order < 2; order++)
				buckets[i].ratios[0][order].n = buckets[i].ratios[1][order].n = 0;
			seen_take_back(&set->of[i]->seen, &buckets[i].before);
		}
	}
}

static void
add_half(const Rounds *s, Bucket *b)
{
	int			halves = s->m->backend->halves;

	for (int kind = 0; kind < 2; kind++)
	{
		Values		both = {0};

		for (int order = 0; order < 2; order++)
			for (size_t i = 0; i < b->ratios[kind][order].n; i++)
			{
				values_append(&both, b->ratios[kind][order].v[i]);
				values_append(&b->all[kind], b->ratios[kind][order].v[i]);
			}
		if (kind == 0)
		{
			double		usual;
			double		of_round = noise_of(s, b->ratios[0], &usual);

			b->noise += of_round / halves;
			b->usual += usual / halves;
			b->error += of_round / (double) both.n / (halves * halves);
		}
		b->halves[kind] *= half_median(b->ratios[kind], &both);
		free(both.v);
		b->ratios[kind][0].n = b->ratios[kind][1].n = 0;
	}
}

bool
rounds_pair(Set *set)
{
	Rounds	   *first = set->of[0];
	double		began = clock_now();
	Bucket	   *buckets = calloc((size_t) set->n, sizeof(*buckets));
	bool		good;

	set_enter_all(set);
	if (first->m->gpu)
		first->m->gpu->pair_pool_bytes = plan_pool(first);
	good = buckets || conclude(first->m, OUTCOME_LOST, "no memory");
	good = good && (first->m->backend->begin_pair || first->fresh || fresh_arena(first));
	first->fresh = false;
	for (int i = 0; good && i < set->n; i++)
		buckets[i].halves[0] = buckets[i].halves[1] = 1;
	for (int half = 0; half < first->m->backend->halves && good; half++)
	{
		good = try_half(set, buckets, number_of(first, half));
		for (int i = 0; i < set->n && good; i++)
			if (set_enter(set, i))
				add_half(set->of[i], &buckets[i]);
	}
	for (int i = 0; buckets && i < set->n; i++)
	{
		Rounds	   *s = set->of[i];
		Bucket	   *b = &buckets[i];

		if (good && set_enter(set, i))
		{
			values_append(&s->seen.plain, pair_estimate(s, b->halves[0], &b->all[0]));
			values_append(&s->seen.capped, pair_estimate(s, b->halves[1], &b->all[1]));
			values_append(&s->seen.noise, b->noise);
			values_append(&s->seen.usual, b->usual);
			values_append(&s->seen.error, b->error);
			values_append(&s->seen.pair, first->m->pairs);
			rounds_choose_buckets(s);
			s->seen.rounds_in_buckets = s->seen.rounds;
			keep_samples(s, &b->all[0]);
		}
		for (int kind = 0; kind < 2; kind++)
		{
			free(b->all[kind].v);
			free(b->ratios[kind][0].v);
			free(b->ratios[kind][1].v);
		}
		s->pair_seconds += clock_now() - began;
	}
	if (first->m->gpu)
		first->m->gpu->pair_pool_bytes = 0;
	first->m->pairs++;
	free(buckets);
	return good;
}
