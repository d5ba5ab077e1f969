/*
 * plan.c
 *		How many runs a block has, how many rounds a half, and the memory that they need.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/backend.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/timing.h"

#define MIN_TRAPPED		8		/* runs of a block, for what runs cost to matter */
#define MOST_COLD		0.02	/* of a block, whatever the goal */
#define MOVED_WITHIN	1e-3	/* seconds of a block, in which moving code is next to nothing */
#define STEP_SECONDS	5e-3	/* of longer runs the constant cost of a block is next to nothing */
/* quotient of both sides' times up to which their blocks have the same number of runs */
#define SAME_RUNS_UP_TO		1.25
#define MAX_UNEVENNESS	2.0		/* how much longer one side's blocks may take than the other's */
#define DIRECT_BYTES	((size_t) 8 << 20)
/*
 * Bytes that PyTorch's allocator takes of a GPU at a time: arrays up to SMALL_ARRAY lie several in
 * one SMALL_SEGMENT, those below LARGE_ARRAY in one SEGMENT, and each larger one in multiples of
 * ROUND_LARGE.
 */
#define SMALL_ARRAY		((size_t) 1 << 20)
#define SMALL_SEGMENT	((size_t) 2 << 20)
#define SEGMENT			((size_t) 20 << 20)
#define LARGE_ARRAY		((size_t) 10 << 20)
#define ROUND_LARGE		((size_t) 2 << 20)
/*
 * of the most that code took in its checks, what each process of a pair may take of a GPU's memory
 */
#define POOL_TIMES		4.0
#define POOL_RUNS		10		/* or as many times as a block has runs, over that */
#define POOL_LEAST		8589934592.0	/* bytes */

/* runs that take so long, of those that there is memory and time for */
static uint32_t
runs_of(const Rounds *s, double seconds, double time)
{
	return (uint32_t) fmax(1, fmin(s->most, round(seconds / time)));
}

/*
 * How long a block is to be: so long that finding caches cold is less than the goal of it, and
 * that it has a few of the reference's runs, because traps tell what runs cost and scores above 1
 * need them. What is cold cancels between blocks
 * that are alike, so the goal is not a bound of what remains. Short blocks need fewer inputs, and
 * rounds of them less time.
 */
double
plan_block_seconds(const Measure *m, double reference)
{
	const Profile *p = &m->job->profile;

	if (p->precision_goal <= 0)
		return p->block_seconds;
	return fmin(p->block_seconds, fmax(m->backend->cold_block / fmin(p->precision_goal, MOST_COLD),
									   MIN_TRAPPED * reference));
}

/*
 * Runs in a block of each side. Finding the caches cold costs a block 0.2 to 0.4 ms on a CPU and
 * 0.1 ms on a GPU, which blocks without runs don't show. Blocks that take as long pay the same
 * share of it. A reference whose blocks take an eighth of the candidate's seems 4 to 10 % slower
 * than it is, and on a GPU a candidate whose blocks take a quarter seems 3.6 % slower. So where
 * memory or the making of inputs keeps one side's blocks short, the other's are shortened, too.
 */
void
plan_longest(const Rounds *s, const double *time, uint32_t *runs)
{
	double		seconds = plan_block_seconds(s->m, time[SIDE_REFERENCE]);

	for (int side = 0; side < 2; side++)
		runs[side] = runs_of(s, fmin(seconds, MAX_UNEVENNESS * s->most * time[!side]), time[side]);
	/* runs that one side alone has lie on inputs that the other has not just read */
	if (fmax(time[0], time[1]) < SAME_RUNS_UP_TO * fmin(time[0], time[1]))
		runs[SIDE_CANDIDATE] = runs[SIDE_REFERENCE];
}

/*
 * Members of a heat share a reference if its blocks are the same for them. Where a candidate's
 * speed limits these, each would have a number of runs of its own. So that is a power of two, and
 * speeds fall into steps of a factor of two. The reference's blocks still take about as long as
 * the candidate's, which are as long as they can be, or longer.
 */
