/*
 * window.c
 *		A window in made-up time: which runs count, and which answers are refused.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

static int	made_up_clock(clockid_t id, struct timespec *t);
static int	made_up_sleep(const struct timespec *t, struct timespec *left);

#define clock_gettime made_up_clock
#define nanosleep made_up_sleep
#include "../../runner/supervisor/time/window.c"
#include "../../runner/supervisor/time/noise.c"
#include "../../runner/supervisor/checks/outputs.c"
#include "../../runner/supervisor/outcome.c"
#include "../../runner/supervisor/heat.c"
#include "../../runner/common/random.c"
#include "../../runner/common/tensor.c"
#include "../../runner/common/text.c"

#include "tap.h"

#define ELEMENTS	64
#define RUNS		64
#define RUN			50e-6		/* seconds of a run that is warm, */
#define BRING		1e-6		/* and of bringing its input, */
#define TIMED		(RUN + BRING)	/* which counts on a CPU */
#define LARGE		300000	/* bytes that results in new memory seem to have */
#define PLACES		6			/* results of PyTorch come where the sixth before lay */

/* what the process of a candidate does */
typedef enum Manner
{
	HONEST,
	HALF,						/* answers when half of its output is there */
	NOTHING,					/* answers and does nothing */
	AHEAD,						/* guesses its inputs, and has its results before their gates */
	OLD,						/* returns earlier results again */
	NOWHERE,					/* names no memory as its result */
	SILENT,						/* does not answer from its tenth run on */
	BUSY,						/* works for a millisecond once an answer is given */
	CLEANS,						/* clears earlier results while it waits at a gate */
	NEW,						/* has memory that no result had for each result */
	QUEUED,						/* its device begins when the gate opens, its CPU stopped or not */
	SHORT,						/* does nothing for a probe */
	LATE,						/* answers roughly, and mends its result before it is stopped */
} Manner;

volatile sig_atomic_t executor_cancelled;

static Job	job;
static Options options;
static Member member;
static Backend backend;
static Measure measure = {.job = &job,.options = &options,.backend = &backend,
	.member = &member,.result = &member.result,.outputs = 2};
static WireControl control[2];
static Process processes[2];
static Pair pair = {.m = &measure,.process = processes,.n = 1,.reads = true};
static char *outputs[2];
static Plan plan = {.runs = RUNS,.dropped = 2,.compared = 2,.compared_most = 4};

static double moment;
static Manner manner;
static float input[RUNS + 1];	/* what each slot of a round has */
static float brought[RUNS];	/* what the process finds there */
static float memory[RUNS][ELEMENTS];	/* of the process under way */
static bool sparse;				/* most of a result is zero */
static uint64_t places = 1000;	/* of results in new memory */
static bool lucky;				/* noise is right in one of 13 runs */
static bool own_memory;			/* results come where earlier ones lay */
static bool stopped;
static int	peeks;				/* of bytes: at a run's end, beneath noise, before the next gate */
static double idle_since;		/* when the device has done all its work */
static uint32_t lost[12];		/* runs in which the supervisor has no core for 5 ms */
static double lost_seconds;
static double slow_first;		/* times as long as others, that a first run takes */
static int	stops;
static uint32_t answered;		/* the last run */
static uint32_t runs[2];		/* of each side, in a round */

static int
made_up_clock(clockid_t id, struct timespec *t)
{
	t->tv_sec = (time_t) moment;
	t->tv_nsec = (long) ((moment - (double) t->tv_sec) * 1e9);
	return 0;
}

static int
made_up_sleep(const struct timespec *t, struct timespec *left)
{
	moment += (double) t->tv_sec + 1e-9 * (double) t->tv_nsec;
	return 0;
}

static bool
is_candidate(const Executor *executor)
{
	return executor == &processes[1].executor;
}

static float *
result_of(uint32_t run)
{
	return memory[own_memory ? run % PLACES : run];
}

/* an element of the result for the input of a slot */
static float
right(uint32_t slot, int i)
{
	if (sparse && i % 16 != (int) slot % 16)
		return 0;
	return brought[slot] + (float) i;
}

/* elements from `from` on of a run's result */
static void
work(uint32_t run, int from, int to)
{
	for (int i = from; i < to; i++)
		result_of(run)[i] = right(run, i);
}

/* the backend */

