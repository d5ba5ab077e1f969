/*
 * made_up.h
 *		Whole measurements of made-up processes in made-up time. The files of the runner that plan
 *		a measurement are the program's own; what starts processes and runs blocks is made up.
 */
#define _GNU_SOURCE
#include <time.h>

static int	made_up_clock(clockid_t id, struct timespec *t);

#define clock_gettime made_up_clock
#include "../../runner/supervisor/backend/parts.h"
#include "../../runner/supervisor/timing/blocks.c"
#include "../../runner/supervisor/timing/audit.c"
#include "../../runner/supervisor/timing/round.c"
#include "../../runner/supervisor/timing/plan.c"
#include "../../runner/supervisor/timing/stopping.c"
#include "../../runner/supervisor/timing/set.c"
#include "../../runner/supervisor/timing/judge.c"
#include "../../runner/supervisor/beside.c"
#include "../../runner/supervisor/timing/pair.c"
#include "../../runner/supervisor/timing/aa.c"
#include "../../runner/supervisor/timing/more.c"
#include "../../runner/supervisor/timing/verdict.c"
#include "../../runner/supervisor/timing/together.c"
#include "../../runner/supervisor/timing/rounds.c"
#include "../../runner/supervisor/timing/samples.c"
#include "../../runner/supervisor/heat.c"

#include "tap.h"

#define SLOTS	4096

static Job	job;

static size_t
arena_bytes(const Measure *m)
{
	return (size_t) m->job->profile.arena_mb << 20;
}

static size_t
no_limit(const Measure *m)
{
	return 0;
}

static const Backend backend = {
	.arena_bytes = arena_bytes, .block_outputs = no_limit, .cold_seconds = 2e-6,
	HOST_NUMBERS
};

/* a GPU */
static Gpu	gpu;
static size_t gpu_left;
/* processes that loaded their code so, and made first runs so: the reference's, candidates' */
static int	side_by_side[2];
static int	first_runs[2];
static int	loading;			/* of them, those that have begun and not ended */
static int	interrupted;		/* processes started by themselves, and blocks, meanwhile */
static int	places[1 + HEAT_MAX];	/* processes, by the memory that they map */
static int	sampled[1 + HEAT_MAX];	/* rounds whose samples were looked at, likewise */
static int	drawn;				/* rounds */
static int	misplaced;			/* pairs whose memory was drawn while a candidate lived */
static bool on_gpu;
static bool spare_core;			/* of the supervisor's there, so that there are traps */
static uint32_t staged;
static uint32_t staged_slot[WIRE_MAX_RUNS];
static bool seen[1 + HEAT_MAX][WIRE_MAX_RUNS]; /* slots staged since their inputs were made */
static int	stale;				/* audits of slots that their process had seen */
static int	generated;			/* calls for inputs */
static int	late_at;			/* the trap in which an output is late */
static int	traps_after_late;	/* with that one */

static bool bring_input(Measure *m, const Arena *arena, Side side, uint32_t slot);
static bool begin_pair(Measure *m, Arena *arena);
static void draw(Measure *m, const uint32_t *slots, uint32_t n);
static bool check_sample(Measure *m, const Arena *arena);
static bool disturbed(Measure *m, Executor *const *executors, int n);

static const Backend backend_gpu = {
	.arena_bytes = arena_bytes, .block_outputs = no_limit, .cold_seconds = 2e-6,
	.steps = true, .bring = bring_input, .begin_pair = begin_pair, .draw = draw,
	.check_samples = check_sample, .disturbed = disturbed, GPU_NUMBERS
};

static Measure *measure;		/* of the supervisor's that is under way */
static double moment;
static uint64_t state;

/* what the code takes */
static double reference_run;
static double candidate_run;
static double candidate_spread; /* of its processes, as a factor's logarithm */
static double start_seconds = 0.02; /* of a process */
static double end_seconds;		/* of a process that was ended, until it is gone */
static int	dying;				/* of these */
static double candidate_sleeps; /* seconds a run at random, up to these */
static double host_spread;		/* of all processes */
static double block_spread;		/* of all blocks */
static double block_cost;		/* seconds at random that a block takes besides, up to these */
/* times as long that runs of the reference, and of candidates, took before the first pair */
static double misjudged[2] = {1, 1};
static double process[1 + HEAT_MAX];	/* factors of those that live: the reference's, members' */

