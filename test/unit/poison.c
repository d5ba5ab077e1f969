/*
 * poison.c
 *		What is overwritten after a block, in a real process that is stopped, and what the memory of
 *		its outputs tells.
 */
#define _GNU_SOURCE
#include "../../runner/process/memory.c"
#include "../../runner/common/tensor.c"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#include "../../runner/supervisor/backend/parts.h"
#include "../../runner/supervisor/checks/poison.c"

#define RUNS	12
#define BYTES	((size_t) 64 * 1024)
#define COUNT	(BYTES / sizeof(float))
#define ALL		(3 * RUNS * BYTES)

static unsigned char noise[NOISE_BYTES];
static Job	job = {.language = LANGUAGE_PYTORCH};
static const Backend backend = {.outputs_apart = true, HOST_NUMBERS};
static Member member = {.time = {1e-5, 1e-5}};
static Measure measure = {.job = &job,
	.backend = &backend,
	.outputs = 1,
	.noise = noise,
	.output_bytes = BYTES,
	.repeated = 1,
	.member = &member, .result = &member.result, .time = member.time};
static WireControl control;
static Executor executor;
static Outcome outcome;
static char *memory;			/* of the process, at the same address here */

uint64_t
random_next(RandomStream *stream)
{
	static uint64_t lot;

	lot = lot * 6364136223846793005u + 1442695040888963407u;
	return lot >> 24;
}

uint64_t
random_below(RandomStream *stream, uint64_t n)
{
	return random_next(stream) % n;
}

/* what is not tried here */
bool
measure_failed(Measure *m, Side side, Executor *failed, ExecutorResult result, const char *when)
{
	outcome = OUTCOME_CHEAT;
	return false;
}

bool
conclude(Measure *m, Outcome concluded, const char *format,...)
{
	outcome = concluded;
	return false;
}

void
measure_cause(Measure *m, Side side, const char *cause)
{
}

double
measure_spent(Measure *m, Spending on, double start)
{
	return start;
}

#include "../../runner/supervisor/checks/outputs.c"

