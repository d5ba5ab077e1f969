/*
 * round.c
 *		One round: a block of each side on the same fresh inputs, or an audit.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/backend.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/set.h"

#define CHECKS_A_HALF	2.0
#define EXTRAS_A_HALF	1.0		/* comparisons of runs that the reference's blocks do not have */
#define MOVED_EVERY		8		/* rounds */
#define EXTRA_SHARE		0.1		/* of the reference's runs, that it makes for these at most */

/* a number rounded up or down by lot, so that its mean is `n` */
static double
by_lot(Rounds *s, double n)
{
	return floor(n) + ((double) random_below(&s->m->random, 1000000) < (n - floor(n)) * 1e6);
}

/*
 * How many outputs of the next round to compare. As many as their time allows are spread over the
 * pairs of the first look. After that, and beyond any limit, every half still has some, because a
 * candidate may tell by the clock when the others are used up, and can make later pairs necessary
 * by being unsteady.
 */
static double
wanted_draws(const Rounds *s)
{
	const Profile *p = &s->m->job->profile;
	int			made = (int) s->buckets.n;
	/* a half may do with fewer rounds than were planned */
	int			whole = s->m->backend->halves * s->rounds_a_half;
	int			of_pair = made > 0 && s->seen.rounds_in_buckets / made < whole
		? s->seen.rounds_in_buckets / made : whole;
	double		left = p->check_seconds - s->member->checked_seconds;
	int			checks = s->member->result.checks;
	int			wanted = p->max_checks - checks;
	/* unsteady rounds are more than planned, and leave some to the pairs that follow */
	int			later = (p->pairs - made - 1) * of_pair;
	int			rounds_left = s->seen.rounds_in_buckets + later + of_pair - s->seen.rounds;
	double		affordable;
	double		n;

	rounds_left = rounds_left > later ? rounds_left : later;
	rounds_left = rounds_left > 0 ? rounds_left : 1;
	affordable = left / fmax(s->m->check_time, 1e-6) / rounds_left;
	n = fmin((double) wanted / rounds_left, affordable);
	if (checks < p->min_checks)
		n = fmax(n, (double) (p->min_checks - checks) / rounds_left);
	return fmax(n, CHECKS_A_HALF / fmin(s->rounds_a_half + s->audits_a_half, 4 * MIN_ROUNDS));
}

/* the most that any member wants */
static uint32_t
draws(const Set *set, uint32_t common)
{
	double		n = 0;

	for (int i = 0; i < set->n; i++)
		n = fmax(n, wanted_draws(set->of[i]));
	return (uint32_t) fmin(fmin(by_lot(set->of[0], n), common), set->of[0]->kept_max);
}

/*
 * How many runs to compare that the reference's block does not have. Code could recognise them by
 * the caches, where the reference went first, and leave them undone. So the reference runs some of
 * them, drawn by lot, after the round, outside its time.
 */
static uint32_t
extra_draws(const Set *set, uint32_t keep)
{
	const Rounds *first = set->of[0];
	double		reference = first->runs[SIDE_REFERENCE];
	uint32_t	most = first->runs[SIDE_REFERENCE];
	double		extra;

	for (int i = 0; i < set->n; i++)
		if (set->of[i]->runs[SIDE_CANDIDATE] > most)
			most = set->of[i]->runs[SIDE_CANDIDATE];
	if (most == first->runs[SIDE_REFERENCE])
		return 0;
	extra = fmin((double) keep * (most - reference) / reference, EXTRA_SHARE * reference);
	extra = fmax(extra, EXTRAS_A_HALF / fmin(first->rounds_a_half, 4 * MIN_ROUNDS));
	return (uint32_t) fmin(fmin(by_lot(set->of[0], extra), most - reference),
						   first->kept_max - keep);
}

/* the reference's runs of slots that its block did not have; their time is that of comparing */
static bool
run_extra(Rounds *s, Half *half, const uint32_t *slots, uint32_t n, uint32_t from)
{
	double		started = clock_now();
	double		seconds;

	if (!rounds_block_among(s, half, SIDE_REFERENCE, slots, n, n, n, from, &seconds))
		return false;
	s->m->member->checked_seconds += clock_now() - started;
	return true;
}

/*
 * On a GPU, an audit whose runs begin one by one and end before they answer, see cuda_audit.c.
 * Their inputs come just before and lie in the cache, so that runs of other audits may take longer,
 * but not less.
 */
