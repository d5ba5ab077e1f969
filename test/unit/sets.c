/*
 * sets.c
 *		Measurements of candidates that share a reference.
 */
#include "made_up.h"

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
	check(side_by_side[true] == 0 && side_by_side[false] == 0,
		  "on a CPU processes start one after the other");
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
	for (int i = 0; i < 4; i++)
		factor[i] = 1 / (4.2 + 0.6 * i);
	run_heat(2, 1e-5, 1e-5, 4);
	check(good_members(4, OUTCOME_SUCCESSFUL) == 4 && shared == blocks[0]
		  && !json_object_get(measure->members[0].result.evidence, "resized"),
		  "those that limit the reference's blocks share them where their speeds are alike");
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
	run_heat(11, 0.1, 0.1, 4);
	check(good_members(4, OUTCOME_SUCCESSFUL) == 4 && shared == blocks[0],
		  "without audits blocks of one run are shared");
	job.profile.audits = 200;
	job.profile.audit_seconds = 1;
	run_heat(12, 0.1, 0.1, 4);
	check(good_members(4, OUTCOME_SUCCESSFUL) == 4 && shared == 0 && blocks[0] == blocks[1]
		  && measure->members[3].result.audits == 0,
		  "where audits bound scores they aren't, because such blocks have none");
	job.profile.audits = 0;
	job.profile.memory_mb = 0;
}

/*
 * Runs of 2 us in blocks that take up to 20 us at random besides, so that only long blocks tell
 * what a run takes, and first times of both sides that are far off
 */
static void
check_misjudged(void)
{
	static const double times[][2] = {{600, 1}, {600, 600}, {1e4, 1}, {1e4, 1e4}, {1, 600},
		{1e-3, 1}, {1, 1e-3}};
	bool		alone = true;
	bool		together = true;

	block_cost = 2e-5;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
	{
		memcpy(misjudged, times[i], sizeof(misjudged));
		run(20 + i, 2e-6, 2e-6);
		alone = alone && good_members(1, OUTCOME_SUCCESSFUL) == 1
			&& !measure->members[0].result.wide;
		run_heat(20 + i, 2e-6, 2e-6, 8);
		together = together && good_members(8, OUTCOME_SUCCESSFUL) == 8 && shared == blocks[0];
		for (int j = 0; j < 8; j++)
			together = together && !measure->members[j].result.wide;
	}
	check(alone, "what was known of runs before the first pair does not keep blocks short");
	check(together, "nor those that a heat shares, which it shares on");
	block_cost = 0;
	misjudged[0] = misjudged[1] = 1;
}

/* rounds that a trap follows, of 100, by all members */
static double
trapped(uint64_t seed, int n)
{
	double		traps = 0;
	double		rounds = 0;

	run_heat(seed, 1e-4, 1e-4, n);
	for (int i = 0; i < n; i++)
	{
		const Result *r = &measure->members[i].result;

		traps += (double) json_integer_value(json_object_get(r->evidence, "traps"));
		rounds += r->rounds;
	}
	return 100 * traps / rounds;
}

/* with audits, several a round */
static void
check_traps(void)
{
	double		alone;
	double		shared_traps;

	spare_core = true;
	job.profile.audits = 2000;
	alone = trapped(8, 1);
	shared_traps = trapped(9, 8);
	check(measure->members[3].result.audits > 2 * measure->members[3].result.rounds
		  && near(alone, 12.5, 0.3) && near(shared_traps, 12.5, 0.3),
		  "traps follow one round in eight, however many audits there are");
	late_at = 1;
	trapped(10, 1);
	check(traps_after_late > 1.5 * alone / 100 * measure->members[0].result.rounds,
		  "and audits as well once an output was late");
	late_at = 0;
	spare_core = false;
}