/* a stopped process with memory that is `written`, `untouched`, `locked` or `shared` */
static void
start(const char *kind)
{
	int			flags = strcmp(kind, "shared") == 0 ? MAP_SHARED : MAP_PRIVATE;
	int			status;

	if (executor.pid > 0)
	{
		kill(executor.pid, SIGKILL);
		waitpid(executor.pid, &status, 0);
		munmap(memory, ALL);
	}
	for (int i = 0; i < EXECUTOR_RECENT; i++)
		free(executor.memory.recent[i]);
	memset(&executor, 0, sizeof(executor));
	executor.control = &control;
	memory = mmap(NULL, ALL, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
	executor.pid = fork();
	if (executor.pid == 0)
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		if (strcmp(kind, "untouched") != 0)
			memset(memory, 0, ALL);
		if (strcmp(kind, "locked") == 0)
			mprotect(memory, ALL, PROT_READ);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(executor.pid, &status, WUNTRACED);
	outcome = OUTCOME_NONE;
	measure.result->evidence = json_object();
}

/*
 * a block whose outputs lie one after the other from the n-th third of the memory on, `gap`
 * elements apart
 */
static bool
block_of(uint32_t runs, int third, int64_t gap, Side side)
{
	control.tensors = 1;
	for (uint32_t i = 0; i < runs; i++)
		control.table[i] = (WireTensor){
			(uint64_t) (uintptr_t) memory + ((size_t) third * RUNS + i) * BYTES, WIRE_FLOAT32, 1,
			{(int64_t) measure.output[0].elements}, {gap}};
	executor.memory.runs = runs;
	return measure_poison(&measure, &executor, side);
}

static bool
block(int third, int64_t gap, Side side)
{
	return block_of(RUNS, third, gap, side);
}

/* a block whose outputs are rows of 1 kB, one or another half of each 2 kB */
static bool
rows(int half)
{
	control.tensors = 1;
	for (uint32_t i = 0; i < RUNS; i++)
		control.table[i] = (WireTensor) {
			(uint64_t) (uintptr_t) memory + i * BYTES + (size_t) half * 1024, WIRE_FLOAT32, 2,
			{16, 256}, {512, 1}};
	executor.memory.runs = RUNS;
	return measure_poison(&measure, &executor, SIDE_CANDIDATE);
}

static void
shape(int64_t elements)
{
	measure.output[0] = (Tensor) {.dtype = WIRE_FLOAT32,.ndim = 1,.shape = {elements}};
	tensor_finish(&measure.output[0]);
}

/* of the outputs, how many have bytes that are not zero at a multiple of the gap, and at others */
static void
count(int64_t gap, int *there, int *beside)
{
	static uint32_t words[COUNT];

	*there = *beside = 0;
	for (int i = 0; i < RUNS; i++)
	{
		bool		found[2] = {false};

		if (!read_memory(executor.pid, (uint64_t) (uintptr_t) memory + i * BYTES, words, BYTES))
			return;
		for (size_t j = 0; j < COUNT; j++)
			found[j % (size_t) gap != 0] |= words[j] != 0;
		*there += found[0];
		*beside += found[1];
	}
}

int
main(void)
{
	int			there;
	int			beside;
	bool		good;

	memset(noise, 0xA5, sizeof(noise));

	shape(COUNT);
	/* once for what is called itself, whose own pages may not be there yet */
	start("written");
	check(block(0, 1, SIDE_CANDIDATE), "a block is made");
	start("written");
	check(block(0, 1, SIDE_CANDIDATE) && (count(1, &there, &beside), there == RUNS),
		"something is written into every output");
	check(executor.memory.unwritten == 0 && executor.memory.places == RUNS * PLACES_EACH,
		"pages that were written are there");
	good = true;
	for (int i = 0; i < 400; i++)
		good = good && block(0, 1, SIDE_CANDIDATE);
	check(good && outcome == OUTCOME_NONE, "however often they are overwritten");
	check(executor.memory.fresh == 0, "outputs where the last block's lay are not fresh");
	check(block(1, 1, SIDE_CANDIDATE) && executor.memory.fresh == RUNS * BYTES,
		"elsewhere they are");
	check(block(0, 1, SIDE_CANDIDATE) && executor.memory.fresh == 0 && block(1, 1, SIDE_CANDIDATE)
			&& executor.memory.fresh == 0,
		"nor are those where the block's before it lay");
	check(block(2, 1, SIDE_CANDIDATE) && block(0, 1, SIDE_CANDIDATE)
			&& executor.memory.fresh == RUNS * BYTES,
		"what was used earlier is fresh again");
	check(block(2, 1, SIDE_CANDIDATE) && block_of(1, 2, 1, SIDE_CANDIDATE)
			&& executor.memory.fresh == 0 && block_of(1, 0, 1, SIDE_CANDIDATE)
			&& executor.memory.fresh == 0 && block(2, 1, SIDE_CANDIDATE)
			&& executor.memory.fresh == 0,
		"after an audit's single run blocks lie where the last one did");
	check(block_of(1, 1, 1, SIDE_CANDIDATE) && executor.memory.fresh == BYTES
			&& block(1, 1, SIDE_CANDIDATE) && executor.memory.fresh == RUNS * BYTES,
		"and where only a single run lay, what was used earlier stays fresh");
	measure.fill = 1e-10;
	check(fabs(measure_fill(&measure, &executor) - DEARER * RUNS * BYTES * 1e-10) < 1e-12,
		"such memory costs what filling it takes");
	measure.repeated = 0.25;
	check(fabs(measure_fill(&measure, &executor) - DEARER * RUNS * BYTES * 0.25e-10) < 1e-12,
		"but for what differs from run to run");
	measure.fill = 0;
	check(measure_fill(&measure, &executor) > 0 && measure.fill > 1e-13 && measure.fill < 1e-6,
		"by what filling an array takes here");
	measure.repeated = 0;
	check(block(2, 1, SIDE_CANDIDATE) && executor.memory.fresh == 0,
		"where all of an output differs it is not asked");
	measure.repeated = 1;

	shape(COUNT / 3);
	start("written");
	check(block(0, 3, SIDE_CANDIDATE) && (count(3, &there, &beside), there == RUNS) && beside == 0,
		  "what lies between the elements of a view is left alone");
	check(block(0, 3, SIDE_CANDIDATE) && executor.memory.fresh == RUNS * (COUNT / 3) * 4,
		"a view in many pieces counts as fresh memory, wherever it lies");
	measure.output[0] = (Tensor) {.dtype = WIRE_FLOAT32,.ndim = 2,.shape = {16, 256}};
	tensor_finish(&measure.output[0]);
	start("written");
	check(rows(0) && rows(0) && executor.memory.fresh == 0 && rows(1)
			&& executor.memory.fresh == RUNS * 16384,
		"one in few pieces lies where these do, and not between them");
	shape(WIRE_LARGE_OUTPUT / 4 - 1);
	start("written");
	check(block(0, 1, SIDE_CANDIDATE) && (count(1, &there, &beside), there == 0),
		"small outputs are left alone");

	shape(COUNT);
	start("untouched");
	check(!block(0, 1, SIDE_CANDIDATE) && outcome == OUTCOME_WRONG_OUTPUT,
		"outputs on pages that were never touched are wrong");
	start("untouched");
	check(!block(0, 1, SIDE_REFERENCE) && outcome == OUTCOME_UNVERIFIED,
		"of the reference they say nothing of the code");
	start("locked");
	check(!block(0, 1, SIDE_CANDIDATE) && outcome == OUTCOME_WRONG_OUTPUT,
		"outputs that can't be written are wrong");
	start("shared");
	for (int i = 0; i < 400 && block(0, 1, SIDE_CANDIDATE); i++)
		;
	check(outcome == OUTCOME_WRONG_OUTPUT, "outputs in shared memory are found out");
	start("written");
	control.table[RUNS - 1].address = control.table[0].address;
	executor.memory.runs = RUNS;
	check(!measure_poison(&measure, &executor, SIDE_CANDIDATE) && outcome == OUTCOME_WRONG_OUTPUT,
		"results of two runs in one place are wrong");
	start("written");
	measure.outputs = 2;
	measure.output[1] = measure.output[0];
	control.tensors = 2;
	executor.memory.runs = 1;
	check(measure_poison(&measure, &executor, SIDE_CANDIDATE),
		"two results of a run beside each other are taken");
	control.table[1].address -= BYTES / 2;
	executor.memory.runs = 1;
	check(!measure_poison(&measure, &executor, SIDE_CANDIDATE) && outcome == OUTCOME_WRONG_OUTPUT,
		"two that share memory are wrong");
	measure.outputs = 1;
	start("written");
	check(!block(0, 0, SIDE_CANDIDATE) && outcome == OUTCOME_WRONG_OUTPUT,
		"elements that lie in one place are wrong");
	start("written");
	control.table[RUNS - 1].address = UINT64_MAX - 64;
	check(block(0, 1, SIDE_CANDIDATE), "an honest table is taken");
	control.table[RUNS - 1].address = UINT64_MAX - 64;
	executor.memory.runs = RUNS;
	check(!measure_poison(&measure, &executor, SIDE_CANDIDATE) && outcome == OUTCOME_CHEAT,
		"one that reaches beyond memory is not");
	kill(executor.pid, SIGKILL);
	return done();
}
