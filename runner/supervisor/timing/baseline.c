/*
 * baseline.c
 *		How fast the reference is by itself, and how much a process beside it slows it.
 *
 * A process settles before it is timed. The reference is timed alone, before the candidate exists
 * or after its end, and in turn with a second reference. A candidate that slows the reference
 * beyond what the second one does is found: on a CPU its half is repeated, and at last priced; on a
 * GPU its halves are capped.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/backend.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/set.h"

#define NEIGHBOUR_BLOCKS	6
/* on a CPU, of short blocks alone, and as many in turn with another process */
#define ALONE_SECONDS	0.02
#define NEIGHBOURS		3		/* of the first reference, at most */
#define HALF_LUCK		1.1		/* times what is allowed: what luck may do to a half on a GPU */
#define EMPTY_BLOCKS	9
#define LOOP_BLOCKS		2
#define TAKING_BLOCKS	5
#define LOOP_RUNS		8		/* of a block, for what the executor's loop takes to matter */
#define MAX_SETTLING	6		/* blocks, until a process is as fast as it becomes */
#define SETTLING_SECONDS	0.25
#define SETTLED			0.97	/* of the fastest block so far: two that are no faster end it */
#define MAX_BESIDE		32
/* of the constant cost: the least that is left of a block without it */
#define NET_SHARE		0.1
#define IDLE_RUNS		5
#define ALONE_ALIKE		1.01
#define FEW_RUNS		16
#define FEW_LAPS		16
#define FEW_LAPS_A_HALF	4

/*
 * The cost of a block of the reference that has no run; on a GPU, where inputs are staged within
 * the window, of one that stages `n`. `reading`: what of that is reading samples
 */
static bool
empty_cost(Rounds *s, Half *half, uint32_t n, double *cost, double *reading)
{
	Executor   *executor = half->executor[SIDE_REFERENCE];
	double		empty[EMPTY_BLOCKS];
	double		read[EMPTY_BLOCKS] = {0};

	if (s->m->gpu && !measure_stage(s->m, &s->arena, SIDE_REFERENCE, s->order, n))
		return false;
	for (int i = 0; i < EMPTY_BLOCKS; i++)
	{
		bool		good;

		executor->stays = s->m->moves_apart;
		good = measure_block(s->m, executor, SIDE_REFERENCE, s->order, s->seeds, 0,
							 rounds_timeout(s, SIDE_REFERENCE, 1), &empty[i]);
		executor->stays = false;
		if (!good)
			return false;
		if (s->m->gpu)
			read[i] = s->m->gpu->read_seconds;
	}
	*cost = cudal1_score_median(empty, EMPTY_BLOCKS);
	if (reading)
		*reading = cudal1_score_median(read, EMPTY_BLOCKS);
	return true;
}

/*
 * What the GPU's turning to another process and back takes, and how it shows: a block for which it
 * did not turn must not have that taken off. Code that works by copies and on the CPU alone has no
 * such turns, and would be left with less time than none.
 */
static bool
turn_cost(Rounds *s, Half *half)
{
	Executor   *executor = half->executor[SIDE_REFERENCE];
	double		cost,
				reading[2];
	bool		good;

	if (!empty_cost(s, half, s->runs[0], &half->empty[0], &reading[0]))
		return false;
	executor->idle = true;
	good = empty_cost(s, half, s->runs[0], &cost, &reading[1]);
	executor->idle = false;
	half->turn = s->turns = fmax(half->empty[0] - cost, 0);
	half->read_turned = (reading[0] + reading[1]) / 2;
	return good;
}

/*
 * PyTorch on a GPU: what a run takes in which no module is called, but everything else is done that
 * the executor does for a run. A candidate can't take less, unless its own machine code stands in
 * the executor's place.
 */
static bool
loop_cost(Rounds *s, Half *half)
{
	Executor   *executor = half->executor[SIDE_REFERENCE];
	uint32_t	n = s->runs[SIDE_REFERENCE];
	bool		good = true;

	executor->idle = true;
	for (int i = 0; i < LOOP_BLOCKS && good; i++)
	{
		double		seconds;

		good = rounds_block(s, half, SIDE_REFERENCE, s->order, n, 0, &seconds);
		if (good)
			values_append(&s->loop,
						  fmax(baseline_net(s, half, seconds, half->empty[SIDE_REFERENCE]), 0) / n);
	}
	executor->idle = false;
	return good;
}

