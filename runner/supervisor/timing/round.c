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
#include "supervisor/timing/timing.h"

#define CHECKS_A_HALF	2.0
#define EXTRAS_A_HALF	1.0		/* comparisons of runs that the reference's blocks do not have */
#define NOTED_FILL		1.02	/* what outputs in fresh memory make of a block's time */
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
static uint32_t
draws(Rounds *s, uint32_t common)
{
	const Profile *p = &s->m->job->profile;
	/* a half may do with fewer rounds than were planned */
	int			total = p->pairs * (s->buckets.n > 0 ? s->seen.rounds_in_buckets
									/ (int) s->buckets.n : 2 * s->rounds_a_half);
	double		left = p->check_seconds - s->m->member->checked_seconds;
	int			wanted = p->max_checks - s->m->result->checks;
	int			rounds_left = total - s->seen.rounds > 0 ? total - s->seen.rounds : 1;
	double		affordable = left / fmax(s->m->check_time, 1e-6) / rounds_left;
	double		n;

	n = fmin((double) wanted / rounds_left, affordable);
	if (s->m->result->checks < p->min_checks)
		n = fmax(n, (double) (p->min_checks - s->m->result->checks) / rounds_left);
	n = fmax(n, CHECKS_A_HALF / fmin(s->rounds_a_half + s->audits_a_half, 4 * MIN_ROUNDS));
	return (uint32_t) fmin(fmin(by_lot(s, n), common), s->kept_max);
}

/*
 * How many runs to compare that the candidate's block alone has. Code could recognise them by the
 * caches, where the reference went first, and leave them undone. So the reference runs some of
 * them, drawn by lot, after the round, outside its time.
 */
static uint32_t
extra_draws(Rounds *s, const uint32_t *n, uint32_t keep)
{
	double		extra;

	if (n[SIDE_CANDIDATE] <= n[SIDE_REFERENCE])
		return 0;
	extra = fmin((double) keep * (n[SIDE_CANDIDATE] - n[SIDE_REFERENCE]) / n[SIDE_REFERENCE],
				 EXTRA_SHARE * n[SIDE_REFERENCE]);
	extra = fmax(extra, EXTRAS_A_HALF / fmin(s->rounds_a_half, 4 * MIN_ROUNDS));
	return (uint32_t) fmin(fmin(by_lot(s, extra), n[SIDE_CANDIDATE] - n[SIDE_REFERENCE]),
						   s->kept_max - keep);
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
			&& gpu_audit_same(m, &same);
		if (good && !same)
		{
			measure_cause(m, side, "unfinished");
			good = conclude(m, side == SIDE_CANDIDATE ? OUTCOME_WRONG_OUTPUT : OUTCOME_UNVERIFIED,
							"an output of %s changed after its run had said that it was done",
							side == SIDE_CANDIDATE ? "the code" : "the reference");
		}
		good = good && measure_read(m, executor, side, &s->arena, sample, s->order[sample],
									s->kept[side]);
		taken[side] = cudal1_score_mean(m->gpu->audit.seconds, n - 1);
		taken[side] = baseline_untaken(half, 1, taken[side]);
	}
	gpu_audit_clear(m);
	for (int side = 0; side < 2 && good; side++)
		values_append(&s->late_runs[side], taken[side]);
	s->audits += (int) n - 1;
	return good && rounds_compare(s, 1);
}

/*
 * A round: both sides on the same fresh inputs. `single`: an audit. On a GPU its run is one among
 * many that are staged, because otherwise it would find its input in a cache, unlike the runs of a
 * block.
 */
bool
rounds_round(Rounds *s, Half *half, bool reference_first, bool single)
{
	uint32_t	n[2] = {single ? 1 : s->runs[0], single ? 1 : s->runs[1]};
	uint32_t	common = n[0] < n[1] ? n[0] : n[1];
	uint32_t	staged = single && s->m->gpu ? audit_staged(s) : 0;
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
	if (m->backend->draw)
		m->backend->draw(m, s->order, common);
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

		if (!rounds_block_among(s, half, side, side == SIDE_CANDIDATE ? own : s->order, n[side],
								staged, side == SIDE_CANDIDATE ? keep + extra : keep, 0,
								&seconds[side]))
			return false;
		if (single)
			seconds[side] = baseline_net(s, half, seconds[side], half->empty_single);
		else
			seconds[side] = baseline_counted(s, half, n[side], seconds[side], half->empty[side]);
		if (!single && side == SIDE_CANDIDATE
			&& seconds[side] <= baseline_least(s, n[side], half->empty[side]))
			rounds_count(s, "unresolved");
		charged[side] = seconds[side] + measure_fill(m, half->executor[side]);
		if (charged[side] > NOTED_FILL * seconds[side])
			rounds_count(s, side == SIDE_CANDIDATE ? "filled_early" : "reference_filled_early");
	}
	pace = half->executor[SIDE_REFERENCE]->pace;
	if ((m->backend->check_samples && !m->backend->check_samples(m))
		|| (extra > 0 && !run_extra(s, half, s->order + n[SIDE_REFERENCE], extra, keep))
		|| !rounds_compare(s, keep + extra))
		return false;
	if (single)
	{
		audit_note(s, seconds);
		return true;
	}
	for (int side = 0; side < 2; side++)
	{
		values_append(&half->block[side], seconds[side] / n[side]);
		values_append(&s->seen.times[side], seconds[side] / n[side]);
	}
	if (m->gpu)
		values_append(&s->seen.pace, pace);
	values_append(&half->own[reference_first], seconds[SIDE_REFERENCE] / n[SIDE_REFERENCE]);
	values_append(&half->ratio[reference_first],
				  (charged[SIDE_REFERENCE] / n[SIDE_REFERENCE])
				  / (charged[SIDE_CANDIDATE] / n[SIDE_CANDIDATE]));
	s->seen.rounds++;
	return true;
}

bool
rounds_audit(Rounds *s, Half *half, bool reference_first)
{
	return rounds_round(s, half, reference_first, true);
}
