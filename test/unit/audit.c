/*
 * audit.c
 *		What audits look at: places of every run's outputs before the next run may begin, and again when all have ended; and which
 *		inputs are false until then.
 */
#define _GNU_SOURCE
#include "../../runner/executor.c"
#include "../../runner/tensor.c"

#include "executor_alone.h"
#include "tap.h"

#define RUNS	6
#define SAMPLE	2
#define SLOTS	(2 * RUNS)
#define ROWS	4
#define COLUMNS	32
#define GAP		5000
#define TIMES	2000

static ExecutorResult simulated(Executor *executor, uint32_t op, uint32_t runs, uint32_t flags,
								void (*between) (void *context, uint32_t run, uint32_t runs), void *context, double timeout, double *elapsed);

/* audit.c's runs are made here, without a process */
#define executor_gated simulated
#include "../../runner/audit.c"

static Job	job = {.signature = {.arguments = 1,.argument = {{.role = ROLE_OUT}}}};
static Measure measure = {.job = &job,.outputs = 1,.output = {{.dtype = WIRE_FLOAT32,.ndim = 2,.shape = {ROWS, COLUMNS}}}};
static Arena arena = {.slots = SLOTS,.output_slot_bytes = ROWS * COLUMNS * sizeof(float)};
static Executor executor;
static float memory[RUNS * ROWS * COLUMNS];
static float out[ROWS * COLUMNS];
static bool late;			/* all runs but the one that is compared come after their answer */
static bool at_end;
static float inputs[SLOTS * COLUMNS];
static float truths[SLOTS * COLUMNS];
static int	false_runs;			/* whose inputs are not theirs before their turn */
static int	untrue_runs;		/* nor in it */
static int	told_runs;			/* whose first number another run's input shows before */
static int	whole_reads;
static int	early_reads;		/* of a whole output, before all runs have ended */
static Outcome outcome;
static uint64_t lot;

/* what is not tried here */
ProcessState
stopped_look(int stat_fd)
{
	abort();
}

bool
stopped_threads(pid_t pid)
{
	abort();
}

void
stopped_noted(int pidfd, int stat_fd, pid_t pid, bool hostile)
{
	abort();
}

void
stopped_released(int pidfd)
{
	abort();
}

void
stopped_ended(int pidfd)
{
	abort();
}

StoppedVerdict
stopped_check(void)
{
	abort();
}

uint64_t
random_next(RandomStream *stream)
{
	lot = lot * 6364136223846793005u + 1442695040888963407u;
	return lot >> 24;
}

uint64_t
random_below(RandomStream *stream, uint64_t n)
{
	return random_next(stream) % n;
}

bool
measure_stage(Measure *m, Arena *slots_of, Side side, const uint32_t *slots, uint32_t n)
{
	return true;
}

bool
measure_failed(Measure *m, Side side, Executor *failed, ExecutorResult result, const char *when)
{
	if (result == EXECUTOR_FORGED)
		outcome = OUTCOME_CHEAT;
	return result == EXECUTOR_OK;
}

bool
conclude(Measure *m, Outcome concluded, const char *format,...)
{
	outcome = concluded;
	return false;
}

bool
measure_check_layout(Measure *m, Side side, int output, const WireTensor *found)
{
	return found->dtype == m->output[output].dtype;
}

bool
measure_table(Measure *m, Executor *of, Side side, uint32_t run, WireTensor *table)
{
	memcpy(table, &of->control->table[run], sizeof(*table));
	return true;
}

bool
measure_read_table(Measure *m, Executor *of, Side side, const WireTensor *table, void *to)
{
	whole_reads++;
	early_reads += !at_end;
	return executor_read_tensor(of, table, &m->output[0], to) == EXECUTOR_OK;
}

bool
measure_read(Measure *m, Executor *of, Side side, const Arena *slots_of, uint32_t run, uint32_t slot, void *to)
{
	whole_reads++;
	early_reads += !at_end;
	memcpy(to, slots_of->outputs + slot * slots_of->output_slot_bytes, m->output[0].bytes);
	return true;
}

static bool
is_true(uint32_t run)
{
	return memcmp(inputs + run * COLUMNS, truths + run * COLUMNS, sizeof(inputs) / SLOTS) == 0;
}

static void
answer(uint32_t run)
{
	for (int i = 0; i < ROWS * COLUMNS; i++)
		memory[run * ROWS * COLUMNS + i] = (float) (run * 1000 + i + 1);
}

static ExecutorResult
simulated(Executor *of, uint32_t op, uint32_t runs, uint32_t flags, void (*at) (void *context, uint32_t run, uint32_t runs_of), void *context,
		  double timeout, double *elapsed)
{
	for (uint32_t run = 0; run <= runs; run++)
	{
		bool		tardy = late && run != SAMPLE + 1;

		if (run > 0 && !tardy)
			answer(run - 1);
		false_runs += run < runs && !is_true(run);
		for (uint32_t other = run + 1; other < runs; other++)
			told_runs += inputs[other * COLUMNS] == truths[run * COLUMNS];
		at(context, run, runs);
		untrue_runs += run < runs && !is_true(run);
		if (run > 0 && tardy)
			answer(run - 1);
	}
	at_end = true;
	return EXECUTOR_OK;
}

static bool
audit(JobLanguage language, bool is_late)
{
	uint32_t	slots[RUNS];
	uint64_t	seeds[RUNS] = {0};
	double		seconds;

	job.language = language;
	late = is_late;
	at_end = false;
	whole_reads = early_reads = false_runs = untrue_runs = told_runs = 0;
	outcome = OUTCOME_NONE;
	memset(memory, 0, sizeof(memory));
	memset(out, 0, sizeof(out));
	for (uint32_t i = 0; i < RUNS; i++)
	{
		slots[i] = i;
		executor.control->table[i] = (WireTensor) {.address = (uint64_t) (uintptr_t) (memory + i * ROWS * COLUMNS),.dtype = WIRE_FLOAT32,.ndim = 2,
		.shape = {ROWS, COLUMNS},.stride = {COLUMNS, 1}};
	}
	return audit_run(&measure, &executor, SIDE_CANDIDATE, &arena, slots, seeds, RUNS, SAMPLE, out, 1, &seconds);
}