/*
 * Of the reference's blocks in turn: with results copied, less without; seconds a run. NAN: its own
 * runs return the same memory, so they are always copied
 */
static bool
copying_cost(Rounds *s, Half *half, uint32_t n, double quantile, double *cost)
{
	Executor   *executor = half->executor[SIDE_REFERENCE];
	double		taken[2][TAKING_BLOCKS];
	bool		own = false;
	bool		good = true;

	for (int i = -1; i < TAKING_BLOCKS; i++)
		for (int kind = 0; kind < 2 && good; kind++)
		{
			double		seconds;

			executor->untaken = kind == 0;
			good = rounds_block(s, half, SIDE_REFERENCE, s->order, n, 0, &seconds);
			own = own || (!executor->again && executor->value & WIRE_VALUE_RETURNED);
			if (i >= 0)
				taken[kind][i] = seconds;
		}
	executor->untaken = false;
	if (good)
		*cost = own ? NAN : fmax(cudal1_score_percentile(taken[1], TAKING_BLOCKS, quantile)
								 - cudal1_score_percentile(taken[0], TAKING_BLOCKS, quantile),
								 0) / n;
	return good;
}

/*
 * What copying a run's result takes, where both sides' results are copied because one of them
 * returns the same memory from run to run. The reference's process tells it for both: runs that
 * return the last result again, copied and not. The reference's own results lie in memory that is
 * freed when they have been copied and comes back in the next run, so they are as warm in caches.
 *
 * On a GPU that is mostly the host's time, which hides behind the GPU's where a run is long. There
 * the reference's own runs, copied and not, tell what a block is longer by, unless its code returns
 * the same memory itself.
 */
static bool
taking_cost(Rounds *s, Half *half)
{
	Executor   *executor = half->executor[SIDE_REFERENCE];
	uint32_t	n = s->runs[0] > s->runs[1] ? s->runs[0] : s->runs[1];
	double		cost;
	bool		good;

	half->taking = 0;
	if (!s->m->member->taken || n < 2)
		return true;
	executor->again = true;
	good = copying_cost(s, half, n, 0.25, &cost);
	executor->again = false;
	if (!good)
		return false;
	/* noise only adds to it, and what is taken off too much would be paid */
	if (s->taking == 0 || cost < s->taking)
		s->taking = cost;
	half->taking = s->taking;
	if (s->m->gpu && s->runs[SIDE_REFERENCE] > 1)
	{
		if (!copying_cost(s, half, s->runs[SIDE_REFERENCE], 0.5, &cost))
			return false;
		if (!isnan(cost))
		{
			values_append(&s->takings, cost);
			half->taking = fmin(half->taking, values_median(&s->takings));
		}
	}
	json_object_set_new(s->m->result->evidence, "taking_seconds", json_real(half->taking));
	return true;
}

/* on a GPU: what runs of an audit take in which no code is called */
static bool
idle_runs(Rounds *s, Half *half)
{
	Measure    *m = s->m;
	Executor   *executor = half->executor[SIDE_REFERENCE];
	uint32_t	n = s->slots < IDLE_RUNS ? s->slots : IDLE_RUNS;
	double		seconds;
	bool		good;

	executor->idle = true;
	good = gpu_audit_set(m, &s->arena, s->order, n, false)
		&& rounds_block(s, half, SIDE_REFERENCE, s->order, n, 0, &seconds);
	executor->idle = false;
	gpu_audit_clear(m);
	if (good)
		values_append(&s->late_idle, cudal1_score_mean(m->gpu->audit.seconds, n - 1));
	return good;
}

/* as many blocks of the reference as a time holds, at least so many and at most four times that */
static int
blocks_within(const Rounds *s, double seconds, int least)
{
	double		block = s->runs[SIDE_REFERENCE] * s->m->time[SIDE_REFERENCE];

	return (int) fmax(least, fmin(4 * least, seconds / block));
}

