/*
 * audit.c
 *		What an audit is: one run, by its CPU time. Its input is staged while the process is
 *		stopped, or waits at a gate, and no other's is. Spells of either side have the same
 *		inputs, all outputs are compared, and nothing of a run stays where the other side could
 *		find it. And what is planned of them.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/backend/parts.h"
#include "../../runner/supervisor/timing/audit.c"
#include "../../runner/supervisor/timing/samples.c"

#include "tap.h"

#define SLOTS	64
#define BYTES	32
#define EMPTY	40e-6			/* CPU seconds of a block without runs */

static Job	job;
static WireControl control;
static Member member;
static const Backend backend = {.cold_seconds = 2e-6, HOST_NUMBERS};
static Measure measure = {.job = &job, .backend = &backend, .time = member.time,
	.output_bytes = BYTES};
static uint32_t order[SLOTS];
static uint64_t seeds[SLOTS];
static char kept[2][SLOTS * BYTES];
static Rounds s;
static Half half = {.executor = {&half.process[0], &half.process[1]}};

static int	inputs;				/* made for the spell under way */
static int	turns;				/* of a side, in it */
static Side last;
static int	staged;				/* since the last block */
static uint32_t staged_slot;
static bool	there[SLOTS];		/* slots in which something of a run still is */
static int	left;				/* how many */
static int	runs[2];
static uint32_t ran[2][SLOTS];	/* slots, in order */
static bool good;				/* so far, all was as it should be */
static int	idle;				/* blocks in which no code is called */
static int	attentive;			/* blocks for which the supervisor did not sleep */
static int	compared;
static int	reads;				/* outputs read */
static double candidate_run;
static double filling;			/* of the candidate's outputs where none lay before */

double
rounds_timeout(const Rounds *of, Side side, uint32_t n)
{
	return 1;
}

bool
measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	inputs = (int) n;
	turns = runs[0] = runs[1] = 0;
	for (uint32_t i = 0; i < n; i++)
		good = good && slots[i] == i;
	good = good && !arena->direct;
	return true;
}

bool
measure_stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	good = good && left == (s.gated && staged > 0) && !arena->direct && n == 1;
	staged++;
	left++;
	there[slots[0]] = true;
	staged_slot = slots[0];
	return true;
}

void
measure_unstage(Measure *m, Arena *arena, uint32_t slot)
{
	left -= there[slot];
	there[slot] = false;
}

bool
rounds_move(Rounds *s, Half *half, Side side)
{
	return true;
}

bool
measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots,
			  const uint64_t *seed, uint32_t n, double timeout, double *elapsed)
{
	good = good && n <= (s.gated ? 2 : 1) && staged == (n > 0);
	good = good && (n == 0 || (staged_slot == slots[0] && seed[0] == seeds[slots[0]]));
	if (executor->gate)
	{
		control.seeds[1] = 0;
		good = good && n == 2 && seed[1] == 0 && slots[0] != slots[1] && !there[slots[1]];
		executor->gate->open(executor->gate->context);
		good = good && staged_slot == slots[1] && control.seeds[1] == seeds[slots[1]];
	}
	staged = 0;
	attentive += executor->attentive;
	idle += executor->idle;
	if (n > 0 && !executor->idle)
	{
		turns += turns == 0 || side != last;
		last = side;
		ran[side][runs[side]++] = slots[n - 1];
	}
	if (executor->gate && executor->gate->close)
		executor->gate->close(executor->gate->context);
	/* what sleeping and being woken takes comes and goes */
	*elapsed = 1e-3 * (double) (1 + inputs % 7);
	executor->worked = EMPTY + (n == 0 ? 0 : executor->idle ? 15e-6
								: side == SIDE_CANDIDATE ? candidate_run : 100e-6);
	return true;
}

bool
measure_read(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
			 uint32_t slot, void *out)
{
	int			i = runs[side] - 1;

	good = good && left == 1 + s.gated && there[slot] && run == 0 && slot == ran[side][i]
		&& out == kept[side] + i * BYTES && (executor->gate != NULL) == s.gated;
	reads++;
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
	return executor == half.executor[SIDE_CANDIDATE] ? filling : 0;
}

bool
rounds_compare(Rounds *of, uint32_t keep)
{
	good = good && left == 0 && (int) keep + s.gated == inputs && runs[0] == (int) keep
		&& runs[1] == (int) keep
		&& memcmp(ran[0], ran[1], keep * sizeof(uint32_t)) == 0;
	compared += (int) keep;
	return true;
}

/* what is not tried here */
uint64_t
random_next(RandomStream *stream)
{
	static uint64_t last;

	return ++last;
}

static void
plan(double run, uint32_t slots, uint32_t kept_max, int audits, double seconds)
{
	measure.time[0] = measure.time[1] = run;
	job.profile = (Profile) {.audits = audits,.audit_seconds = seconds,.pairs = 7,
		.audit_margin = 0.25};
	s.runs[0] = s.runs[1] = slots;
	s.slots = slots;
	s.kept_max = kept_max;
	audit_plan(&s);
}

static void
check_plan(void)
{
	plan(10e-6, SLOTS, 64, 400, 1);
	check(s.audits_a_half * (int) s.spell >= 28 && s.audits_a_half * (int) s.spell <= 40,
		"the profile's audits are spread over the halves of its pairs");
	check(s.spell == SPELL, "in whole spells");
	plan(10e-3, 2, 64, 400, 0.1);
	check(s.spell == 1 && s.audits_a_half == 1, "of long runs few, one at a time");
	plan(1e-3, 4, 3, 400, 1);
	check(s.spell == 3, "a spell has no more than can be kept");
	plan(1e-3, 4, 64, 400, 1);
	check(s.spell == 4, "nor than there are slots");
	plan(1e-3, 1, 64, 400, 1);
	check(s.audits_a_half == 0, "where a block is one run there are none");
	plan(1e-3, SLOTS, 64, 0, 1);
	check(s.audits_a_half == 0, "nor where none are wanted");
}

