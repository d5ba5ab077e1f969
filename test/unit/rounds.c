/*
 * rounds.c
 *		Whole measurements of made-up processes in made-up time: which runs are compared, when a
 *		budget ends, when references are measured beside each other.
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

static Measure *measure;		/* of the supervisor's that is under way */
static double moment;
static uint64_t state;

/* what the code takes */
static double reference_run;
static double candidate_run;
static double candidate_spread; /* of its processes, as a factor's logarithm */
static double start_seconds = 0.02; /* of a process */
static double candidate_sleeps; /* seconds a run at random, up to these */
static double host_spread;		/* of all processes */
static double block_spread;		/* of all blocks */
static double process[1 + HEAT_MAX];	/* factors of those that live: the reference's, members' */

/* of a heat */
static double factor[HEAT_MAX];	/* what each member takes, in candidate_run */
static int	liar = -1;			/* the member whose outputs are wrong */
static int	leaver = -1;		/* the member that fails beside others */
static int	greedy = -1;		/* the member that had far more memory there */
static size_t added;			/* bytes that code had in its checks */
static int	slow = -1;			/* the member that slows the reference */
static bool slow_ran;
static int	awake;				/* in so many sets a process is */
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
static int	launched[2];		/* processes: the candidate's, and references in its place */
static int	alive;				/* of the candidate's */
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
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena,
			   uint64_t weight_seed)
{
	executor->hostile = side == SIDE_CANDIDATE && !m->aa;
	alive += executor->hostile;
	prepared = prepares;
	met |= m->aa && alive > 0;
	launched[m->aa] += side == SIDE_CANDIDATE;
	process[side == SIDE_REFERENCE ? 0 : 1 + m->member->number] =
		exp(host_spread * random_normal() + (executor->hostile ? candidate_spread * random_normal()
											 : 0));
	moment += start_seconds;
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
}

bool
measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	memset(done_by_reference, 0, sizeof(done_by_reference));
	memset(undone, 0, sizeof(undone));
	reference_was_first = false;
	return true;
}

void
measure_blank(Measure *m, const Arena *arena, const uint32_t *slots, uint32_t n)
{
}

void
measure_unstage(Measure *m, Arena *arena, uint32_t slot)
{
	abort();
}

bool
measure_stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	return true;
}

bool
measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots,
			  const uint64_t *seeds, uint32_t n, double timeout, double *elapsed)
{
	bool		candidate = side == SIDE_CANDIDATE && !m->aa;

	int			place = side == SIDE_REFERENCE ? 0 : 1 + m->member->number;

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
	blocks[side]++;
	shared += m->shares && side == SIDE_REFERENCE;
	slow_ran |= place > 0 && m->member->number == slow;
	*elapsed = n * (!candidate ? reference_run : dawdles ? dawdling_run(n)
					: candidate_run * factor[m->member->number]) * process[place];
	*elapsed *= exp(block_spread * random_normal());
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
}

void
arena_destroy(Arena *arena)
{
}

void
executor_init(Executor *executor)
{
	memset(executor, 0, sizeof(*executor));
}

bool
rounds_trap(Rounds *s, Half *half)
{
	abort();
}

uint32_t
gpu_late_most(const Arena *arena, uint32_t wanted)
{
	abort();
}

bool
gpu_audit_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t runs, bool late)
{
	abort();
}

void
gpu_audit_clear(Measure *m)
{
	abort();
}

bool
gpu_audit_same(Measure *m, bool *same)
{
	abort();
}

void
gpu_arena_swap(Measure *m, Arena *arena)
{
	abort();
}

void
gpu_begin_half(Measure *m)
{
	abort();
}

bool
gpu_disturbed(Measure *m, Executor *const *executors, int n)
{
	abort();
}

void
gpu_draw(Measure *m, const uint32_t *slots, uint32_t n)
{
	abort();
}

bool
gpu_check_samples(Measure *m)
{
	abort();
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
	values_append(alone, reference_run);
	return true;
}

bool
baseline_meet_neighbour(Rounds *s, Half *half, const Values *alone)
{
	return true;
}

bool
baseline_is_slowed(Rounds *s, const Half *half, Values *alone)
{
	bool		slowed = slow_ran;

	slow_ran = false;
	return slowed;
}

