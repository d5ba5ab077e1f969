/*
 * slowed.c
 *		On a GPU: what halves say of a reference beside a candidate. Luck takes nothing from honest
 *		code, slowing gains nothing. On both: what a reference that meets another is slowed by.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/backend/parts.h"
#include "../../runner/supervisor/timing/baseline.c"
#include "../../runner/supervisor/timing/samples.c"

#include "tap.h"

static Member member;
static const Backend on_gpu = {GPU_NUMBERS};
static Measure measure = {.member = &member, .result = &member.result, .time = member.time,
	.backend = &on_gpu};
static Job	job;
static Rounds s;
static Gpu	gpu;
static double beside;			/* how much slower a reference seems that meets another */
/* how much slower the core is in rounds than before, and gates are from each other than 10 us */
static double core = NAN;
static double pace;
static int	moved;				/* how often code was moved by itself, and by blocks */
static int	moving;

/* processes are none, and blocks of 10 us a run */
/* sets are settled elsewhere */
bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena,
			   uint64_t weight_seed)
{
	return true;
}

void
measure_end(Measure *m, Executor *executor)
{
	(void) m;
}

bool
measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots,
			  const uint64_t *seeds, uint32_t n, double timeout, double *seconds)
{
	moving += !executor->stays;
	*seconds = 0;
	return true;
}

bool
rounds_move(Rounds *s, Half *half, Side side)
{
	moved++;
	return true;
}

double
rounds_timeout(const Rounds *s, Side side, uint32_t n)
{
	return 1;
}

bool
rounds_inputs(Rounds *s, uint32_t n)
{
	return true;
}

bool
rounds_block(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n, uint32_t keep,
			 double *seconds)
{
	*seconds = n * 10e-6 * beside;
	return true;
}

void
executor_init(Executor *executor)
{
	(void) executor;
}

/* what counts of a block on a GPU that took `seconds`, of which reading samples took `reading` */
static double
counted(uint32_t runs, double seconds, double reading)
{
	Half		half = {.executor = {&half.process[0], &half.process[1]},
		.turn = 0.28e-3,.read_turned = 0.08e-3};
	double		found;

	gpu.read_seconds = reading;
	measure.gpu = &gpu;
	found = baseline_counted(&s, &half, runs, seconds, 0.32e-3);
	measure.gpu = NULL;
	return found;
}

static void
begin(double neighbour, double doubt)
{
	free(s.seen.excess.v);
	s = (Rounds) {.m = &measure,.neighbour = neighbour,.doubt = doubt};
}

/*
 * One half: the reference takes 10 us alone and `slower` times that beside the candidate, in the
 * blocks of a round that either starts; both sides are slowed by `host` while they run side by
 * side, and a candidate takes 10 us when nothing slows it.
 */
static void
half(double slower, double host, double *plain, double *capped)
{
	Half		half = {.executor = {&half.process[0], &half.process[1]}};
	Values		alone = {0};

	for (int i = 0; i < 5; i++)
		values_append(&alone, 10e-6 * (1 + 1e-4 * i));
	for (int first = 0; first < 2; first++)
		for (int i = 0; i < 5; i++)
		{
			double		own = 10e-6 * slower * host * (1 + 1e-4 * i);

			values_append(&half.own[first], own);
			values_append(&half.block[SIDE_REFERENCE], own);
			values_append(&half.ratio[first], own / (10e-6 * host));
		}
	for (int i = 0; i < 2 * FEW_LAPS_A_HALF && isfinite(core); i++)
	{
		int			rounds = i >= FEW_LAPS_A_HALF;

		gpu.core_lap = rounds ? core * 1e-6 : 1e-6;
		baseline_note_core(&s, &half.laps[rounds]);
		values_append(&half.pace[rounds], rounds ? pace * 10e-6 : 9e-6);
	}
	s.core = baseline_core_slower(&half, &alone);
	for (size_t i = 0; i < alone.n; i++)
		alone.v[i] *= s.core;
	baseline_cap(&s, &half, &alone);
	*plain = values_median(&half.ratio[0]);
	*capped = values_median(&half.capped[0]);
	for (int first = 0; first < 2; first++)
	{
		free(half.own[first].v);
		free(half.laps[first].v);
		free(half.pace[first].v);
		free(half.ratio[first].v);
		free(half.capped[first].v);
	}
	free(half.block[SIDE_REFERENCE].v);
	free(alone.v);
}

/* `n` halves, of which the first of every `every` has the reference slowed */
static void
halves(int n, int every, double slower)
{
	double		plain;
	double		capped;

	for (int i = 0; i < n; i++)
		half(i % every == 0 ? slower : 1, 1, &plain, &capped);
}

static bool
was_slowed(void)
{
	double		slower;
	double		error;

	return baseline_was_slowed(&s, &slower, &error);
}