/* for the reference's time alone */
static int
alone_blocks(const Rounds *s)
{
	int			blocks = s->m->backend->alone_blocks;

	return s->m->time[SIDE_REFERENCE] >= MEASURE_SLOW ? 1
		: s->m->gpu ? blocks : blocks_within(s, ALONE_SECONDS, blocks);
}

/*
 * Inputs of blocks that no score is made of. On a CPU one making serves all of them until rounds
 * begin, because making takes a fifth of the time that a pair costs besides its rounds.
 */
static bool
warm_inputs(Rounds *s, Half *half)
{
	if (half->warm_inputs)
		return true;
	half->warm_inputs = !s->m->gpu;
	return rounds_inputs(s, s->at_once);
}

/*
 * A process becomes faster for some blocks, because it touches pages for the first time and its
 * allocator finds its places. It does so again when another process has started, because a cache
 * that is contested takes lines in slowly. With runs of 4 us in PyTorch each of six blocks is some
 * percent faster than the one before, and the side that had run a few more seemed 1 % faster. So
 * each process runs as many blocks alone when it has started, and then both sides as many in turn,
 * before any is timed. The first reference tells how many.
 */
static bool
settle_alone(Rounds *s, Half *half, Side side)
{
	double		best = INFINITY;
	double		spent = 0;
	int			since = 0;
	int			n = 0;
	bool		finding;

	if (side == SIDE_CANDIDATE && s->settling == 0)
		s->settling = 1;
	finding = s->settling == 0;
	if (!rounds_move(s, half, side) || !warm_inputs(s, half))
		return false;
	while (spent < SETTLING_SECONDS && (finding ? since < 2 && n < MAX_SETTLING : n < s->settling))
	{
		double		seconds;

		if (!rounds_block(s, half, side, s->order, s->runs[side], 0, &seconds))
			return false;
		/* the first may load libraries */
		spent += n++ > 0 ? seconds : 0;
		since = seconds < SETTLED * best ? 0 : since + 1;
		best = fmin(best, seconds);
	}
	if (finding)
	{
		/* at least the first */
		s->settling = n - since;
		json_object_set_new(s->m->result->evidence, "settling", json_integer(s->settling));
	}
	return true;
}

/* blocks of one or two long runs need no settling; a side that dawdles here is not settled */
bool
baseline_settle_all(Set *set)
{
	Rounds	   *first = set->of[0];
	int			sides = set->n + 1;
	double		spent[1 + HEAT_MAX] = {0};
	double		seconds = 0;

	for (int i = 0; i < set->n; i++)
		for (int side = 0; side < 2; side++)
			seconds += set->of[i]->runs[side] * set->of[i]->member->time[side] / set->n;
	if (seconds >= LONG_ROUND)
		return true;
	set_enter_all(set);
	if (!warm_inputs(first, set->half[0]))
		return false;
	for (int i = 0; i < sides * first->settling; i++)
	{
		int			place = i % sides;
		Side		side = place == 0 ? SIDE_REFERENCE : SIDE_CANDIDATE;
		int			which = place == 0 ? 0 : place - 1;
		Rounds	   *s = set->of[which];

		if (spent[place] >= SETTLING_SECONDS)
			continue;
		if (place == 0)
			set_enter_all(set);
		else if (!set_enter(set, which))
			continue;
		if (rounds_block(s, set->half[which], side, s->order, s->runs[side], 0, &seconds))
			spent[place] += seconds;
		else if (!set_goes_on(set))
			return false;
	}
	return true;
}

/*
 * Warms what a process has, then finds the constant cost of a block. The reference's own blocks
 * tell it for both sides: a candidate that is slow when it has nothing to run would have that taken
 * off its times.
 */
bool
baseline_warm(Rounds *s, Half *half, Side side)
{
	if ((s->m->gpu || s->m->time[side] < MEASURE_SLOW) && !settle_alone(s, half, side))
		return false;
	if (side == SIDE_CANDIDATE)
		return true;
	if (!taking_cost(s, half))
		return false;
	if (s->m->gpu)
		return turn_cost(s, half) && empty_cost(s, half, s->runs[1], &half->empty[1], NULL)
			&& empty_cost(s, half, audit_staged(s), &half->empty_single, NULL)
			&& (s->steps_a_half == 0 || idle_runs(s, half))
			&& (s->m->job->language != LANGUAGE_PYTORCH || s->runs[SIDE_REFERENCE] < LOOP_RUNS
				|| loop_cost(s, half));
	if (!empty_cost(s, half, 0, &half->empty[0], NULL))
		return false;
	half->empty[1] = half->empty[0];
	return s->audits_a_half == 0 || s->gated || audit_empty(s, half);
}