void
baseline_note_beside(Rounds *s, const Half *half, const Values *alone)
{
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
	measure = &m;
	state = seed;
	moment = 1000;
	m.locked_at = moment;
	heat_init(&m, numbers, n);
	m.reference.added = added;
	for (int i = 0; i < n; i++)
	{
		m.members[i].code.added = i == greedy ? (size_t) 1 << 34 : added;
		m.members[i].time[SIDE_REFERENCE] = reference;
		m.members[i].time[SIDE_CANDIDATE] = candidate * factor[i] + candidate_sleeps / 2;
	}
	reference_run = reference;
	candidate_run = candidate;
	compared = wrong = alive = 0;
	memset(reads, 0, sizeof(reads));
	memset(launched, 0, sizeof(launched));
	met = false;
	rounds_run(&m);
	return moment - 1000;
}

static double
run(uint64_t seed, double reference, double candidate)
{
	return run_heat(seed, reference, candidate, 1);
}

static void
check_runs(void)
{
	/* the candidate's blocks have twenty runs, or as many as fit, the reference's two */
	run(1, 4e-3, 4e-4);
	check(wrong == 0 && compared >= 50 && reads[0] == compared && reads[1] == compared,
		  "what both sides ran is compared, each with its like");
	skips = true;
	run(1, 4e-3, 4e-4);
	check(wrong > 10,
		  "code that leaves undone what the reference did not run is seen to, in every pair");
	run(1, 1e-3, 1e-3);
	check(wrong == 0, "where both run the same there is nothing that only one has");
	skips = false;
	run(1, 1e-3, 8e-3);
	check(wrong == 0 && compared >= 50, "nor where the reference has more");
}

static void
check_budget(void)
{
	double		seconds;

	candidate_sleeps = 2.4;
	seconds = run(2, 0.03, 0.1);
	check(seconds > job.profile.budget_min && seconds < job.profile.budget_min + 30,
		  "code that sleeps at random ends at its budget");
	check(measure->result->outcome == OUTCOME_SUCCESSFUL && measure->result->wide
		  && measure->result->score == measure->result->lower
		  && measure->result->score < 0.05, "at the lower end of what is known, and marked");
	job.budget_seconds = 20;
	seconds = run(2, 0.03, 0.1);
	check(seconds > 20 && seconds < 50 && measure->result->pairs >= 3,
		  "sooner where the job says so");
	job.budget_seconds = 1;
	run(2, 0.03, 0.1);
	check(measure->result->pairs == 3, "but with three pairs");
	job.budget_seconds = 0;
	job.profile.budget_factor = 0;
	job.profile.precision_slope = 0;
	seconds = run(2, 0.03, 0.1);
	check(seconds > job.profile.budget_min && measure->result->pairs == 21,
		  "or with the last look, without a budget");
	job.profile.precision_slope = 0.05;
	job.profile.budget_factor = 8;
	candidate_sleeps = 0;

	seconds = run(3, 0.05, 1);
	check(!measure->result->wide && near(measure->result->score, 0.05, 0.01) && seconds < 60,
		  "honest code twenty times as slow has its score");
	seconds = run(3, 1, 20);
	check(!measure->result->wide && near(measure->result->score, 0.05, 0.01),
		  "also where the reference takes a second");
}

static void
check_aa(void)
{
	int			ones = 0;

	run(4, 1e-4, 1e-4);
	check(launched[true] == 0 && !measure->result->wide,
		  "on a quiet host no reference is measured beside another");
	host_spread = 0.1;
	for (int i = 0; i < 200; i++)
	{
		run((uint64_t) (100 + i), 1e-4, 1e-4);
		ones += measure->result->outcome == OUTCOME_SUCCESSFUL && measure->result->wide
			&& cudal1_score_conservative_round(measure->result->score) == 1;
	}
	check(ones >= 190,
		  "on a host where every process is off by a tenth the same code is worth 1.00");
	check(launched[true] == 14 && !met,
		  "beside seven pairs of the reference, while no process of the candidate lives");
	run(6, 1e-4, 5e-5);
	check(launched[true] == 0 && measure->result->wide && measure->result->score > 1.5
		  && measure->result->score < 2, "of which code that is faster needs none");
	host_spread = 0;
	candidate_spread = 0.3;
	run(6, 1e-4, 1.3e-4);
	check(launched[true] == 14 && measure->result->wide
		  && measure->result->score == measure->result->lower && measure->result->score < 0.75,
		  "code that makes its own interval wide, where the reference's is not, gets the "
		  "lower end");
	candidate_spread = 0;
}