/* of a heat */
static double factor[HEAT_MAX];	/* what each member takes, in candidate_run */
static int	liar = -1;			/* the member whose outputs are wrong */
static int	leaver = -1;		/* the member that fails beside others */
static int	greedy = -1;		/* the member that had far more memory there */
static size_t added;			/* bytes that code had in its checks */
static int	slow = -1;			/* the member that slows the reference */
static int	uneven = -1;		/* the member whose processes differ ten times as much */
static bool slow_ran;
static int	neighbours;			/* references that met another */
static bool beside_candidates;	/* while candidates lived */
static int	awake;				/* in so many sets a process is */
/* the member whose pool is too small beside others, and its process's; -2: the reference */
static int	cramped = -1;
static WireControl control;
static int	blocks[2];			/* of the reference, of members */
static int	shared;				/* of the reference, those that several share */
static int	mistold;			/* estimates that were shown as another member's */

volatile sig_atomic_t executor_cancelled;

/*
 * the candidate dawdles in blocks of many runs, so that its blocks get fewer, until they have one,
 * in which it takes no time at all
 */
static bool dawdles;

static double
dawdling_run(uint32_t n)
{
	return n > 104 ? 7.1e-3 : n > 8 ? 3.3e-3 : n > 1 ? 71e-6 : 1e-9;
}

/* which runs were done */
/* the candidate leaves undone what the reference did not run, where that went first */
static bool skips;
static bool reference_was_first;
static bool done_by_reference[SLOTS];
static bool undone[SLOTS];
static int	compared;
static int	wrong;
static int	reads[2];
static int	cores_noted;		/* rounds */
static int	timed_again;		/* the reference alone, after candidates */
static int	launched[2];		/* processes: the candidate's, and references in its place */
static int	alive;				/* of the candidate's */
static int	most_alive;
static bool met;				/* a reference in its place while one of them lived */

/* for so many blocks of each of its processes the candidate has filled its results before */
static int	prepares;
static int	prepared;				/* blocks, of the process that lives */
static double saved;			/* seconds, by that, in the last block */

static double
random_share(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return ((double) (state >> 11) + 0.5) / 9007199254740992.0;
}

static double
random_normal(void)
{
	double		radius = sqrt(-2 * log(random_share()));

	return radius * cos(6.283185307179586 * random_share());
}

static int
made_up_clock(clockid_t id, struct timespec *t)
{
	t->tv_sec = (time_t) moment;
	t->tv_nsec = (long) ((moment - (double) t->tv_sec) * 1e9);
	return 0;
}

uint64_t
random_next(RandomStream *stream)
{
	return (uint64_t) (random_share() * 18446744073709549568.0);
}

uint64_t
random_below(RandomStream *stream, uint64_t n)
{
	return (uint64_t) (random_share() * (double) n);
}

bool
conclude(Measure *m, Outcome outcome, const char *format,...)
{
	if (m->result->outcome == OUTCOME_NONE)
		m->result->outcome = outcome;
	return false;
}

bool
measure_dissolve(Measure *m, const char *why)
{
	m->dissolved = true;
	return false;
}

static void
start(Measure *m, Executor *executor, Side side)
{
	executor->hostile = side == SIDE_CANDIDATE && !m->aa;
	alive += executor->hostile;
	most_alive = alive > most_alive ? alive : most_alive;
	prepared = prepares;
	met |= m->aa && alive > 0;
	launched[m->aa] += side == SIDE_CANDIDATE;
	executor->control = cramped == (executor->hostile ? m->member->number : -2) ? &control : NULL;
	control.pool_refused = 0;
	process[side == SIDE_REFERENCE ? 0 : 1 + m->member->number] =
		exp(host_spread * random_normal()
			+ (executor->hostile ? candidate_spread * random_normal() : 0)
			* (executor->hostile && m->member->number == uneven ? 10 : 1));
	moment += start_seconds;
}

bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena,
			   uint64_t weight_seed)
{
	interrupted += loading > 0;
	start(m, executor, side);
	return true;
}

bool
measure_begin_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena,
					 uint64_t weight_seed)
{
	places[side == SIDE_REFERENCE ? 0 : arena->place]++;
	loading++;
	start(m, executor, side);
	return true;
}

bool
measure_begin_first(Measure *m, Executor *executor, const Arena *arena, uint32_t slot,
					uint64_t seed, double timeout)
{
	first_runs[executor->hostile]++;
	return true;
}

void
measure_await_launches(Measure *m, Executor *const *executors, int n, Spending spending)
{
	for (int i = 0; i < n && spending == SPENT_LOAD; i++)
		side_by_side[executors[i]->hostile]++;
}

bool
measure_end_launch(Measure *m, Executor *executor)
{
	loading--;
	return true;
}

void
executor_kill(Executor *executor)
{
}

void
measure_end(Measure *m, Executor *executor)
{
	alive -= executor->hostile;
	executor->hostile = false;
	dying++;
}

void
measure_reap(Measure *m)
{
	moment += dying * end_seconds;
	dying = 0;
}

bool
measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	generated++;
	for (int place = 0; place <= HEAT_MAX; place++)
		for (uint32_t i = 0; i < n; i++)
			seen[place][slots[i]] = false;
	memset(done_by_reference, 0, sizeof(done_by_reference));
	memset(undone, 0, sizeof(undone));
	reference_was_first = false;
	return true;
}

void
measure_blank(Measure *m, const Arena *arena, const uint32_t *slots, uint32_t n)
{
}

bool
measure_stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	staged = n;
	memcpy(staged_slot, slots, n * sizeof(*slots));
	return true;
}

bool
measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots,
			  const uint64_t *seeds, uint32_t n, double timeout, double *elapsed)
{
	bool		candidate = side == SIDE_CANDIDATE && !m->aa;

	int			place = side == SIDE_REFERENCE ? 0 : 1 + m->member->number;

	measure_reap(m);
	if (m->shares && awake > 0 && candidate)
	{
		awake--;
		m->dissolved = true;
		return false;
	}
	if (m->shares && candidate && m->member->number == leaver)
	{
		m->member->by_itself = true;
		return false;
	}
	interrupted += loading > 0;
	stale += on_gpu && n == 1 && seen[place][slots[0]];
	for (uint32_t i = 0; on_gpu && i < staged; i++)
		seen[place][staged_slot[i]] = true;
	blocks[side]++;
	shared += m->shares && side == SIDE_REFERENCE;
	slow_ran |= place > 0 && m->member->number == slow;
	*elapsed = n * (!candidate ? reference_run : dawdles ? dawdling_run(n)
					: candidate_run * factor[m->member->number]) * process[place];
	*elapsed *= exp(block_spread * random_normal());
	if (block_cost > 0)
		*elapsed += block_cost * random_share();
	if (m->shares && executor->control)
	{
		control.pool_refused++;
		*elapsed *= 1.5;
	}
	saved = candidate && prepared > 0 ? *elapsed * 0.9 : 0;
	*elapsed -= saved;
	for (uint32_t i = 0; i < n; i++)
	{
		if (candidate)
			*elapsed += candidate_sleeps * random_share();
		if (candidate)
			undone[slots[i]] = skips && reference_was_first && !done_by_reference[slots[i]];
		else
			done_by_reference[slots[i]] = true;
	}
	reference_was_first |= !candidate;
	moment += *elapsed;
	return true;
}

/* an output is the number of its slot, or, undone, nothing */
bool
measure_read(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
			 uint32_t slot, void *out)
{
	uint32_t	answer = side == SIDE_CANDIDATE && undone[slot] ? UINT32_MAX : slot;

	memcpy(out, &answer, sizeof(answer));
	reads[side]++;
	return true;
}

bool
measure_poison(Measure *m, Executor *executor, Side side)
{
	return true;
}

double
measure_fill(Measure *m, const Executor *executor)
{
	if (!executor->hostile || prepared <= 0)
		return 0;
	prepared--;
	return saved;
}