static void
append(Values *to, const Values *from, size_t first)
{
	for (size_t i = first; i < from->n; i++)
		values_append(to, from->v[i]);
}

/* what blocks cost besides their runs, which differs with how many runs are staged on a GPU */
static bool
empty_costs(Set *set, int number)
{
	Rounds	   *s = set->of[number];
	Half	   *half = set->half[number];

	half->empty[0] = set->half[0]->empty[0];
	for (int i = 0; i < number; i++)
		if (!s->m->gpu || s->runs[SIDE_CANDIDATE] == set->of[i]->runs[SIDE_CANDIDATE])
		{
			half->empty[1] = set->half[i]->empty[1];
			half->empty_single = set->half[i]->empty_single;
			return true;
		}
	return empty_cost(s, half, s->runs[1], &half->empty[1], NULL)
		&& empty_cost(s, half, audit_staged(s), &half->empty_single, NULL);
}

bool
baseline_share(Set *set, const Rounds *before)
{
	const Rounds *first = set->of[0];

	for (int i = 1; i < set->n; i++)
	{
		Rounds	   *s = set->of[i];

		s->turns = first->turns;
		append(&s->loop, &first->loop, before->loop.n);
		append(&s->late_idle, &first->late_idle, before->late_idle.n);
		if (!empty_costs(set, i))
			return false;
	}
	return true;
}

/* on a GPU, its turns are taken off a block only where there were some */
double
baseline_net(const Rounds *s, const Half *half, double seconds, double empty)
{
	bool		turned = !s->m->gpu || s->m->gpu->read_seconds > half->read_turned;

	return seconds - (turned ? empty : empty - half->turn);
}

/* what a block of `n` runs counts for at least */
double
baseline_least(const Rounds *s, uint32_t n, double empty)
{
	return n == 1 ? s->m->backend->least_single : NET_SHARE * empty;
}

/*
 * Never next to nothing: less than the least is not told from the constant cost of a block, so
 * code that takes less gets the lower end of what is known. What a single run takes at least,
 * audits tell. A mean of ratios has no use for differences, of which
 * the few that are near nothing would decide it, so its blocks keep their constant cost.
 */
double
baseline_counted(const Rounds *s, const Half *half, uint32_t n, double seconds, double empty)
{
	double		least = baseline_least(s, n, empty);

	if (s->m->job->profile.bucket_estimator != CUDAL1_ESTIMATE_MEAN)
		seconds = baseline_net(s, half, seconds, empty);
	return fmax(n > 1 ? baseline_untaken(half->taking, n, seconds) : seconds, least);
}

/* how much slower the reference of a half is in turn with a fresh one than alone */
static bool
meet_another(Rounds *s, Half *half, const Values *alone, double *slower)
{
	Measure    *m = s->m;
	Half		other;
	Values		paired = {0};
	int			blocks = m->gpu ? NEIGHBOUR_BLOCKS
		: blocks_within(s, ALONE_SECONDS / 2, NEIGHBOUR_BLOCKS);
	bool		good;

	half_init(&other);
	good = measure_launch(m, other.executor[SIDE_REFERENCE], SIDE_REFERENCE, 1, &s->arena,
						  s->weights) && baseline_warm(s, &other, SIDE_REFERENCE);
	for (int i = 0; good && i < s->settling + blocks; i++)
	{
		double		seconds[2] = {0};

		good = rounds_move(s, half, SIDE_REFERENCE) && rounds_move(s, &other, SIDE_REFERENCE)
			&& rounds_inputs(s, s->runs[SIDE_REFERENCE]);
		for (int turn = 0; good && turn < 2; turn++)
		{
			int			which = (turn + i) % 2;

			good = rounds_block(s, which ? &other : half, SIDE_REFERENCE, s->order,
								s->runs[SIDE_REFERENCE], 0, &seconds[which]);
		}
		if (i >= s->settling)
			values_append(&paired, baseline_counted(s, half, s->runs[SIDE_REFERENCE], seconds[0],
													half->empty[SIDE_REFERENCE])
						  / s->runs[SIDE_REFERENCE]);
	}
	measure_end(m, other.executor[SIDE_REFERENCE]);
	*slower = values_median(&paired) / values_median(alone);
	free(paired.v);
	return good;
}