void
plan_blocks(const Rounds *s, const double *time, uint32_t *runs)
{
	uint32_t   *reference = &runs[SIDE_REFERENCE];
	double		run = time[SIDE_REFERENCE];

	plan_longest(s, time, runs);
	if (*reference < runs_of(s, plan_block_seconds(s->m, run), run))
		while ((*reference & (*reference - 1)) != 0)
			*reference &= *reference - 1;
}

/* sizes of blocks, numbers of rounds */
void
plan_rounds(Rounds *s)
{
	Measure    *m = s->m;
	const Profile *p = &m->job->profile;
	const Backend *b = m->backend;
	size_t		run_bytes = (size_t) b->input_copies * m->input_slot_bytes
		+ (size_t) b->output_copies * m->output_slot_bytes
		+ (b->outputs_apart ? m->output_bytes : 0);
	size_t		outputs = b->block_outputs(m);
	double		most = fmin(WIRE_MAX_RUNS, (double) b->arena_bytes(m) / (double) (run_bytes + 1));
	double		room;
	double		round_seconds = 0;
	double		half_seconds = p->bucket_seconds / b->halves;

	if (outputs > 0 && m->output_bytes > 0)
		most = fmin(most, fmax(1, (double) outputs / (double) m->output_bytes));
	/* making inputs must not take longer than using them */
	if (m->generate_time > 0)
		most = fmin(most, fmax(8, b->making_factor * p->block_seconds / m->generate_time));
	room = most;
	/* caches are cold for the first run of a block alone */
	if (m->gpu && p->cold_cache)
		most = 1;
	s->most = fmax(1, most);
	plan_blocks(s, m->time, s->runs);
	for (int side = 0; side < 2; side++)
		round_seconds += s->runs[side] * m->time[side];
	s->at_once = s->slots = s->runs[0] > s->runs[1] ? s->runs[0] : s->runs[1];
	if (s->slots < 4 && most >= 4)
		s->slots = 4;
	/* audits have a few runs where blocks have one */
	if (b->steps && m->time[SIDE_REFERENCE] < STEP_SECONDS)
		s->slots = (uint32_t) fmax(s->slots, fmin(STEP_RUNS, floor(room)));
	/* a median needs a few rounds; rounds that take seconds are fewer */
	s->rounds_a_half = (int) fmax((round_seconds < LONG_ROUND ? 2 * MIN_ROUNDS
								   : round_seconds < 1 ? 8 : 2) / b->halves,
								  ceil(half_seconds / round_seconds));
	if (s->rounds_a_half > 1)
		s->rounds_a_half += s->rounds_a_half % 2;
	s->steps_a_half = 0;
	if (b->steps && m->spare_core && s->slots > 1 && m->time[SIDE_REFERENCE] < STEP_SECONDS)
	{
		double		audit = STEP_RUNS * (m->time[0] + m->time[1] + 2 * m->generate_time) + 1e-3;
		double		affordable = fmin(p->audits / (STEP_RUNS - 1), p->audit_seconds / audit);

		s->steps_a_half = (int) ceil(affordable / (b->halves * p->pairs));
	}
	s->kept_max = (uint32_t) fmax(1, fmin(64, 64e6 / m->nmembers / (double) (m->output_bytes + 1)));
	audit_plan(s);
	s->whole_half = s->rounds_a_half;
	s->whole_audits = s->audits_a_half;
	s->whole_steps = s->steps_a_half;
	s->share = 1;
}

void
plan_moves(const Rounds *s)
{
	Measure    *m = s->m;

	m->moves_apart = m->job->language == LANGUAGE_C && !m->gpu
		&& s->runs[SIDE_REFERENCE] * m->time[SIDE_REFERENCE] < MOVED_WITHIN;
}

/* its own outputs, drawn for comparison */
bool
plan_kept(Rounds *s)
{
	s->kept[SIDE_CANDIDATE] = measure_alloc(s->m, s->kept_max * s->m->output_bytes);
	return s->kept[SIDE_CANDIDATE] || conclude(s->m, OUTCOME_LOST, "no memory for outputs");
}