bool
measure_compare(Measure *m, const void *expected, const void *found, Side blamed)
{
	if (m->member->number == liar)
		return conclude(m, OUTCOME_WRONG_OUTPUT, NULL);
	compared++;
	m->result->checks++;
	wrong += memcmp(expected, found, sizeof(uint32_t)) != 0;
	return true;
}

void *
measure_alloc(Measure *m, size_t bytes)
{
	return malloc(bytes + 1);
}

void
measure_free(Measure *m, void *memory)
{
	free(memory);
}

bool
measure_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare)
{
	arena->slots = slots;
	return true;
}

double
measure_run_limit(const Measure *m)
{
	return 30;
}

void
measure_progress(Measure *m, const char *phase, int pairs, int rounds, double estimate,
				 double lower, double upper, double left, bool force)
{
	if (m->nmembers > 1 && isfinite(estimate))
		mistold += m->member == &m->all
			|| fabs(estimate * factor[m->member->number] - 1) > 0.1;
}

void
arena_init(Arena *arena)
{
	memset(arena, 0, sizeof(*arena));
	arena->place = 1;
}

void
arena_destroy(Arena *arena)
{
	moment += arena->slots > 0 ? end_seconds : 0;
	arena->slots = 0;
}

void
executor_init(Executor *executor)
{
	memset(executor, 0, sizeof(*executor));
}

bool
rounds_trap(Rounds *s, Half *half)
{
	s->traps++;
	s->late += s->traps == late_at;
	traps_after_late += s->late > 0;
	json_object_set_new(s->m->result->evidence, "traps", json_integer(s->traps));
	for (int side = 0; side < 2; side++)
		for (int kind = 0; kind < STEPS; kind++)
			for (int i = 0; i < 4; i++)
				values_append(&s->steps[side][kind], reference_run / 4);
	return true;
}

uint32_t
gpu_late_most(const Arena *arena, uint32_t wanted)
{
	return wanted;
}

bool
gpu_audit_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t runs, bool late)
{
	return true;
}

void
gpu_audit_clear(Measure *m)
{
}

bool
gpu_audit_same(Measure *m, Executor *executor, const Arena *arena, const uint32_t *slots,
			   bool *same)
{
	*same = true;
	return true;
}

void
gpu_pools_give_back(Measure *m)
{
	measure_reap(m);
	moment += end_seconds;
}

size_t
gpu_memory_left(Measure *m)
{
	return gpu_left;
}

static bool
bring_input(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	abort();
}

static bool
begin_pair(Measure *m, Arena *arena)
{
	misplaced += alive > 0;
	return true;
}

static void
draw(Measure *m, const uint32_t *slots, uint32_t n)
{
	drawn += n > 0;
}

static bool
check_sample(Measure *m, const Arena *arena)
{
	sampled[arena->place]++;
	return true;
}

static bool
disturbed(Measure *m, Executor *const *executors, int n)
{
	int			candidates = 0;

	for (int i = 0; i < n; i++)
		candidates += executors[i]->hostile;
	misplaced += candidates != alive;
	return false;
}

/* blocks have no constant cost here */
double
baseline_net(const Rounds *s, const Half *half, double seconds, double empty)
{
	return seconds;
}

double
baseline_least(const Rounds *s, uint32_t n, double empty)
{
	return 0;
}

double
baseline_counted(const Rounds *s, const Half *half, uint32_t n, double seconds, double empty)
{
	return seconds;
}

/* no process settles, or slows another, here */
bool
baseline_warm(Rounds *s, Half *half, Side side)
{
	return true;
}

bool
baseline_share(Set *set, const Rounds *before)
{
	return true;
}

bool
baseline_far_slower(const Rounds *s, const Half *half, const Values *alone)
{
	bool		slowed = slow_ran;

	slow_ran = false;
	return slowed;
}

bool
baseline_settle_all(Set *set)
{
	return true;
}

bool
baseline_time(Rounds *s, Half *half, Values *alone)
{
	values_append(alone, reference_run);
	return true;
}

bool
baseline_time_again(Rounds *s, Half *half, Values *alone)
{
	timed_again++;
	beside_candidates |= alive > 0;
	values_append(alone, reference_run);
	return true;
}