/*
 * A process that runs in turn with another finds the caches that the other leaves. It is slower
 * than alone by up to a fifth where arrays are large, on a GPU by some 1 %, and by up to 10 % where
 * runs are short. A candidate may slow the reference as much as a second reference does. Where that
 * slows it by more than the goal, it meets three, because one may have had luck. On a CPU it meets
 * another again where it seems slowed (judge.c).
 */
bool
baseline_meet_neighbour(Rounds *s, Half *half, const Values *alone)
{
	double		goal = s->m->job->profile.precision_goal;
	double		logs[MAX_MET];
	size_t		wanted = s->nmet + 1;

	s->neighbour = fmax(1, s->neighbour);
	if (goal <= 0 || s->m->time[SIDE_REFERENCE] >= MEASURE_SLOW)
		return true;
	for (; s->nmet < wanted && s->nmet < MAX_MET; s->nmet++)
	{
		if (!meet_another(s, half, alone, &s->met[s->nmet]))
			return false;
		if (wanted < NEIGHBOURS && fabs(s->met[0] - 1) > goal)
			wanted = NEIGHBOURS;
	}
	s->neighbour = fmax(1, cudal1_score_median(s->met, s->nmet));
	for (size_t n = 0; n < s->nmet; n++)
		logs[n] = log(s->met[n]);
	s->doubt = s->nmet > 1
		? sqrt(cudal1_score_variance(logs, s->nmet) / (double) (s->nmet - 1)) : 0;
	json_object_set_new(s->m->result->evidence, "neighbour",
						json_real(round(s->neighbour * 1e4) / 1e4));
	return true;
}

void
baseline_note_core(const Rounds *s, Values *laps)
{
	Gpu		   *gpu = s->m->gpu;

	if (!gpu || !isfinite(gpu->core_lap))
		return;
	gpu->laps[gpu->nlaps++ % GPU_LAPS] = gpu->core_lap;
	values_append(laps, gpu->core_lap);
}

static void
keep_last(Values *values, size_t n)
{
	if (values->n <= n)
		return;
	memmove(values->v, values->v + values->n - n, n * sizeof(*values->v));
	values->n = n;
}

/* how many times as long laps of the core took when it was slow as when it was quick */
static double
core_spread(const Rounds *s)
{
	const Gpu  *gpu = s->m->gpu;
	size_t		n = gpu && gpu->nlaps < GPU_LAPS ? gpu->nlaps : GPU_LAPS;

	return !gpu || n < FEW_LAPS ? 1
		: cudal1_score_percentile(gpu->laps, n, 0.9) / cudal1_score_percentile(gpu->laps, n, 0.1);
}

/*
 * Times what is allowed: what luck may do to a half on a GPU. Where others use the core it is slow
 * and quick by turns, and the reference may have been alone in the one and beside in the other,
 * which is allowed already where it is known.
 */
static double
half_luck(const Rounds *s)
{
	return fmax(HALF_LUCK, core_spread(s) / fmax(1, s->core));
}

static bool
alone_block(Rounds *s, Half *half, Values *alone)
{
	double		seconds;

	/* a few runs on the same inputs say little of the others */
	if (s->m->gpu || s->runs[SIDE_REFERENCE] < FEW_RUNS)
		half->warm_inputs = false;
	if (!rounds_move(s, half, SIDE_REFERENCE) || !warm_inputs(s, half)
		|| !rounds_block(s, half, SIDE_REFERENCE, s->order, s->runs[SIDE_REFERENCE], 0, &seconds))
		return false;
	seconds = baseline_counted(s, half, s->runs[SIDE_REFERENCE], seconds,
							   half->empty[SIDE_REFERENCE]);
	values_append(alone, seconds / s->runs[SIDE_REFERENCE]);
	baseline_note_core(s, &half->laps[0]);
	if (s->m->gpu)
		values_append(&half->pace[0], half->executor[SIDE_REFERENCE]->pace);
	return true;
}