static void
check_sets_on_gpu(void)
{
	int			pairs;
	bool		each = true;

	on_gpu = true;
	job.profile.memory_mb = 1;
	gpu_left = (size_t) 1 << 30;
	run_heat(1, 1e-3, 1e-3, 8);
	pairs = measure->members[0].result.pairs;
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && blocks[1] == 8 * blocks[0]
		  && most_alive == 8 && alive == 0,
		  "on a GPU one block of the reference serves all candidates of its round as well");
	check(launched[false] == 8 * pairs && side_by_side[true] == launched[false]
		  && first_runs[true] == launched[false] && interrupted == 0,
		  "whose processes begin side by side, once a pair, and so do their first runs");
	check(side_by_side[false] == pairs / 2 && first_runs[false] == pairs / 2
		  && places[0] == pairs / 2,
		  "the reference's among them, in its own memory, where it does not start first");
	for (int i = 1; i <= 8; i++)
		each = each && places[i] == pairs && sampled[i] == drawn;
	check(each && drawn == blocks[0] && misplaced == 0,
		  "each has memory of its own, and samples of each round");
	check(neighbours == 0, "where none slows the reference that meets no other");
	end_seconds = 0.1;
	run_heat(1, 1e-3, 1e-3, 8);
	for (int i = 1; i < 8; i++)
		each = each && near(measure->members[i].result.device_seconds,
							measure->members[0].result.device_seconds, 0.05);
	check(each, "and none pays for the end of all others' processes");
	end_seconds = 0;
	run(1, 1e-3, 1e-3);
	pairs = measure->members[0].result.pairs;
	check(pairs > 2 && launched[false] == pairs && side_by_side[true] == pairs / 2
		  && side_by_side[false] == pairs / 2 && first_runs[false] == pairs / 2 && interrupted == 0,
		  "as beside a single candidate, which starts by itself in every other pair");
	check(timed_again == pairs / 2 && cores_noted == blocks[0],
		  "which tells its time alone then, and elsewhere when the candidate has ended");
	check(measure->members[0].result.rounds < 20 * pairs, "rounds that are steady are few");
	block_spread = 0.05;
	run(1, 1e-3, 1e-3);
	block_spread = 0;
	pairs = measure->members[0].result.pairs;
	check(measure->members[0].result.rounds > 50 * pairs,
		  "and go on for as long as four times those of the profile where they are not");
	block_spread = 0.15;
	run(1, 1e-3, 1e-3 / 0.9);
	pairs = measure->members[0].result.pairs;
	check(launched[true] > 0 && (blocks[0] - measure->members[0].result.rounds) * pairs
		  > 0.9 * measure->members[0].result.rounds * launched[true],
		  "in pairs of the reference with itself as in the candidate's");
	block_spread = 0;
	/* of 1 MiB each, and 1 MiB beside them for slots of 64 bytes */
	gpu_left = (size_t) 6 << 20;
	run_heat(2, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && most_alive == 4 && shared == blocks[0],
		  "where its memory holds fewer they are shared out");
	gpu_left = (size_t) 1 << 20;
	run_heat(3, 1e-3, 1e-3, 3);
	check(good_members(3, OUTCOME_SUCCESSFUL) == 3 && most_alive == 1 && shared == 0,
		  "where it holds no more than two processes each is by itself");
	gpu_left = (size_t) 1 << 30;
	liar = 3;
	run_heat(4, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 7 && shared == blocks[0] && misplaced == 0,
		  "code that is wrong leaves, and the others go on together");
	liar = -1;
	cramped = -2;
	run_heat(9, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && measure->pools_short == MAX_DISSOLVED,
		  "a reference that is slow because its pool is too small is nobody's measure");
	cramped = 5;
	run_heat(10, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && measure->members[5].by_itself
		  && measure->sets_dissolved == 0,
		  "and a member whose pool is too small beside others is measured by itself");
	cramped = -1;
	slow = 5;
	run_heat(5, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && measure->sets_dissolved > 0 && alive == 0,
		  "code that slows the reference dissolves its set");
	check(neighbours > 0 && !beside_candidates,
		  "when the reference has met another, while no candidate lives");
	slow = -1;
	job.profile.audits = 200;
	job.profile.audit_seconds = 1;
	gpu.l2_bytes = 4096;
	stale = generated = 0;
	run_heat(6, 1e-3, 1e-3, 8);
	check(good_members(8, OUTCOME_SUCCESSFUL) == 8 && measure->members[3].result.audits >= 200,
		  "each has audits of its own");
	check(stale == 0, "whose inputs its process has not seen");
	generated = 0;
	run_heat(7, 1e-4, 1e-4, 8);
	check(stale == 0 && generated < 8 * measure->members[3].result.audits,
		  "also where those of several audits are made at once");
	run_heat(8, 0.1, 0.1, 4);
	check(good_members(4, OUTCOME_SUCCESSFUL) == 4 && shared == blocks[0],
		  "blocks of one run are shared there");
	gpu.l2_bytes = 0;
	check_traps();
	job.profile.audits = 0;
	on_gpu = false;
	job.profile.memory_mb = 0;
}

#define HEATS	100