void
baseline_note_core(const Rounds *s, Values *laps)
{
	cores_noted++;
}

bool
baseline_meet_neighbour(Rounds *s, Half *half, const Values *alone)
{
	neighbours++;
	beside_candidates |= alive > 0;
	s->neighbour = 1;
	return true;
}

bool
baseline_is_slowed(Rounds *s, const Half *half, Values *alone)
{
	bool		slowed = slow_ran;

	/* on a GPU baseline_far_slower() follows */
	slow_ran = slow_ran && on_gpu;
	return slowed;
}

void
baseline_note_beside(Rounds *s, const Half *half, const Values *alone)
{
}

double
baseline_core_slower(const Half *half, const Values *alone)
{
	return 1;
}

void
baseline_price(Rounds *s, Half *half, const Values *alone)
{
}

void
baseline_cap(Rounds *s, Half *half, Values *alone)
{
}

bool
baseline_was_slowed(const Rounds *s, double *slower, double *error)
{
	*slower = *error = 0;
	return false;
}

/*
 * a measurement of `n` candidates that take so long, by profile `default`; the seconds it took
 */
static double
run_heat(uint64_t seed, double reference, double candidate, int n)
{
	static Measure m;
	int			numbers[HEAT_MAX];

	for (int i = 0; i < HEAT_MAX; i++)
	{
		numbers[i] = i;
		factor[i] = factor[i] > 0 ? factor[i] : 1;
	}
	memset(blocks, 0, sizeof(blocks));
	shared = mistold = 0;
	heat_free(&m);
	m = (Measure) {.job = &job, .backend = &backend, .output_bytes = sizeof(uint32_t),
		.input_slot_bytes = 64, .output_slot_bytes = 64, .check_time = 1e-6,
		.start_time = 0.02};
	if (on_gpu)
	{
		m.backend = &backend_gpu;
		m.gpu = &gpu;
		m.spare_core = spare_core;
		m.reference.gpu_bytes = 1 << 20;
	}
	measure = &m;
	state = seed;
	moment = 1000;
	m.locked_at = moment;
	heat_init(&m, numbers, n);
	m.reference.added = added;
	for (int i = 0; i < n; i++)
	{
		m.members[i].code.added = i == greedy ? (size_t) 1 << 34 : added;
		m.members[i].time[SIDE_REFERENCE] = reference * misjudged[SIDE_REFERENCE];
		m.members[i].time[SIDE_CANDIDATE] = (candidate * factor[i] + candidate_sleeps / 2)
			* misjudged[SIDE_CANDIDATE];
	}
	reference_run = reference;
	candidate_run = candidate;
	traps_after_late = 0;
	compared = wrong = alive = most_alive = drawn = misplaced = 0;
	loading = interrupted = dying = 0;
	memset(side_by_side, 0, sizeof(side_by_side));
	memset(first_runs, 0, sizeof(first_runs));
	memset(places, 0, sizeof(places));
	memset(sampled, 0, sizeof(sampled));
	memset(reads, 0, sizeof(reads));
	memset(launched, 0, sizeof(launched));
	met = beside_candidates = false;
	neighbours = cores_noted = timed_again = 0;
	rounds_run(&m);
	return moment - 1000;
}

static inline double
run(uint64_t seed, double reference, double candidate)
{
	return run_heat(seed, reference, candidate, 1);
}

/* that of `default`, for a test to begin with */
static void
begin_profile(void)
{
	job.profile = (Profile) {
		.pairs = 7, .looks = {7, 14, 21}, .nlooks = 3, .futility_pairs = 3, .bucket_seconds = 0.5,
			.block_seconds = 0.010, .window_seconds = 1800,
		.precision_goal = 0.005,.precision_slope = 0.05,.confidence = 0.95,.half_width_limit = 0.01,
		.min_checks = 50, .max_checks = 1000, .check_seconds = 3, .audit_sigma = 3,
			.audit_margin = 0.25,
		.arena_mb = 256, .disturbed_factor = 2, .disturbed_attempts = 3, .budget_factor = 8,
			.budget_min = 60
	};
}