/* the reference's seconds a run while no candidate exists */
bool
baseline_time(Rounds *s, Half *half, Values *alone)
{
	alone->n = half->laps[0].n = half->pace[0].n = 0;
	for (int j = 0; j < alone_blocks(s); j++)
		if (!alone_block(s, half, alone))
			return false;
	return true;
}

/*
 * The same when the candidate has ended. A GPU's driver then clears its memory, and for some
 * hundredths of a second kernels are up to a third slower, so the reference would seem undisturbed
 * beside the candidate. Therefore more blocks are timed until the last take no longer than before.
 */
bool
baseline_time_again(Rounds *s, Half *half, Values *alone)
{
	size_t		n = (size_t) alone_blocks(s);

	half->warm_inputs = false;
	if (!baseline_time(s, half, alone))
		return false;
	for (size_t more = ((size_t) s->m->backend->alone_again - 1) * n; more > 0
		 && values_median(alone) > ALONE_ALIKE * s->alone; more--)
	{
		if (!alone_block(s, half, alone))
			return false;
		keep_last(alone, n);
		keep_last(&half->laps[0], n);
		keep_last(&half->pace[0], n);
	}
	return true;
}

/* the reference's seconds a run beside the candidate: what the score sees of them */
static double
seconds_beside(const Rounds *s, const Half *half)
{
	if (s->m->gpu && half->own[0].n > 0 && half->own[1].n > 0)
		return sqrt(values_median(&half->own[0]) * values_median(&half->own[1]));
	return values_median(&half->block[SIDE_REFERENCE]);
}

/* how much slower any process beside it makes a reference, as far as it has met another */
static double
neighbours_factor(const Rounds *s)
{
	return fmax(1, s->neighbour);
}

/*
 * the reference's seconds a run beside another process that does no more to it than a second
 * reference
 */
static double
own_beside(const Rounds *s, const Values *alone)
{
	return neighbours_factor(s) * values_median(alone);
}

/* times that, at most, beside a candidate */
static double
allowed_factor(const Rounds *s)
{
	const Profile *p = &s->m->job->profile;

	return 1 + p->disturbed_factor * p->precision_goal;
}

static double
allowed_beside(const Rounds *s, const Values *alone)
{
	return allowed_factor(s) * own_beside(s, alone);
}

/*
 * Whether the reference is slower beside the candidate than alone: beyond the goal, and beyond what
 * noise does. On a CPU three quarters of its blocks must be slower than the slowest alone.
 */
bool
baseline_is_slowed(Rounds *s, const Half *half, Values *alone)
{
	double		beside = seconds_beside(s, half);
	double		slowest = neighbours_factor(s) * cudal1_score_percentile(alone->v, alone->n, 1.0);
	const Values *blocks = &half->block[SIDE_REFERENCE];

	return beside > allowed_beside(s, alone)
		&& (s->m->gpu ? beside : cudal1_score_percentile(blocks->v, blocks->n, 0.25)) > slowest;
}

/*
 * On a GPU a set's halves are capped as those of one candidate are. Beyond luck they are worth
 * nothing, because what slows the reference slows the other members as well.
 */
bool
baseline_far_slower(const Rounds *s, const Half *half, const Values *alone)
{
	return seconds_beside(s, half) > half_luck(s) * allowed_beside(s, alone);
}

/*
 * Notes in the evidence how much slower the reference was beside the candidate than alone, by half
 * and order, and on a GPU how far its core's speeds lie apart, and where it was slower in rounds.
 */
void
baseline_note_beside(Rounds *s, const Half *half, const Values *alone)
{
	json_t	   *evidence = s->m->result->evidence;
	json_t	   *all = json_object_get(evidence, "beside");
	json_t	   *cores = json_object_get(evidence, "core_beside");

	if (s->m->gpu)
		json_object_set_new(evidence, "core", json_real(round(core_spread(s) * 1e4) / 1e4));
	if (s->core > 1 && !cores)
		json_object_set_new(evidence, "core_beside", cores = json_array());
	if (s->core > 1 && json_array_size(cores) < MAX_BESIDE / 2)
		json_array_append_new(cores, json_real(round(s->core * 1e4) / 1e4));
	if (!all && json_object_set_new(evidence, "beside", all = json_array()) != 0)
		return;
	for (int first = 1; first >= 0 && json_array_size(all) < MAX_BESIDE; first--)
		if (half->own[first].n > 0)
			json_array_append_new(all,
								  json_real(round(values_median(&half->own[first])
												  / values_median(alone) * 1e4) / 1e4));
}