/*
 * Heats of so many members that are as fast as their reference: which of 100 intervals hold 1, of
 * the member whose processes differ more as well, and how many pairs a member has
 */
static void
heats(int n, int *held, int *uneven_held, double *pairs)
{
	*held = *uneven_held = 0;
	*pairs = 0;
	for (int i = 0; i < HEATS; i++)
	{
		run_heat((uint64_t) (3000 + i), 1e-4, 1e-4, n);
		for (int j = 0; j < n; j++)
		{
			const Result *r = &measure->members[j].result;
			bool		holds = r->lower <= 1 && r->upper >= 1;

			*held += holds && j != uneven;
			*uneven_held += holds && j == uneven;
			*pairs += r->pairs / (double) (HEATS * n);
		}
	}
	*held = *held * 100 / HEATS / (uneven < 0 ? n : n - 1);
}

#define HISTORY		16
#define MAX_PAIRS	1000

/*
 * Candidates of a task one after the other, each told what the 16 before it knew of the spread;
 * from half of them on, processes differ `busier` times as much. Which of 100 intervals of either
 * half hold 1, and how many pairs a candidate of the first half has
 */
static void
by_themselves(double busier, int *held, int *busy_held, double *pairs)
{
	double		squares[HISTORY] = {0};
	int			freedom[HISTORY] = {0};

	*held = *busy_held = 0;
	*pairs = 0;
	for (int i = 0; i < 6 * HEATS; i++)
	{
		const Result *r;
		double		logs[MAX_PAIRS];
		bool		holds;

		if (i == 3 * HEATS)
		{
			host_spread *= busier;
			candidate_spread *= busier;
		}
		job.spread = job.spread_freedom = 0;
		for (int j = 0; j < HISTORY; j++)
		{
			job.spread += squares[j];
			job.spread_freedom += freedom[j];
		}
		job.spread = job.spread_freedom > 0 ? sqrt(job.spread / job.spread_freedom) : 0;
		run_heat((uint64_t) (9000 + i), 1e-4, 1e-4, 1);
		r = &measure->members[0].result;
		holds = r->lower <= 1 && r->upper >= 1;
		*(i < 3 * HEATS ? held : busy_held) += holds;
		*pairs += i < 3 * HEATS ? r->pairs / (3.0 * HEATS) : 0;
		for (int k = 0; k < r->pairs; k++)
			logs[k] = log(r->buckets[k]);
		squares[i % HISTORY] = r->pairs * cudal1_score_variance(logs, (size_t) r->pairs);
		freedom[i % HISTORY] = r->pairs - 1;
	}
	job.spread = job.spread_freedom = 0;
	*held /= 3;
	*busy_held /= 3;
	host_spread /= busier;
	candidate_spread /= busier;
}

/*
 * The same where no candidate has yet been measured since processes began to differ more: which of
 * 100 intervals hold 1
 */
static int
first_ones(double busier)
{
	int			held = 0;

	/* a bucket's, of two halves with a process of each side */
	job.spread = sqrt((2 * pow(host_spread, 2) + pow(candidate_spread, 2)) / 2);
	job.spread_freedom = HISTORY;
	host_spread *= busier;
	candidate_spread *= busier;
	for (int i = 0; i < 6 * HEATS; i++)
	{
		const Result *r;

		run_heat((uint64_t) (20000 + i), 1e-4, 1e-4, 1);
		r = &measure->members[0].result;
		held += r->lower <= 1 && r->upper >= 1;
	}
	job.spread = job.spread_freedom = 0;
	host_spread /= busier;
	candidate_spread /= busier;
	return held / 6;
}

static void
check_known_spread(void)
{
	int			held;
	int			busy_held;
	double		pairs;

	by_themselves(1, &held, &busy_held, &pairs);
	printf("# %d of 100, after %.1f pairs\n", held, pairs);
	check(held >= 95 && busy_held >= 95 && pairs < 2.4,
		  "what earlier measurements of the task know is enough for two pairs");
	by_themselves(3, &held, &busy_held, &pairs);
	check(held >= 95 && busy_held >= 93, "also when processes begin to differ more");
	for (int busier = 2; busier <= 8; busier *= 2)
	{
		held = first_ones(busier);
		printf("# %d of 100 where processes differ %d times as much\n", held, busier);
		check(held >= 80, "the first ones lose some, whose measurements are not known yet");
	}
	job.spread = 0.1;
	job.spread_freedom = 40;
	run_heat(1, 1e-4, 1e-4, 1);
	check(measure->members[0].result.pairs > 2 && measure->members[0].result.half_width < 0.02,
		  "and unsteady code before it costs a candidate pairs, and leaves its interval");
	job.budget_seconds = 0.1;
	run_heat(1, 1e-4, 1e-4, 1);
	check(measure->members[0].result.pairs == 3 && measure->members[0].result.half_width < 0.05,
		  "also where its budget leaves none");
	job.budget_seconds = 0;
	job.spread = job.spread_freedom = 0;
}