/* `n` laps of a core that is slow in every so many of them */
static void
laps(int n, int every, double slow)
{
	Values		noted = {0};

	gpu.nlaps = 0;
	for (int i = 0; i < n; i++)
	{
		gpu.core_lap = i % every == 0 ? slow : 1e-6;
		baseline_note_core(&s, &noted);
	}
	free(noted.v);
}

/*
 * four halves; another guest comes to the core in every other, which the reference, bound by it,
 * shows; code slows that by so much, and what it takes from gate to gate
 */
static void
guests(double slower, double sent)
{
	double		plain;
	double		capped;

	begin(1, 0);
	for (int i = 0; i < 4; i++)
	{
		core = i % 2 ? 1.8 : 1;
		pace = core * sent;
		half(core * slower, 1, &plain, &capped);
	}
}

/* a reference meets another */
static void
meet(double slower)
{
	Half		half = {.executor = {&half.process[0], &half.process[1]}};
	double		usual = 10e-6;
	Values		alone = {.v = &usual,.n = 1};

	beside = slower;
	if (!baseline_meet_neighbour(&s, &half, &alone))
		abort();
}

int
main(void)
{
	static const Backend on_cpu = {HOST_NUMBERS};

	/*
	 * what a host shared with others did to the same code on both sides: beside / alone of 32
	 * halves
	 */
	static const double shared[] = {0.9263, 0.9405, 0.9876, 0.9638, 1.0352, 1.0141, 0.9912, 1.006,
		1.0543, 0.9936, 0.9923, 1.0115, 0.8802, 0.918,
		0.9851, 1.0207, 0.9952, 1.0441, 1.0081, 1.0075, 1.0228, 1.2265, 1.073, 1.0041, 1.0573,
			1.0088, 0.9246, 0.9831, 0.9763, 0.9624,
	0.9712, 1.0009};
	double		plain;
	double		capped;
	double		slower;
	double		error;
	bool		all;

	job.profile.precision_goal = 0.005;
	job.profile.disturbed_factor = 2;
	measure.job = &job;
	measure.gpu = &gpu;

	begin(1, 0);
	half(1, 1, &plain, &capped);
	check(near(plain, 1.0002, 1e-10) && near(capped, 1.0002, 1e-10) && s.seen.slowed == 0,
		  "code that does not slow the reference is not capped");
	half(1.005, 1, &plain, &capped);
	check(near(capped, plain, 1e-10) && s.seen.slowed == 0, "nor code that does within the goal");
	check(!was_slowed(), "and is not found to");

	begin(1, 0);
	half(1.05, 1, &plain, &capped);
	check(!was_slowed(), "one half says nothing");
	for (int i = 0; i < 5; i++)
		half(1.05, 1, &plain, &capped);
	check(baseline_was_slowed(&s, &slower, &error) && near(slower, log(1.05), 1e-10),
		  "code that slows the reference by 5 % in every half is found to");
	check(capped < 1.0103 && plain > 1.05, "and is paid for what any process may do");
	half(1.5, 1, &plain, &capped);
	check(near(capped, 1.0002, 1e-10), "in a half that is much slower for nothing");
	check(plain < 1.12, "whatever is found, no half counts for much more");

	laps(64, 20, 5e-6);
	half(1.8, 1, &plain, &capped);
	check(plain < 1.12, "a core that is held up once in a while is as quick as ever");
	laps(64, 3, 2e-6);
	half(1.8, 1, &plain, &capped);
	check(plain > 1.79, "on one that is slow by turns a half may be as much slower by luck");
	half(3, 1, &plain, &capped);
	check(near(plain, 2 * 1.01, 0.03), "but not more");
	begin(1, 0);
	halves(4, 1, 1.5);
	half(1.5, 1, &plain, &capped);
	check(was_slowed() && capped < 1.011, "and code that slows the reference in all is found");
	begin(1, 0);
	halves(4, 5, 1.5);
	check(!was_slowed() && s.seen.slowed == 1, "one half in five is luck");
	laps(8, 2, 2e-6);
	half(1.8, 1, &plain, &capped);
	check(plain < 1.12, "a few laps say nothing");
	laps(64, 1, NAN);
	half(1.8, 1, &plain, &capped);
	check(gpu.nlaps == 0 && plain < 1.12, "nor does a core whose laps nobody times");

	laps(64, 3, 2e-6);
	guests(1, 1);
	check(!was_slowed() && s.seen.slowed == 0,
		  "a reference on a core that another guest has come to is slowed by that one");
	guests(1.5, 1.5);
	check(was_slowed(), "code that slows it as well is found to");
	guests(1.5, 1);
	check(was_slowed(), "also where its runs are sent as quickly, and wait for the GPU");
	begin(1, 0);
	core = 1.8;
	pace = 0.1;
	for (int i = 0; i < 4; i++)
		half(1.8, 1, &plain, &capped);
	check(was_slowed() && capped < 1.011,
		  "a reference that is not bound by its core is not slowed by it");
	core = pace = 1.05;
	begin(1, 0);
	for (int i = 0; i < 4; i++)
		half(1.05, 1, &plain, &capped);
	check(was_slowed(), "a core that is slower by a little is as it was");
	core = pace = 1.8;
	begin(1, 0);
	half(1, 1, &plain, &capped);
	check(s.core == 1, "nor is one whose reference is no slower");
	laps(64, 3, 1.8e-6);
	pace = 3.6;
	half(3.6, 1, &plain, &capped);
	check(near(plain, 1.8 * 1.1 * 1.01, 0.05), "luck is no more for what the core explains");
	core = NAN;

	begin(1, 0);
	halves(14, 2, 2);
	check(was_slowed() && s.seen.slowed == 7,
		  "code that doubles the reference's time in every other half is found to");
	begin(1, 0);
	halves(14, 4, 3);
	check(was_slowed(), "or in every fourth");
	begin(1, 0);
	halves(14, 7, 20);
	check(was_slowed(), "or, much more, in two of fourteen");
	begin(1, 0);
	for (int i = 0; i < 14; i++)
		half(1.03, i == 0 ? 0.3 : 1, &plain, &capped);
	check(was_slowed(), "one half in which the host was three times as fast hides no code");
	begin(1, 0);
	halves(42, 2, 1.05);
	check(was_slowed(), "or code that slows it by 5 % in every other");

	begin(1, 0);
	all = true;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
	{
		half(1, shared[i], &plain, &capped);
		all = all && (near(plain, 1.0002, 1e-10) || shared[i] > 1.1);
	}
	check(s.seen.slowed > 6 && !was_slowed(),
		  "a host whose speed changes from half to half is not taken for a candidate's doing");
	check(all, "and no half counts for less for it that is not a tenth slower");

	begin(1, 0.03);
	halves(14, 1, 1.03);
	check(!was_slowed(), "3 % are nothing where other references are as far apart");
	begin(1.04, 0.005);
	halves(14, 1, 1.04);
	check(!was_slowed() && s.seen.slowed == 0, "nor 4 % where a reference does as much");
	begin(1.04, 0.005);
	halves(14, 1, 1.09);
	check(was_slowed(), "but 9 % are");

	/* a block's constant cost of 0.32 ms, of which turns of the GPU are 0.28 ms */
	check(near(counted(1, 1.32e-3, 0.15e-3), 1e-3, 1e-9), "a block's constant cost is taken off");
	check(near(counted(1, 0.42e-3, 0.01e-3), 0.38e-3, 1e-9),
		  "but no turns of the GPU that it did not have");
	check(counted(9, 0.2e-3, 0.15e-3) > 3e-5, "nor is next to nothing left of several runs");
	check(counted(1, 0.2e-3, 0.15e-3) > 9e-7, "or of one");
	check(near(baseline_counted(&s, &(Half) {.turn = 0}, 9, 0.2e-3, 0.32e-3), 3.2e-5, 1e-9),
		  "nor on a CPU, of several runs that seem to take less than none");
	measure.gpu = NULL;
	measure.backend = &on_cpu;
	member.result.evidence = json_object();
	begin(0, 0);
	s.settling = 1;
	s.runs[0] = s.runs[1] = 64;
	member.time[0] = member.time[1] = 10e-6;
	meet(0.8);
	check(s.neighbour == 1 && s.nmet == 3, "a reference is no faster beside another than alone");
	s.nmet = 0;
	meet(1.002);
	check(near(s.neighbour, 1.002, 1e-9) && s.nmet == 1,
		  "it meets one other where that slows it by no more than the goal");
	meet(1.9);
	meet(1.9);
	check(near(s.neighbour, 1.9, 1e-9) && s.nmet == 3,
		  "and once more where it seems slowed: the median of all times counts");
	for (int i = 0; i < 9; i++)
		meet(1.9);
	check(s.nmet == MAX_MET, "but not for ever");
	begin(0, 0);
	s.settling = 1;
	s.runs[0] = s.runs[1] = 64;
	meet(1.2);
	check(near(s.neighbour, 1.2, 1e-9) && s.nmet == 3, "three where that does");

	s.nmet = 0;
	moved = moving = 0;
	meet(1.002);
	check(moving > 0, "blocks without runs tell what a block costs that moves its code");
	measure.moves_apart = true;
	s.nmet = 0;
	moved = moving = 0;
	meet(1.002);
	check(moved > 1 && moving == 0,
		  "where blocks are short they move none, which happens before them");
	measure.moves_apart = false;

	job.profile.bucket_estimator = CUDAL1_ESTIMATE_MEAN;
	check(near(counted(9, 0.33e-3, 0.15e-3), 0.33e-3, 1e-9), "a mean of ratios keeps that cost");
	return done();
}