/* of PyTorch: a run whose input comes while its process waits for it */
static void
check_gated(void)
{
	job.language = LANGUAGE_PYTORCH;
	plan(100e-6, SLOTS, 64, 400, 1);
	check(s.gated == s.attentive, "a supervisor with a core of its own opens gates");
	s.attentive = s.gated = true;
	s.spell = SPELL;
	half.executor[0]->control = half.executor[1]->control = &control;
	half.executor[SIDE_CANDIDATE]->hostile = true;
	half.audited = false;
	s.audit_more.n = s.audit[0].n = s.audit_idle.n = 0;
	compared = reads = 0;
	good = true;
	check(audit_spell(&s, &half, true) && good && left == 0 && compared == 2 * SPELL,
		  "input and seed of a run behind a gate come when the run before it is done");
	check(reads == 4 * SPELL, "its output is read before the process goes on");
	check(!half.executor[0]->gate && !half.executor[1]->gate, "and no other block has a gate");
	check(fabs(values_median(&s.audit_more) + 70e-6 - BYTES * COPYING) < 1e-12
		  && fabs(values_median(&s.audit[0]) - 100e-6 - EMPTY) < 1e-12,
		  "the candidate is charged with what it could have written before");
	check(!s.stops, "and is not stopped for what is brought at once");
	measure.input_slot_bytes = 1 << 16;
	plan(2e-3, SLOTS, 64, 400, 1);
	check(s.gated == s.attentive && !s.stops, "nor for inputs, unless a run is short");
	plan(100e-6, SLOTS, 64, 400, 1);
	check(s.gated == s.attentive && s.stops,
		  "inputs that take long to bring come while a process is stopped at its gate");
	measure.input_slot_bytes = 1 << 24;
	plan(900e-6, SLOTS, 64, 400, 1);
	check(s.gated == s.attentive && s.stops, "large ones, too");
	plan(1e-3, SLOTS, 64, 400, 1);
	check(!s.gated, "but not of a run beside which the executor's own work is little");
	measure.repeated = 0.25;
	check(fabs(written_before(&s) - BYTES * COPYING / 2) < 1e-15,
		  "then the candidate is charged with what is the same in two outputs");
	measure.input_slot_bytes = 0;
	measure.output_bytes = 1 << 19;
	measure.repeated = 1;
	plan(100e-6, SLOTS, 64, 400, 1);
	check(s.gated == s.attentive && !s.stops, "no process is stopped for what it writes");
	check(fabs(written_before(&s) - CHARGE_MOST * backend.cold_seconds) < 1e-12,
		  "nor is it charged with more than the margin, that right code is paid what it was");
	measure.input_slot_bytes = 10000;
	check(fabs(written_before(&s) - CHARGE_MOST * backend.cold_seconds + 1e-6) < 1e-12,
		  "of which the bringing of its input is a part");
	measure.input_slot_bytes = 0;
	plan(1e-3, SLOTS, 64, 400, 1);
	check(!s.gated, "results of a long run that take long to write have no gate");
	measure.output_bytes++;
	plan(100e-6, SLOTS, 64, 400, 1);
	check(!s.gated, "nor are larger results than caches hold");
	measure.output_bytes = BYTES;
	measure.repeated = 0;
}

int
main(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
	{
		order[i] = (i * 5 + 3) % SLOTS;
		seeds[i] = 1000 + i;
	}
	s = (Rounds) {.m = &measure,.order = order,.seeds = seeds,.kept = {kept[0], kept[1]}};
	check_plan();
	plan(100e-6, SLOTS, 64, 400, 1);
	good = true;
	s.attentive = s.arena.direct = true;
	check(audit_empty(&s, &half) && good && half.empty_single == EMPTY,
		"what an audit costs besides its run is the reference's CPU time");
	attentive = 0;
	candidate_run = 30e-6;
	for (int i = 0; i < 10; i++)
	{
		good = audit_spell(&s, &half, i % 2 == 0) && good;
		good = good && turns == 2 && last == (i % 2 == 0 ? SIDE_CANDIDATE : SIDE_REFERENCE);
	}
	check(good, "each run is a block of its own, its input and no other's there since just before");
	check(s.arena.direct, "also where inputs of blocks are made in place");
	check(compared == 11 * SPELL, "every output of an audit is compared");
	check(idle == 10 * SPELL && left == 0 && !half.executor[0]->idle
			&& s.audit_idle.n == (size_t) s.audits
			&& fabs(values_median(&s.audit_idle) - 15e-6) < 1e-12,
		"after each spell that counts, the reference's process tells what takes no code");
	check(attentive == 32 * SPELL && !half.executor[0]->attentive && !half.executor[1]->attentive,
		"the supervisor does not sleep meanwhile, and sleeps elsewhere");
	check(s.audits == 10 * (SPELL - 1) && fabs(values_median(&s.audit_more) + 70e-6) < 1e-12
			&& fabs(values_median(&s.audit[0]) - 100e-6) < 1e-12,
		"what counts is the CPU time of runs, but the first of a spell, and the first spell");
	filling = 40e-6;
	s.audit_more.n = 0;
	good = true;
	check(audit_spell(&s, &half, true) && good
		  && fabs(values_median(&s.audit_more) + 30e-6) < 1e-12,
		  "with what outputs take that may have been filled before");
	filling = 0;
	check_gated();
	free(s.audit[0].v);
	free(s.audit[1].v);
	free(s.audit_more.v);
	free(s.audit_idle.v);
	return done();
}