double
baseline_core_slower(const Half *half, const Values *alone)
{
	double		beside = values_median(&half->block[SIDE_REFERENCE]);
	double		slower;

	if (half->laps[0].n < FEW_LAPS_A_HALF || half->laps[1].n < FEW_LAPS_A_HALF
		|| values_median(&half->pace[1]) < HOST_SHARE * beside)
		return 1;
	slower = fmin(values_median(&half->laps[1]) / values_median(&half->laps[0]),
				  values_median(&half->pace[1]) / values_median(&half->pace[0]));
	slower = fmin(slower, beside / values_median(alone));
	return slower > HALF_LUCK ? slower : 1;
}

/*
 * Takes the reference's own time for its time beside the candidate, and finds no cheat. It scales
 * the median of its blocks, because what a noisy host does to both sides of a round cancels.
 */
void
baseline_price(Rounds *s, Half *half, const Values *alone)
{
	double		own = own_beside(s, alone);
	double		beside = values_median(&half->block[SIDE_REFERENCE]);

	for (int first = 0; first < 2; first++)
		for (size_t i = 0; i < half->ratio[first].n; i++)
			half->ratio[first].v[i] *= own / beside;
}

/*
 * On a GPU, PyTorch runs of 10 us are at random 0 to 10 % slower beside any process than alone. On
 * hosts that others use, the reference's times alone and beside differ by as much. Halves in which
 * the reference had bad luck must not be repeated or capped one by one, because those in which the
 * candidate had bad luck are not: that took up to 1.3 % from honest scores. So no half is repeated,
 * and all halves together decide whether any is capped (baseline_was_slowed). Then each block
 * counts for no more than it may take, because code can choose which blocks to slow; in a half that
 * is slower than luck makes it, for no more than beside a reference.
 */
void
baseline_cap(Rounds *s, Half *half, Values *alone)
{
	double		beside = seconds_beside(s, half);
	double		allowed = allowed_beside(s, alone);
	double		own = own_beside(s, alone);
	bool		slowed = baseline_is_slowed(s, half, alone);
	double		luck = half_luck(s);
	double		limit = beside > luck * allowed ? own : allowed;

	values_append(&s->seen.excess, log(beside / values_median(alone)));
	s->seen.slowed += slowed;
	for (int first = 0; first < 2; first++)
		for (size_t i = 0; i < half->ratio[first].n; i++)
		{
			double		ratio = half->ratio[first].v[i];

			values_append(&half->capped[first],
						  slowed ? ratio * fmin(1, limit / half->own[first].v[i]) : ratio);
			half->ratio[first].v[i] = ratio * fmin(1, luck * allowed / beside);
		}
}

/*
 * Whether all halves together say that the candidate slows the reference: by their mean, beyond
 * what is allowed and beyond its error and the neighbour's. The mean with halves cut at a tenth
 * sees many that are a little slower, the one without, few that are much slower.
 */
bool
baseline_was_slowed(const Rounds *s, double *slower, double *error)
{
	double		allowed = log(allowed_factor(s));
	double		usual = log(neighbours_factor(s));
	double		most = log(HALF_LUCK);
	bool		slowed = false;
	Values		cut = {0};

	if (s->seen.excess.n < 2)
		return false;
	for (size_t i = 0; i < s->seen.excess.n; i++)
		values_append(&cut, fmax(usual - most, fmin(usual + most, s->seen.excess.v[i])));
	for (int i = 0; i < 2; i++)
	{
		const Values *v = i == 0 ? &s->seen.excess : &cut;

		*slower = cudal1_score_mean(v->v, v->n) - usual;
		*error = sqrt(cudal1_score_variance(v->v, v->n) / (double) (v->n - 1) + s->doubt
					  * s->doubt);
		slowed = slowed || *slower - *error > allowed;
	}
	free(cut.v);
	return slowed;
}