bool
plan_memory(Rounds *s)
{
	Measure    *m = s->m;
	const Backend *b = m->backend;
	uint32_t	spare;

	if (s->order)
		return true;
	/* blocks of a set may have been longer than this memory */
	s->at_once = s->runs[0] > s->runs[1] ? s->runs[0] : s->runs[1];
	s->order = calloc(s->slots, sizeof(*s->order));
	s->seeds = calloc(s->slots, sizeof(*s->seeds));
	s->kept[SIDE_REFERENCE] = measure_alloc(m, s->kept_max * m->output_bytes);
	if (!s->order || !s->seeds || !s->kept[SIDE_REFERENCE])
		return conclude(m, OUTCOME_LOST, "no memory for outputs");
	if (!plan_kept(s))
		return false;
	/*
	 * on a GPU, more for inputs that late runs begin with: of a trap every other one, of an audit
	 * all but one
	 */
	spare = !b->steps ? 0 : s->steps_a_half > 0 ? s->slots - 1 : s->slots / 2;
	if (!measure_arena(m, &s->arena, s->slots, spare < GPU_LATE_RUNS ? spare : GPU_LATE_RUNS))
		return false;
	/*
	 * small inputs of a block are copied before it, so that both sides find them in caches; large
	 * ones would only cost time
	 */
	s->arena.direct = m->job->language == LANGUAGE_C
		&& s->at_once * m->input_slot_bytes > DIRECT_BYTES;
	s->fresh = true;
	return true;
}

/* as many as fit share a segment, and what is left of it is too small for another */
static size_t
allocated(size_t bytes)
{
	if (bytes <= SMALL_ARRAY)
		return bytes > 0 ? SMALL_SEGMENT / (SMALL_SEGMENT / bytes) : 0;
	if (bytes < LARGE_ARRAY)
		return SEGMENT / (SEGMENT / bytes);
	return (bytes + ROUND_LARGE - 1) / ROUND_LARGE * ROUND_LARGE;
}

double
plan_run_bytes(const Measure *m)
{
	double		bytes = 0;

	for (int i = 0; i < m->outputs; i++)
		bytes += (double) allocated(m->output[i].bytes);
	return bytes;
}

/* a part of the pool may lie before its random start */
double
plan_pool_room(const Rounds *s, double blocks, double bytes)
{
	bytes += blocks * fmax(s->runs[0], s->runs[1]) * plan_run_bytes(s->m);
	return fmin(bytes * WIRE_POOL_STARTS / (WIRE_POOL_STARTS - 1),
				(double) s->m->gpu->pool_bytes);
}

/* a pair's processes are started while those of the last one end, so four are to fit */
size_t
plan_pool(const Rounds *s)
{
	const Measure *m = s->m;
	double		used = fmax((double) m->reference.pool_used, (double) s->member->code.pool_used);
	double		runs = fmax(s->runs[0], s->runs[1]);

	if (s->pool_short)
		return m->gpu->pool_bytes;
	/* code may keep something for each of its inputs' places, of which the checks have sixteen */
	return (size_t) fmax(plan_pool_room(s, TAKEN_BLOCKS, fmax(POOL_TIMES, runs / POOL_RUNS) * used),
						 fmin(POOL_LEAST, (double) m->gpu->pool_bytes));
}

void
plan_end(Rounds *s)
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
double
plan_unevenness(const uint32_t *runs, const double *time)
{
	double		quotient = (runs[0] * time[0]) / (runs[1] * time[1]);

	return fmax(quotient, 1 / quotient);
}

/* a block of one run has no later input to read ahead */
bool
rounds_has_traps(const Rounds *s)
{
	return s->m->backend->steps && s->m->spare_core && s->runs[0] > 1 && s->runs[1] > 1 && !s->of;
}

bool
rounds_traps_due(const Rounds *s)
{
	return rounds_has_traps(s) && s->runs[0] >= MIN_TRAPPED && s->runs[1] >= MIN_TRAPPED;
}