static bool
prepare(Measure *m, const Arena *arena, Side side, uint32_t n)
{
	for (uint32_t slot = 0; slot < n; slot++)
		for (int i = 0; i < ELEMENTS; i++)
			memory[slot][i] = lucky && slot % 13 == 0 ? input[slot] + (float) i
				: -1e6f - (float) random_below(&measure.random, 1000);
	for (uint32_t slot = 0; slot < n; slot++)
		brought[slot] = -1;
	return true;
}

static bool
bring(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	brought[slot] = input[slot];
	/* an array that is an output, too, comes to where that lies */
	for (int i = 0; i < ELEMENTS && m->inputs.comes_in[0]; i++)
		memory[slot][i] = input[slot];
	moment += BRING;
	return true;
}

static void
unstage(Measure *m, const Arena *arena, uint32_t slot)
{
	brought[slot] = -1;
}

static uint64_t
element(Measure *m, Executor *executor, const Arena *arena, uint32_t run, int output, uint64_t at)
{
	return is_candidate(executor) && manner == NOWHERE ? 0
		: (uint64_t) (uintptr_t) &result_of(is_candidate(executor) && manner == OLD && run > 8
											? run - PLACES + 1 : run)[at];
}

static bool
peek(Measure *m, Executor *executor, const uint64_t *address, int n, size_t size, uint64_t *value)
{
	memset(value, 0, (size_t) n * sizeof(*value));
	if (size == 1 && n > 0 && is_candidate(executor) && ++peeks % 3 == 0 && manner == CLEANS)
		memset(memory, 0, sizeof(memory));
	for (int i = 0; i < n; i++)
		memcpy(&value[i], (const void *) (uintptr_t) address[i], size);
	return true;
}

static bool
poke(Measure *m, const uint64_t *address, int n, size_t size)
{
	for (int i = 0; i < n; i++)
		memset((void *) (uintptr_t) address[i], 0x55, size);
	return true;
}

static bool
overwrite(Measure *m, Executor *executor, uint32_t run, int output, WireStretch *stretch)
{
	static uint64_t next;
	uint64_t	at = (uint64_t) (uintptr_t) result_of(run);

	*stretch = (WireStretch) {at, output == 0 ? at + sizeof(memory[0]) : at};
	if (output > 0)
		return true;
	if (is_candidate(executor) && manner == NEW)
	{
		next = (next + 1) % places;
		*stretch = (WireStretch) {next << 20, (next << 20) + LARGE};
	}
	else
		memset(result_of(run), 0x55, sizeof(memory[0]));
	return true;
}

static bool
rests(Measure *m, bool *rest)
{
	*rest = moment >= idle_since;
	moment = fmax(moment, idle_since) + 150e-6;
	return true;
}

static bool
read_output(Measure *m, Executor *executor, const Arena *arena, uint32_t slot, int output,
			void *out)
{
	memcpy(out, result_of(slot), output == 0 ? ELEMENTS * sizeof(float) : 0);
	return true;
}

static bool
compare_outputs(Measure *m, const void *expected, const void *found, int output,
		const Tolerance *tolerance, Comparison *result)
{
	*result = (Comparison) {.equal = memcmp(expected, found, ELEMENTS * sizeof(float)) == 0};
	return true;
}

static double
element_of(Measure *m, const void *array, uint32_t dtype, uint64_t at)
{
	return ((const float *) array)[at];
}

/* the process */

ExecutorResult
executor_begin_window(Executor *executor, uint32_t runs, uint32_t flags, double timeout)
{
	stopped = false;
	moment += 1e-3;
	executor->last.begun = moment;
	for (uint32_t run = 0; run < runs && is_candidate(executor) && manner == AHEAD; run++)
		for (int i = 0; i < ELEMENTS; i++)
			memory[run][i] = input[run] + (float) i;
	return EXECUTOR_OK;
}

bool
courier_deliver(Pair *of, Process *process, uint32_t run, double *opened)
{
	bring(of->m, &process->arena, process->side, run);
	*opened = moment;
	executor_open_gate(&process->executor, run + 1);
	return executor_thaw(&process->executor) == EXECUTOR_OK;
}

void
executor_open_gate(Executor *executor, uint32_t gate)
{
	if (is_candidate(executor) && manner == QUEUED)
		work(gate - 1, 0, ELEMENTS);
}