static void
check_sizes(void)
{
	run(1, 106e-6, 106e-6);
	check(near(measure->result->score, 1, 1e-6),
		  "code that takes as long as its reference is worth 1");
	dawdles = true;
	run(1, 106e-6, 106e-6);
	check(measure->result->score < 1, "code whose runs take longer in some blocks than in others, "
		  "time and again, is worth the least of them");
	dawdles = false;
}

/*
 * Measurements of code that is as fast as its reference, where processes and blocks spread so: how
 * many intervals hold 1, the median of their half-widths and seconds, and the mean of the pairs.
 */
typedef struct Stays
{
	int			covered;
	double		width;
	double		seconds;
	double		pairs;
} Stays;

#define STAYS	200

static Stays
stays(double start, double processes, double blocks, double truth)
{
	static double width[STAYS];
	static double seconds[STAYS];
	Stays		all = {0};

	start_seconds = start;
	host_spread = processes;
	block_spread = blocks;
	for (int i = 0; i < STAYS; i++)
	{
		seconds[i] = run((uint64_t) (2000 + i), 1e-4, 1e-4 / truth);
		width[i] = measure->result->half_width;
		all.covered += measure->result->lower <= truth && measure->result->upper >= truth;
		all.pairs += (double) measure->result->pairs / STAYS;
	}
	start_seconds = 0.02;
	host_spread = block_spread = 0;
	all.width = cudal1_score_median(width, STAYS);
	all.seconds = cudal1_score_median(seconds, STAYS);
	return all;
}

/*
 * Whole stays leave 3.7 % after 16 s of the first, and 1.7 % after 68 s of the second; shorter ones
 * 2.0 % after 13 s of the first. With looks alone the last would take 14 pairs.
 */
static void
check_stays(void)
{
	Stays		lucky = stays(0.006, 0.06, 0.012, 1);
	Stays		dear = stays(1, 0.02, 0.012, 1);
	Stays		noisy = stays(0.006, 0, 0.05, 1);
	Stays		fast = stays(0.02, 0.06, 0.02, 5);

	check(lucky.covered >= 0.95 * STAYS && dear.covered >= 0.95 * STAYS
		  && noisy.covered >= 0.95 * STAYS && fast.covered >= 0.95 * STAYS,
		  "intervals hold the truth, however long stays in a pair are chosen to be");
	check(lucky.pairs > 50 && lucky.width < 0.025,
		  "where processes differ by luck and start in no time, pairs are short and many");
	check(dear.pairs < 21 && noisy.pairs < 35,
		  "where starts are dear, or rounds noisy, they are long and few");
	check(fast.pairs < 12 && fast.width < 0.05 * log(5),
		  "a look that is not due is not awaited where the width is narrow enough");
}

static void
check_fresh_memory(void)
{
	prepares = 1000;
	run(7, 1e-3, 1e-3);
	check(measure->result->outcome == OUTCOME_SUCCESSFUL && near(measure->result->score, 1, 1e-6),
		  "what may have been filled before the clock ran costs what filling it takes");
	prepares = 0;
}

/* CUDA-L1, 2.4.4: a bucket is the mean of its rounds' ratios, and so many checks are made */
static void
check_paper(void)
{
	Profile		usual = job.profile;
	json_t	   *ratios;
	json_t	   *ratio;
	size_t		i;
	size_t		j;
	bool		same = true;

	job.profile.bucket_estimator = CUDAL1_ESTIMATE_MEAN;
	job.profile.precision_goal = job.profile.half_width_limit = job.profile.budget_factor = 0;
	job.profile.futility_pairs = 0;
	job.profile.min_checks = 1000;
	job.profile.check_seconds = 0.1;
	candidate_sleeps = 0.1;
	run(8, 0.4, 0.05);
	check(compared >= 1000, "the least number of checks is made, however long it takes");
	json_array_foreach(measure->result->samples, i, ratios)
	{
		double		sum = 0;

		json_array_foreach(ratios, j, ratio)
			sum += json_real_value(ratio);
		same = same && near(measure->result->buckets[i], sum / (double) json_array_size(ratios),
							1e-5);
	}
	check(same && measure->result->pairs == 7, "a bucket is the mean of its ratios");
	candidate_sleeps = 0;
	job.profile = usual;
}