/* whether no run of many audits has its inputs before its turn, and each has them in it, where an array has these elements */
static bool
comes_late(size_t elements, size_t zeros)
{
	bool		good = true;

	measure.inputs = 1;
	measure.input[0] = (Tensor) {.dtype = WIRE_FLOAT32,.ndim = 1,.shape = {(int64_t) elements}};
	tensor_finish(&measure.input[0]);
	for (int n = 0; n < TIMES; n++)
	{
		for (size_t i = 0; i < SLOTS * COLUMNS; i++)
			truths[i] = inputs[i] = i % COLUMNS < zeros ? 0 : (float) (1 + random_below(NULL, 1000000));
		good = audit(LANGUAGE_PYTORCH, false) && false_runs == RUNS && untrue_runs == 0 && (zeros > 0 || told_runs == 0)
			&& memcmp(inputs, truths, sizeof(inputs)) == 0 && good;
	}
	measure.inputs = 0;
	return good;
}

static void
check_language(JobLanguage language, const char *honest, const char *tardy)
{
	check(audit(language, false) && whole_reads == 1 && early_reads == 0 && out[0] == SAMPLE * 1000 + 1 && out[ROWS * COLUMNS - 1] == SAMPLE * 1000 + 128,
		  honest);
	check(!audit(language, true) && outcome == OUTCOME_WRONG_OUTPUT, tardy);
}

/* whether all lots fall on elements of this view that follow each other, and each element has some */
static bool
covers(const int64_t *stride, size_t most, size_t elements)
{
	WireTensor	view = {.address = 1 << 20,.dtype = WIRE_FLOAT32,.ndim = 2,.shape = {ROWS, COLUMNS},.stride = {stride[0], stride[1]}};
	bool		seen[ROWS * COLUMNS] = {false};
	bool		good = true;

	for (int n = 0; n < TIMES; n++)
	{
		struct iovec found;

		good = good && executor_find_piece(&view, &measure.output[0], random_next(NULL), most, &found)
			&& found.iov_len == elements * sizeof(float);
		for (size_t e = 0; good && e < elements; e++)
		{
			uint64_t	at = ((uint64_t) (uintptr_t) found.iov_base - view.address) / sizeof(float) + e;
			bool		hit = false;

			for (int i = 0; i < ROWS * COLUMNS; i++)
				if ((uint64_t) (i / COLUMNS * stride[0] + i % COLUMNS * stride[1]) == at)
					hit = seen[i] = true;
			good = hit;
		}
	}
	for (int i = 0; i < ROWS * COLUMNS; i++)
		good = good && seen[i];
	return good;
}

int
main(void)
{
	struct iovec found;
	WireTensor	backwards = {.dtype = WIRE_FLOAT32,.ndim = 2,.shape = {ROWS, COLUMNS},.stride = {COLUMNS, -1}};
	/* from the first element to the last it is 2^64 elements, which is none to a counter of 64 bits */
	Tensor		long_one = {.dtype = WIRE_FLOAT32,.ndim = 1,.shape = {(1 << 25) + 1}};
	WireTensor	around = {.dtype = WIRE_FLOAT32,.ndim = 1,.shape = {(1 << 25) + 1},.stride = {(int64_t) 1 << 39},
	.address = (uint64_t) (uintptr_t) memory};

	tensor_finish(&measure.output[0]);
	arena.outputs = (char *) memory;
	arena.inputs = (char *) inputs;
	arena.master = (char *) truths;
	arena.input_slot_bytes = COLUMNS * sizeof(float);
	executor.pid = getpid();
	executor.control = calloc(1, sizeof(WireControl));
	check_language(LANGUAGE_C, "C that answers in time is left alone, and read as a whole when all runs have ended",
				   "C that says it is done before it is has changed its output, whichever run is compared");
	check_language(LANGUAGE_PYTORCH, "PyTorch that answers in time is left alone, and read as a whole when all runs have ended",
				   "PyTorch that says it is done before it is has changed its output, whichever run is compared");
	check(comes_late(COLUMNS, 0), "inputs come with a run's turn");
	check(comes_late(1, 0), "so does a single number, which no other run shows");
	check(comes_late(COLUMNS, COLUMNS - 1), "so does an array of zeros but one");
	check(covers((int64_t[]) {COLUMNS, 1}, 1 << 20, ROWS * COLUMNS), "all of a small output is one place");
	check(covers((int64_t[]) {COLUMNS, 1}, 40, 10), "places in an array lie within it, and reach all of it");
	check(covers((int64_t[]) {GAP, 1}, 40, 10), "places in rows far apart lie within a row, and reach all of it");
	check(covers((int64_t[]) {GAP, 1}, 1 << 20, COLUMNS), "places in rows far apart are no longer than a row");
	check(covers((int64_t[]) {1, ROWS}, 1 << 20, 1), "places in a turned view are single elements");
	check(!executor_find_piece(&backwards, &measure.output[0], 0, 40, &found), "a view that runs backwards has no places");
	tensor_finish(&long_one);
	check(!executor_find_piece(&around, &long_one, 0, 40, &found), "nor has one whose elements lie as far apart as numbers reach");
	check(executor_read_tensor(&executor, &around, &long_one, NULL) == EXECUTOR_FORGED, "which is read nowhere");
	free(executor.control);
	return done();
}