bool
executor_await_run(Executor *executor, uint32_t run)
{
	double		seconds = RUN * (run == 0 ? slow_first : run == 1 ? sqrt(slow_first) : 1);
	Manner		does = is_candidate(executor) ? manner : HONEST;

	if (stopped || (does == SILENT && run >= 10))
		return false;
	if (does == HALF)
		seconds /= 2;
	if (does == SHORT && brought[run] < 0)
		does = NOTHING;
	if (does == NOTHING || does == AHEAD || does == OLD)
		seconds = 1e-6;
	if (does == BUSY)
		idle_since = moment + seconds + 1e-3;
	if (does == HALF)
		work(run, 0, ELEMENTS / 2);
	else if (does != NOTHING && does != AHEAD && does != OLD)
		work(run, 0, ELEMENTS);
	answered = run;
	runs[is_candidate(executor)]++;
	for (int i = 0; does == LATE && i < ELEMENTS; i++)
		result_of(run)[i] += 0.5f;
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (lost[i] == run)
		{
			moment += 5e-3;
			lost_seconds += 5e-3;
		}
	moment += seconds;
	return true;
}

ExecutorResult
executor_end_window(Executor *executor, bool all)
{
	stopped = true;
	return all ? EXECUTOR_OK : EXECUTOR_TIMEOUT;
}

ExecutorResult
executor_freeze(Executor *executor)
{
	if (is_candidate(executor) && manner == LATE)
		work(answered, 0, ELEMENTS);
	stops++;
	stopped = true;
	return EXECUTOR_OK;
}

ExecutorResult
executor_thaw(Executor *executor)
{
	stopped = false;
	return EXECUTOR_OK;
}

void
executor_read_usage(const Executor *executor, Reading *reading, bool whole)
{
	*reading = (Reading) {.wall = reading->wall,.own_delay = whole ? lost_seconds : 0};
}

double
reading_seconds(const Executor *executor, const Reading *from, const Reading *to)
{
	return to->wall - from->wall;
}

int
executor_count_written(const Executor *executor, const uint64_t *address, int n)
{
	return n;
}

void
log_read(int fd, bool end, char *text, size_t size)
{
}

/* the measurement */

double
measure_run_limit(const Measure *m, Side side)
{
	return 1;
}

bool
measure_generate(Measure *m, Arena *arena, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		input[i] = 100 * (float) random_below(&m->random, 100000);
	return true;
}

static uint32_t made;			/* probes */
static uint32_t kinds;			/* bits of the first ones' kinds */

/* A probe is an input below 0. */
bool
probes_make(Measure *m, Arena *arena, ProbeKind kind, double scale, uint32_t from, uint32_t to,
			bool *changed)
{
	input[to] = -2 - input[from];
	kinds += made++ < PROBE_INPUTS ? 1u << kind : 0;
	return true;
}

bool
probes_compare(Measure *m, const Probe *probe, const char *expected, const char *found,
			   bool in_window)
{
	return in_window && measure_compare(m, expected, found);
}

static bool
copy_inputs(Measure *m, const Arena *arena, uint32_t from, uint32_t to)
{
	input[to] = input[from];
	return true;
}

/* what the backend is: C on a CPU, PyTorch there, or CUDA */
static void
become(bool pytorch, bool gpu)
{
	static const ArrayCalls arrays = {.compare = compare_outputs,.copy = copy_inputs,
	.element = element_of};

	own_memory = pytorch;
	backend = (Backend) {.prepare = prepare,.bring = bring,.element = element,.peek = peek,
		.module = pytorch,.poke = pytorch && gpu ? poke : NULL,
		.overwrite = pytorch && !gpu ? overwrite : NULL,.rests = gpu ? rests : NULL,
		.read = read_output,.arrays = &arrays,.unstage = unstage};
}

/* a round of both sides; the outcome of the candidate, or the reference's as OUTCOME_UNVERIFIED */
static Outcome
round_of(Manner of)
{
	bool		good;

	json_decref(member.result.evidence);
	member.result = (Result) {.evidence = json_object()};
	manner = of;
	idle_since = 0;
	stops = peeks = processes[1].touched = runs[0] = runs[1] = 0;
	processes[1].nstretches = processes[1].spread = 0;
	processes[1].looked[0] = processes[1].prepared[0] = 0;
	good = window_draw(&pair, &plan, &processes[1]);
	for (int i = 0; good && i < 2; i++)
		good = window_run(&pair, &processes[i]);
	good = good && window_compare(&pair, &processes[1]);
	return good ? OUTCOME_SUCCESSFUL : member.result.outcome;
}

static bool
has(const char *name, const char *value)
{
	const char *found = json_string_value(json_object_get(member.result.evidence, name));

	return found && strcmp(found, value) == 0;
}