bool
rounds_step_audit(Rounds *s, Half *half, bool reference_first)
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
		Executor   *executor = half->executor[side];
		uint64_t	seeds[STEP_RUNS];
		double		seconds;
		bool		same;

		for (uint32_t i = 0; i < n; i++)
			seeds[i] = s->seeds[s->order[i]];
		good = measure_stage(m, &s->arena, side, s->order, n)
			&& measure_block(m, executor, side, s->order, seeds, n, rounds_timeout(s, side, n),
							 &seconds)
			&& gpu_audit_same(m, executor, &s->arena, s->order, &same);
		if (good && !same)
		{
			measure_cause(m, side, "unfinished");
			good = conclude(m, outcome_of(side, OUTCOME_WRONG_OUTPUT),
							"an output of %s changed after its run had said that it was done",
							name_of_side(side));
		}
		good = good && measure_read(m, executor, side, &s->arena, sample, s->order[sample],
									s->kept[side]);
		taken[side] = cudal1_score_mean(m->gpu->audit.seconds, n - 1);
		taken[side] = baseline_untaken(s->taking, 1, taken[side]);
	}
	gpu_audit_clear(m);
	for (int side = 0; side < 2 && good; side++)
		values_append(&s->late_runs[side], taken[side]);
	if (good)
		values_append(&s->late_more, taken[SIDE_CANDIDATE] - taken[SIDE_REFERENCE]);
	s->late_whole = m->gpu->late.whole;
	s->audits += (int) n - 1;
	return good && rounds_compare(s, 1);
}

/* a round: what all its blocks have in common, and what each took */
typedef struct Blocks
{
	bool		single;
	uint32_t	staged;
	uint32_t	keep;			/* runs of all blocks that are compared */
	uint32_t	extra;			/* and of those that have more than the reference's */
	uint32_t	n[1 + HEAT_MAX];	/* runs, by place; the reference is 0 */
	double		seconds[1 + HEAT_MAX];
	/* with what may have been done before the clock ran */
	double		charged[1 + HEAT_MAX];
	bool		reference_first[1 + HEAT_MAX];
} Blocks;

/* compared runs that only this member's block has */
static uint32_t
own_extra(const Blocks *b, int place)
{
	uint32_t	more = b->n[place] > b->n[0] ? b->n[place] - b->n[0] : 0;

	return b->extra < more ? b->extra : more;
}

/* the block of one side, whose member is current */
static bool
take_turn(const Set *set, Blocks *b, int place)
{
	int			member = place > 0 ? place - 1 : 0;
	Rounds	   *s = set->of[member];
	Half	   *half = set->half[member];
	Side		side = place > 0 ? SIDE_CANDIDATE : SIDE_REFERENCE;
	uint32_t	n = b->n[place];
	uint32_t	extra = place > 0 ? own_extra(b, place) : 0;
	uint32_t	slots[WIRE_MAX_RUNS];
	double		seconds;

	/* those of the candidate's that are compared come first */
	memcpy(slots, s->order, (b->staged > n ? b->staged : n) * sizeof(*slots));
	for (uint32_t i = 0; i < extra; i++)
	{
		uint32_t	t = slots[b->keep + i];

		slots[b->keep + i] = slots[b->n[0] + i];
		slots[b->n[0] + i] = t;
	}
	if (!rounds_block_among(s, half, side, slots, n, b->staged, b->keep + extra, 0, &seconds))
		return false;
	if (b->single)
		seconds = baseline_net(s, half, seconds, half->empty_single);
	else
		seconds = baseline_counted(s, half, n, seconds, half->empty[side]);
	if (!b->single && place > 0 && seconds <= baseline_least(s, n, half->empty[side]))
		s->seen.unresolved++;
	b->seconds[place] = seconds;
	b->charged[place] = seconds + measure_fill(s->m, half->executor[side]);
	return true;
}

/* those that were read within the windows of all blocks; no later block is sampled so */
static bool
check_samples(const Set *set)
{
	Measure    *m = set->of[0]->m;

	if (!m->backend->draw)
		return true;
	for (int i = 0; i < set->n; i++)
		if (set_enter(set, i) && !m->backend->check_samples(m, &set->of[i]->arena)
			&& !set_goes_on(set))
			return false;
	m->backend->draw(m, NULL, 0);
	return true;
}