/* looks and goal as in `train` */
static void
check_spread(void)
{
	Profile		usual = job.profile;
	int			held;
	int			uneven_held;
	double		pairs;

	memcpy(job.profile.looks, (int[]) {2, 3, 4}, 3 * sizeof(int));
	job.profile.pairs = job.profile.futility_pairs = 2;
	job.profile.precision_goal = 0.02;
	job.profile.half_width_limit = 0.05;
	job.profile.memory_mb = 1;
	host_spread = 0.003;
	candidate_spread = 0.003;
	check_known_spread();
	heats(1, &held, &uneven_held, &pairs);
	check(held >= 95 && pairs > 2.8, "by itself code needs three pairs or four for 2 %");
	heats(16, &held, &uneven_held, &pairs);
	check(held >= 95 && pairs < 2.5,
		  "members of a heat know their spread together, and need two or three");
	uneven = 5;
	heats(16, &held, &uneven_held, &pairs);
	check(held >= 95 && uneven_held >= 85 && pairs < 2.6,
		  "one whose processes differ more is found, and does not widen the others' intervals");
	uneven = -1;
	host_spread = candidate_spread = 0.01;
	heats(8, &held, &uneven_held, &pairs);
	check(held >= 95, "also where all differ as much as the goal allows");
	host_spread = candidate_spread = 0;
	job.profile = usual;
}

/* MiB that PyTorch's allocator takes for arrays of so many: more than one of 1 to 10 a segment */
static double
segments(int n, double mib)
{
	int			each = mib >= 10 ? 1 : (int) (20 / mib);

	return mib >= 10 ? n * 2 * ceil(mib / 2) : (n + each - 1) / each * 20.0;
}

/* its own figures, so that those of plan.c are no part of what they are held against */
static void
check_pools(void)
{
	static const double mib[] = {1.01, 2.5, 3.4, 5.1, 6.7, 7.37, 9.99, 10.5, 12, 33};
	static Measure m;
	Rounds		s = {.m = &m, .runs = {61, 150}};
	double		held = INFINITY;
	double		more = 0;
	Member		member = {0};
	Code		code;

	m.job = &job;
	m.gpu = &gpu;
	m.outputs = 1;
	gpu.pool_bytes = (size_t) 40 << 30;
	for (size_t i = 0; i < sizeof(mib) / sizeof(mib[0]); i++)
	{
		double		room;

		m.output[0].bytes = (size_t) (mib[i] * 1048576);
		/* as much as lies before a random start is no room */
		room = plan_pool_room(&s, 2, 0) / 1048576 * 15 / 16;
		held = fmin(held, room / (2 * segments(150, mib[i])));
		more = fmax(more, room / (2 * segments(150, mib[i])));
	}
	printf("# room of %.2f to %.2f times what is taken\n", held, more);
	check(held > 0.98, "a pool holds the outputs of two blocks as they lie in the allocator");
	check(more < 1.1, "and is not much larger");
	/* sixteen of them in the checks, and 1 GiB besides */
	job.language = LANGUAGE_PYTORCH;
	s.member = &member;
	code = (Code) {.pool_used = ((size_t) 16 * 34 + 1024) << 20,.pool_runs = 16};
	member.taken = true;
	held = pool_wanted(&s, &code) / 1048576 * 15 / 16;
	member.taken = false;
	more = pool_wanted(&s, &code) / 1048576 * 15 / 16;
	printf("# %.0f MiB, and %.0f where results come back\n", more, held);
	check(more > segments(150, 33) + 1024 * 1.2 && more < segments(150, 33) + 1024 * 1.6,
		  "what code had besides its outputs is all that a set's pool has more than one block's");
	check(near(held - more, segments(150, 33), 0.01), "or than two, where results are copied");
	gpu.pool_bytes = 0;
	job.language = 0;
}

int
main(void)
{
	begin_profile();
	check_pools();
	check_orders();
	check_spread();
	check_sets();
	check_misjudged();
	check_sets_on_gpu();
	return done();
}