/* whether each of `n` rounds ends so */
static bool
always(Manner of, Outcome outcome, int n)
{
	for (int i = 0; i < n; i++)
		if (round_of(of) != outcome)
		{
			printf("# %d: %s\n", (int) member.result.outcome, member.result.detail);
			return false;
		}
	return true;
}

/* whether about half of the rounds end by this detector, and the others well */
static bool
detected_by(const char *detector, Manner of)
{
	int			n = 0;

	for (int i = 0; i < 100; i++)
		if (round_of(of) == OUTCOME_CHEAT && has("detector", detector))
			n++;
		else if (member.result.outcome != OUTCOME_NONE)
			return false;
	return n > 30 && n < 70;
}

static void
check_counting(void)
{
	slow_first = 100;
	check(always(HONEST, OUTCOME_SUCCESSFUL, 20) && near(processes[0].seconds, TIMED, 1e-3)
		  && near(processes[1].seconds, TIMED, 1e-3),
		  "the first two runs of a window do not count");
	check(near(processes[1].above, RUN * (100 + 10 - 2), 1e-3),
		  "what they take longer is known");
	/* of the mean that long runs have, the slowest are left out anyway */
	slow_first = 0.01;
	pair.trims = true;
	round_of(HONEST);
	check(near(processes[1].seconds, TIMED, 1e-3), "nor where they are quick");
	slow_first = 100;
	for (uint32_t i = 0; i < 12; i++)
		lost[i] = 4 * i;
	round_of(HONEST);
	check(near(processes[1].seconds, TIMED, 1e-3)
		  && near(processes[1].above, RUN * (100 + 10 - 2), 1e-3),
		  "nor does a run in which the supervisor has lost its core, but for what else was long");
	slow_first = 1;
	pair.reads = false;
	round_of(HONEST);
	check(processes[1].seconds > 2 * RUN,
		  "of runs too short to read the kernel's accounts that is not known");
	pair.reads = true;
	pair.trims = false;
	memset(lost, 0xff, sizeof(lost));
	plan.runs = RUNS / 4;
	check(always(HONEST, OUTCOME_SUCCESSFUL, 50) && runs[0] == RUNS / 4 && runs[1] == RUNS,
		  "a quick candidate has more runs, of which the reference makes some");
	check(always(HALF, OUTCOME_WRONG_OUTPUT, 50), "and no code can know of which");
	plan.runs = RUNS;
}

static void
check_answers(void)
{
	become(false, false);
	check(always(HALF, OUTCOME_WRONG_OUTPUT, 50),
		  "code that answers when half of its output is there is found out in each round");
	check(always(NOTHING, OUTCOME_WRONG_OUTPUT, 20), "and code that does nothing");
	check(always(NOWHERE, OUTCOME_WRONG_OUTPUT, 1) && has("cause", "memory"),
		  "a result that lies nowhere is wrong");
	measure.tolerance[0].atol = measure.tolerance[0].share = 1;
	while (round_of(LATE) == OUTCOME_SUCCESSFUL && pair.round.compared == 0)
		continue;
	check(has("cause", "unfinished"), "so is one that is mended after it was read at once");
	measure.tolerance[0].atol = measure.tolerance[0].share = 0;
	check(always(SILENT, OUTCOME_TIMEOUT, 1), "code that does not answer has its limit of time");
	check(always(AHEAD, OUTCOME_CHEAT, 20) && has("detector", "prepared"),
		  "results that are there before their gates are refused, though they are right");
	measure.facts.probes = 1;
	check(!always(SHORT, OUTCOME_SUCCESSFUL, 20), "some of the compared runs have a probe");
	for (int i = 0; i < PROBE_INPUTS; i++)
		measure.facts.probe[i].kind = (ProbeKind) i;
	measure.facts.probes = PROBE_INPUTS;
	for (made = kinds = member.met = 0; made < PROBE_INPUTS;)
		window_draw(&pair, &plan, &processes[1]);
	check(kinds == (1u << PROBE_INPUTS) - 1, "a candidate meets each kind before any twice");
	measure.facts.probes = 0;
	lucky = true;
	check(always(HONEST, OUTCOME_SUCCESSFUL, 50), "noise may be right by chance");
	lucky = false;
	become(true, false);
	check(always(HONEST, OUTCOME_SUCCESSFUL, 50), "results may come where earlier ones lay");
	check(always(OLD, OUTCOME_WRONG_OUTPUT, 20), "but earlier results are none");
	check(always(CLEANS, OUTCOME_CHEAT, 20) && has("detector", "prepared"),
		  "and no result is made while a process waits");
	check(always(NEW, OUTCOME_WRONG_OUTPUT, 20) && has("cause", "new_memory"),
		  "results do not keep coming in new memory");
	places = 16;
	check(always(NEW, OUTCOME_SUCCESSFUL, 1), "but wander through some megabytes");
	sparse = true;
	check(always(HONEST, OUTCOME_SUCCESSFUL, 50), "zeros may lie where zeros lay");
	sparse = false;
}