static void
check_orders(void)
{
	static Measure m;
	bool		permuted = true;
	bool		reversed = true;
	bool		balanced = true;

	state = 9;
	for (int n = 1; n <= HEAT_MAX; n++)
	{
		Rounds		s = {.m = &m};
		Set			set = {.n = n, .of = {&s}};
		uint8_t    *orders = set_orders(&set, 8);
		int			first = 0;

		for (int r = 0; r < 8; r++)
		{
			uint8_t    *order = orders + r * (n + 1);
			uint64_t	seen = 0;

			for (int i = 0; i <= n; i++)
			{
				seen |= 1ul << order[i];
				reversed = reversed && order[i] == orders[(r ^ 1) * (n + 1) + n - i];
			}
			permuted = permuted && seen == (2ul << n) - 1;
			first += order[0] == 0;
		}
		balanced = balanced && (n > 1 || first == 4);
		free(orders);
	}
	check(permuted, "a round has each side once");
	check(reversed, "each side goes before and after each other equally often");
	check(balanced, "so a reference and one candidate take turns at being first");
}

/* members with this outcome whose score is near what it should be */
static int
good_members(int n, Outcome outcome)
{
	int			good = 0;

	for (int i = 0; i < n; i++)
	{
		const Result *r = &measure->members[i].result;

		good += r->outcome == outcome && (outcome != OUTCOME_SUCCESSFUL
										  || near(r->score * factor[i], 1, 0.01));
	}
	return good;
}

static void
check_sets(void)
{
	double		seconds;
	double		told = 0;

	job.profile.memory_mb = 1;
	seconds = run_heat(1, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && blocks[1] == 8 * blocks[0],
		  "one block of the reference serves all candidates of its round");
	for (int i = 0; i < 8; i++)
		told += measure->members[i].result.device_seconds;
	check(near(told, seconds, 1e-6)
		  && near(8 * measure->members[0].result.device_seconds, told, 0.1),
		  "and its seconds are shared out");
	for (int i = 0; i < 8; i++)
		factor[i] = 0.1 * (i + 1);
	run_heat(2, 4e-3, 4e-3, 8);
	check(wrong == 0 && good_members(8, OUTCOME_SUCCESSFUL) == 8 && 2 * shared > blocks[0],
		  "candidates of other speeds have blocks of other lengths, each compared with its like");
	check(mistold == 0, "and what is shown of each is its own");
	memset(factor, 0, sizeof(factor));
	liar = 3;
	run_heat(3, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 7
		  && measure->members[3].result.outcome == OUTCOME_WRONG_OUTPUT && shared == blocks[0],
		  "code that is wrong leaves, and the others go on together");
	liar = -1;
	awake = 1;
	run_heat(4, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && shared > 0 && shared < blocks[0],
		  "where a process was awake each goes on by itself for a pair, and is not blamed");
	awake = 1000;
	run_heat(5, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && awake == 998 && shared < 4,
		  "and the second time to the end");
	awake = 0;
	slow = 5;
	run_heat(6, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && measure->sets_dissolved == 1
		  && shared > 8 * 7 && blocks[1] > 7 * shared,
		  "code that slows the reference is by itself from then on, and the others are not");
	slow = -1;
	job.profile.memory_mb = 1 << 30;
	added = (size_t) 1 << 60;
	run_heat(7, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && shared == 0 && blocks[0] == blocks[1],
		  "where memory holds no more than two processes each is by itself");
	added = 1 << 20;
	run_heat(8, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && shared == blocks[0],
		  "what code had in its checks counts, not what it may have");
	check(measure->set_bytes > added && alive == 0, "and each may have a share");
	leaver = 2;
	run_heat(9, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && measure->sets_dissolved == 0
		  && shared < blocks[0] && measure->members[2].by_itself,
		  "code that fails in a set is judged by itself, and the others go on together");
	leaver = -1;
	greedy = 4;
	run_heat(10, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && measure->members[4].by_itself
		  && shared == blocks[0] / 2 && measure->sets_dissolved == 0,
		  "code that wants far more than the reference leaves the others their memory");
	greedy = -1;
	added = 0;
	job.profile.memory_mb = 0;
}

int
main(void)
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
	check_orders();
	check_sets();
	check_runs();
	check_budget();
	check_aa();
	check_sizes();
	check_fresh_memory();
	check_paper();
	check_stays();
	return done();
}