static void
note_round(Rounds *s, Half *half, const Blocks *b, int place, double pace)
{
	bool		reference_first = b->reference_first[place];

	for (int side = 0; side < 2; side++)
	{
		int			of = side == SIDE_REFERENCE ? 0 : place;

		values_append(&half->block[side], b->seconds[of] / b->n[of]);
		values_append(&s->seen.times[side], b->seconds[of] / b->n[of]);
	}
	if (s->m->gpu)
		values_append(&s->seen.pace, pace);
	values_append(&half->own[reference_first], b->seconds[0] / b->n[0]);
	values_append(&half->ratio[reference_first],
				  (b->charged[0] / b->n[0]) / (b->charged[place] / b->n[place]));
	s->seen.rounds++;
}

/*
 * Before some rounds, drawn by lot, all sides' code is moved, where a block is too short for that.
 * No inputs of a round are there yet. Processes could spoil caches meanwhile. Few rounds
 * see that, and medians leave these out.
 */
static bool
move_some(const Set *set)
{
	Rounds	   *first = set->of[0];

	if (!first->m->moves_apart || random_below(&first->m->random, MOVED_EVERY) != 0)
		return true;
	set_enter_all(set);
	if (!rounds_move(first, set->half[0], SIDE_REFERENCE))
		return false;
	for (int i = 0; i < set->n; i++)
		if (set_enter(set, i) && !rounds_move(set->of[i], set->half[i], SIDE_CANDIDATE)
			&& !set_goes_on(set))
			return false;
	return true;
}

/*
 * A round: all sides on the same fresh inputs. `single`: an audit. On a GPU its run is one among
 * many that are staged, because otherwise it would find its input in a cache, unlike the runs of a
 * block.
 */
bool
rounds_round(Set *set, const uint8_t *order, bool single)
{
	Rounds	   *first = set->of[0];
	Half	   *half = set->half[0];
	Measure    *m = first->m;
	Blocks		b = {.single = single};
	uint32_t	common = UINT32_MAX;
	uint32_t	most = 0;
	bool		reference_ran = false;
	double		pace;

	for (int place = 0; place <= set->n; place++)
	{
		b.n[place] = single ? 1 : place == 0 ? first->runs[SIDE_REFERENCE]
			: set->of[place - 1]->runs[SIDE_CANDIDATE];
		common = b.n[place] < common ? b.n[place] : common;
		most = b.n[place] > most ? b.n[place] : most;
	}
	if (!single && !move_some(set))
		return false;
	set_enter_all(set);
	if (single && first->ahead > 0)
		rounds_take_ahead(first);
	else if (!rounds_inputs(first, most))
		return false;
	b.staged = single && m->gpu ? audit_staged(first) : 0;
	b.keep = draws(set, common);
	b.extra = single ? 0 : extra_draws(set, b.keep);
	if (m->backend->draw)
		m->backend->draw(m, first->order, common);
	for (int turn = 0; turn <= set->n; turn++)
	{
		int			place = order[turn];

		b.reference_first[place] = reference_ran;
		reference_ran = reference_ran || place == 0;
		if (place == 0)
			set_enter_all(set);
		else if (!set_enter(set, place - 1))
			continue;
		if (!take_turn(set, &b, place) && (place == 0 || !set_goes_on(set)))
			return false;
		/* not right after a candidate, which may have left the core with a lower clock */
		if (turn == 0 && !single)
			baseline_note_core(first, &half->laps[1]);
	}
	pace = half->executor[SIDE_REFERENCE]->pace;
	if (m->gpu && !single)
		values_append(&half->pace[1], pace);
	if (!check_samples(set))
		return false;
	set_enter_all(set);
	if (b.extra > 0 && !run_extra(first, half, first->order + b.n[0], b.extra, b.keep))
		return false;
	for (int i = 0; i < set->n; i++)
		if (set_enter(set, i) && !rounds_compare(set->of[i], b.keep + own_extra(&b, i + 1))
			&& !set_goes_on(set))
			return false;
	if (single)
	{
		audit_note(first, b.seconds);
		return true;
	}
	for (int i = 0; i < set->n; i++)
		if (set_enter(set, i))
			note_round(set->of[i], set->half[i], &b, i + 1, pace);
		else if (i == 0)
			/* by these the reference is judged for all */
			values_append(&half->block[SIDE_REFERENCE], b.seconds[0] / b.n[0]);
	return true;
}

bool
rounds_audit(Rounds *s, Half *half, bool reference_first)
{
	Set			one = set_of_one(s, half);

	if (!s->m->gpu)
		return audit_spell(s, half, reference_first);
	return rounds_round(&one, (const uint8_t[]) {!reference_first, reference_first}, true);
}