/* whether an element may be so when a run has answered */
static bool
may_be(float found, float expected)
{
	uint64_t	value[2] = {0};
	double		excused = 0;

	memcpy(&value[0], &expected, sizeof(expected));
	memcpy(&value[1], &found, sizeof(found));
	member.result.outcome = OUTCOME_NONE;
	return measure_agree_at(&measure, 0, 0, &value[0], &value[1], &excused);
}

static void
check_bringing(void)
{
	become(false, false);
	pair.stops = true;
	check(always(HONEST, OUTCOME_SUCCESSFUL, 1) && stops == 2 * (RUNS + (int) pair.round.compared),
		  "where an input is dear to bring the process is stopped meanwhile");
	pair.stops = false;
	check(always(HONEST, OUTCOME_SUCCESSFUL, 1) && stops == 2 * (int) pair.round.compared,
		  "else for an output that is compared");
}

static void
check_device(void)
{
	become(false, true);
	check(always(HONEST, OUTCOME_SUCCESSFUL, 100),
		  "on a device honest code passes hand tests and rest probes");
	check(detected_by("hand", QUEUED), "work that begins while its process is stopped is refused");
	check(detected_by("rest", BUSY), "and a device that goes on when the run has answered");
	measure.environment = json_pack("{s:i}", "foreign_processes", 1);
	for (int i = 0; i < 50 && always(BUSY, OUTCOME_SUCCESSFUL, 1); i++)
		continue;
	check(member.result.outcome == OUTCOME_UNVERIFIED, "but it may be at work for others");
	json_decref(measure.environment);
	measure.environment = NULL;
	measure.inputs.comes_in[0] = true;
	check(always(HONEST, OUTCOME_SUCCESSFUL, 100),
		  "an output that comes with the input moves by that in a hand test");
	measure.inputs.comes_in[0] = false;
	pair.round.hand = pair.round.probed = UINT32_MAX;
	become(false, false);
	check(always(BUSY, OUTCOME_SUCCESSFUL, 1) && pair.round.hand == UINT32_MAX
		  && pair.round.probed == UINT32_MAX, "neither is asked of a CPU, whose work stops");
}

int
main(void)
{
	RandomKey	key = {{1, 2, 3}};

	random_seed(&measure.random, &key);
	measure.output[0] = (Tensor) {.dtype = WIRE_FLOAT32,.ndim = 1,.shape = {ELEMENTS},
		.elements = ELEMENTS,.bytes = ELEMENTS * sizeof(float)};
	measure.output[1] = (Tensor) {.dtype = WIRE_FLOAT32,.ndim = 1};
	measure.output_bytes = ELEMENTS * sizeof(float);
	measure.tolerance[0] = (Tolerance) {.scale = 1,.widen = 1};
	for (int i = 0; i < 2; i++)
	{
		outputs[i] = calloc(COMPARED_MOST, measure.output_bytes);
		processes[i] = (Process) {.side = (Side) i,.runs = RUNS,.member = i == 1 ? &member : NULL,
			.outputs = outputs[i],
			.executor = {.control = &control[i],.log_fd = -1,.hostile = i == 1}};
		/* The second output has no elements. */
		control[i].tensors = 2;
		for (uint32_t k = 0; k < 2 * RUNS; k++)
			control[i].table[k] = (WireTensor) {0, WIRE_FLOAT32, 1, {k % 2 ? 0 : ELEMENTS}, {1}};
	}
	memset(lost, 0xff, sizeof(lost));
	slow_first = 1;
	become(false, false);
	check_counting();
	check_answers();
	check_bringing();
	check_device();
	measure.tolerance[0] = (Tolerance) {.rtol = 1e-3,.scale = 1,.share = 0.05,.widen = 1,
		.base = 1000};
	check(may_be(1000.5f, 1000.7f), "an element may be off by a few tolerances");
	check(!may_be(1000, 1001), "but by no more than its signal, however large its base is");
	free(outputs[0]);
	free(outputs[1]);
	json_decref(member.result.evidence);
	return done();
}
