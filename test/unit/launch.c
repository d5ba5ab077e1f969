/*
 * launch.c
 *		What a process is started with: whose code, whose memory on a GPU, and that both sides'
 *		inputs are staged in the memory that it maps.
 */
#define _GNU_SOURCE
#include "../../runner/common/text.c"
#include "../../runner/supervisor/outcome.c"
#include "../../runner/supervisor/ended.c"
#include "../../runner/supervisor/session.c"
#include "../../runner/supervisor/backend/native.c"
#include "../../runner/supervisor/backend/on_gpu.c"
#include "../../runner/supervisor/backend/torch.c"
#include "../../runner/supervisor/backend/cuda.c"
#include "../../runner/supervisor/backend/torch_gpu.c"

#include "tap.h"

volatile sig_atomic_t executor_cancelled;

static Job	job = {.language = LANGUAGE_CUDA, .reference = "",
	.profile.build_seconds = 60};
static Options options = {.libdir = "lib",.unsandboxed = true};
static Gpu	gpu;
static Code reference = {.source = "", .library = "reference.so", .source_fd = 30};
static Member member = {.code = {.source = "", .library = "candidate.so", .source_fd = 31}};
static Measure measure;
static WireControl control;

/* of the process started last: descriptors of its memory, and its code */
static int	inputs,
			outputs,
			source;
static char library[PATH_MAX];

static bool is_short;
static const Backend on_a_cpu;

bool
gpu_is_short(Measure *m, int contexts)
{
	return is_short;
}

/* descriptors of a side's memory */
Arena
gpu_arena_of(const Arena *arena, Side side)
{
	Arena		own = *arena;

	own.inputs_fd = 10 + (int) side;
	own.outputs_fd = 20 + (int) side;
	return own;
}

static ExecutorResult
started(Executor *executor)
{
	executor->control = &control;
	return EXECUTOR_OK;
}

ExecutorResult
executor_start(Executor *executor, Sandbox *sandbox, const Arena *arena, int call_fd, int filter_fd,
			   double seconds)
{
	inputs = arena->inputs_fd;
	outputs = arena->outputs_fd;
	snprintf(library, sizeof(library), "%s", sandbox->argv[1]);
	return started(executor);
}

ExecutorResult
executor_fork(Executor *executor, Zygote *zygote, const int *fds, int nfds, double seconds)
{
	inputs = fds[0];
	source = fds[1];
	return started(executor);
}

ExecutorResult
executor_freeze(Executor *executor)
{
	return EXECUTOR_OK;
}

static int	killed;
static int	given_back;
static int	gone;
static int	beside_run;			/* processes that are not gone when a run begins */

ExecutorResult
executor_command(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed,
				 double timeout, double *elapsed)
{
	beside_run = killed - gone;
	if (elapsed)
		*elapsed = 1;
	return EXECUTOR_OK;
}

void
executor_init(Executor *executor)
{
	*executor = (Executor) {.pidfd = -1};
}

void
executor_kill(Executor *executor)
{
	killed++;
}

void
executor_give_back(Executor *executor)
{
	given_back++;
}

void
executor_end(Executor *executor)
{
	gone++;
}

void
executor_log(const Executor *executor, char *text, size_t size)
{
}

/* side by side: what the process is asked last, and which cores it is kept to */
static Side brought;			/* the side in whose memory the input of a first run is */
static int	pinned;				/* to the executors' cores; -1: to others */

ExecutorResult
executor_begin(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed,
			   double timeout)
{
	executor->asked.op = op;
	executor->limit = timeout;
	return EXECUTOR_OK;
}

void
executor_await(Executor *const *executors, int n)
{
}

void
executor_pin(const Executor *executor, const cpu_set_t *cores)
{
	pinned = CPU_EQUAL(cores, &measure.cores) ? 1 : -1;
}

bool
executor_lower_limit(const Executor *executor, size_t limit, size_t bytes)
{
	return true;
}

uint64_t
random_next(RandomStream *stream)
{
	return 1;
}

GpuMemory *
gpu_pool_create(Measure *m)
{
	static GpuMemory pool;

	return &pool;
}

void
gpu_pieces(Measure *m, const Arena *arena, Side side, CudaPieces *pieces)
{
	brought = side;
}

bool
gpu_copy_pieces(Measure *m, const CudaPieces *pieces, uint32_t slot)
{
	return true;
}

int
gpu_sandbox(const Measure *m, Sandbox *sandbox, const char **environment, int n)
{
	return n;
}

int
memory_file(const char *name, const void *bytes, size_t length)
{
	return -1;
}

ExecutorResult
executor_look(Executor *executor)
{
	return EXECUTOR_OK;
}

/* nothing else of a measurement happens here */
/* clang-format off */
#define UNUSED(result, name, ...) result name(__VA_ARGS__){abort();}

UNUSED(void, arena_init, Arena *arena)
UNUSED(void *, gpu_alloc, Measure *m, size_t bytes)
UNUSED(bool, gpu_arena_create, Measure *m, Arena *arena)
UNUSED(bool, gpu_compare, Measure *m, const void *expected, const void *found, int output,
	   const Tolerance *tolerance, Comparison *result)
UNUSED(bool, gpu_inputs_same, Measure *m, const Arena *arena, Side side, uint32_t slot, bool *same)
UNUSED(void, gpu_free, Measure *m, void *memory)
UNUSED(bool, gpu_generate, Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
UNUSED(void, gpu_arena_draw, Measure *m, Arena *arena)
UNUSED(bool, gpu_pools_draw, Measure *m)
UNUSED(bool, measure_table, Measure *m, Executor *executor, Side side, uint32_t run,
	   WireTensor *table)
UNUSED(void, gpu_pool_destroy, GpuMemory *pool)
UNUSED(bool, gpu_read, Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
	   uint32_t slot, void *out)
UNUSED(void, gpu_unstage, Measure *m, const Arena *arena, uint32_t slot)
UNUSED(bool, gpu_stage, Measure *m, const Arena *arena, Side side, const uint32_t *slots,
	   uint32_t n)
UNUSED(void, gpu_note_state, Measure *m)
UNUSED(void, gpu_environment, Measure *m)
UNUSED(bool, gpu_start_driver, Measure *m)
UNUSED(bool, gpu_open, Measure *m)
UNUSED(size_t, gpu_memory_left, Measure *m)
UNUSED(bool, gpu_load, Measure *m, Arena *arena, uint32_t n)
UNUSED(bool, gpu_prepare_window, Measure *m, const Arena *arena, Side side, uint32_t n)
UNUSED(bool, gpu_bring, Measure *m, const Arena *arena, Side side, uint32_t slot)
UNUSED(uint64_t, gpu_element, Measure *m, Executor *executor, const Arena *arena, uint32_t run,
	   int output, uint64_t element)
UNUSED(bool, gpu_peek, Measure *m, Executor *executor, const uint64_t *address, int n, size_t size,
	   uint64_t *value)
UNUSED(bool, gpu_poke, Measure *m, Executor *executor, Side side, const uint64_t *address, int n,
	   size_t size)
UNUSED(bool, gpu_rests, Measure *m, bool *rests)
UNUSED(void *, gpu_input, Measure *m, const Arena *arena, uint32_t slot, int input)
UNUSED(bool, gpu_copy, Measure *m, const Arena *arena, uint32_t from, uint32_t to)
UNUSED(bool, gpu_change, Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
	   const Change *change)
UNUSED(bool, gpu_pick, Measure *m, const void *array, const Tensor *tensor, size_t count,
	   double *values)
UNUSED(bool, gpu_medians, Measure *m, const void *outputs, uint32_t n, const Tensor *tensor,
	   void *medians)
UNUSED(bool, gpu_take, Measure *m, void *memory, const void *from, size_t bytes)
UNUSED(double, gpu_scale_at, Measure *m, const float *scales, uint64_t element)
UNUSED(void, random_key, RandomStream *stream, RandomKey *key)
/* clang-format on */

/* a process for this side, as it was started */
static Executor
start(JobLanguage language, Side side)
{
	Executor	executor = {.pid = -1};
	Arena		arena = {.inputs_fd = 1,.outputs_fd = 2,.slots = 4};

	job.language = language;
	measure.backend = language == LANGUAGE_PYTORCH ? &backend_torch_gpu : &backend_cuda;
	inputs = outputs = source = -1;
	library[0] = '\0';
	check(measure_launch(&measure, &executor, side, 0, &arena, 0), "a process starts");
	return executor;
}

static bool
runs(Side code)
{
	return job.language == LANGUAGE_PYTORCH ? source == 30 + (int) code
		: strcmp(library, measure.code[code]->library) == 0;
}

/*
 * what is staged and read for a side is in that side's memory, and outputs are read where the
 * process says it has them
 */
static bool
maps(const Executor *executor, Side side)
{
	return inputs == 10 + (int) side
		&& (outputs == 20 + (int) side || job.language == LANGUAGE_PYTORCH)
		&& executor_side(executor) == side;
}

static void
check_sides(JobLanguage language)
{
	for (int side = 0; side < 2; side++)
	{
		Executor	executor = start(language, (Side) side);

		check(runs((Side) side), "each side runs its own code");
		check(maps(&executor, (Side) side), "in the memory of the side whose inputs it gets");
		check(executor.hostile == (side == SIDE_CANDIDATE)
			  && measure.candidates == executor.hostile,
			  "and only the candidate's code counts as a candidate's");
		measure_end(&measure, &executor);
	}
	check(measure.candidates == 0, "until it ends");
}

/* one that answers its loading, and its first run, after so many seconds; or with this result */
static bool
start_beside(Executor *executor, Side side, double loading, double running, ExecutorResult result)
{
	Arena		arena = {.inputs_fd = 1,.outputs_fd = 2,.slots = 4};

	*executor = (Executor) {.pid = -1,.log_fd = -1};
	if (!measure_begin_launch(&measure, executor, side, 0, &arena, 0))
		return false;
	executor->took = loading;
	executor->result = result;
	if (!measure_begin_first(&measure, executor, &arena, 0, 1, 1))
		return false;
	executor->took = running;
	return measure_end_launch(&measure, executor);
}

static void
forget(void)
{
	measure.result->outcome = OUTCOME_NONE;
	measure.candidates = 0;
	measure.shares = 0;
	measure.dissolved = false;
	member.by_itself = false;
	for (int side = 0; side < 2; side++)
	{
		measure.code[side]->load_seconds = measure.code[side]->first_seconds = 0;
		measure.code[side]->load_alone = measure.code[side]->first_alone = 1;
	}
}

/* whether a member of the checks that fails with this text has its verdict */
static bool
fails_in_checks(const char *text)
{
	Executor	executor = {.pid = -1,.log_fd = -1,.hostile = true};

	forget();
	json_object_clear(measure.result->evidence);
	measure.shares = 2;
	measure.patience = 1;
	snprintf(executor.text, sizeof(executor.text), "%s", text);
	measure_failed(&measure, SIDE_CANDIDATE, &executor,
				   strncmp(text, "the code", 8) == 0 ? EXECUTOR_UNSUPPORTED : EXECUTOR_FAILED,
				   "in its first run");
	measure.patience = 0;
	return measure.result->outcome == OUTCOME_LAUNCH_FAILURE && !member.by_itself;
}

/* both sides load and make their first runs side by side */
static void
check_side_by_side(void)
{
	const Code *candidate = &member.code;
	Executor	executor;

	job.language = LANGUAGE_PYTORCH;
	measure.backend = &backend_torch_gpu;
	CPU_ZERO(&measure.cores);
	for (int side = 0; side < 2; side++)
	{
		forget();
		pinned = 0;
		check(start_beside(&executor, (Side) side, 1, 0.5, EXECUTOR_OK) && runs((Side) side)
			  && maps(&executor, (Side) side) && brought == (Side) side,
			  "side by side a process runs its side's code on an input in its side's memory");
		check(measure.code[side]->load_seconds == 1 && measure.code[side]->first_seconds == 0.5,
			  "what it takes is charged to its code");
		check(pinned == 1, "and when it has loaded it keeps to the executors' core");
	}

	forget();
	start_beside(&executor, SIDE_CANDIDATE, 50, 0, EXECUTOR_OK);
	start_beside(&executor, SIDE_REFERENCE, 50, 0, EXECUTOR_OK);
	check(candidate->load_seconds == 50 && reference.load_seconds == 2,
		  "a candidate that slows the reference's loading gains no time of its own");
	measure_begin_launch(&measure, &executor, SIDE_CANDIDATE, 0, &(Arena) {.slots = 4}, 0);
	check(executor.limit == 60 + 2 - 50, "all its loading has a limit together");
	measure_begin_launch(&measure, &executor, SIDE_REFERENCE, 0, &(Arena) {.slots = 4}, 0);
	check(executor.limit == 120, "the reference has its own beyond what candidates may take");
	forget();
	measure.shares = 4;
	start_beside(&executor, SIDE_CANDIDATE, 2, 1, EXECUTOR_OK);
	check(candidate->load_seconds == 0.5 && candidate->first_seconds == 0.25
		  && executor.limit == 60, "a member of a group is charged its part");

	forget();
	check(!start_beside(&executor, SIDE_REFERENCE, 1, 1, EXECUTOR_FAILED)
		  && measure.result->outcome == OUTCOME_UNVERIFIED,
		  "a reference that fails side by side is not the candidate's failure");
	forget();
	check(!start_beside(&executor, SIDE_CANDIDATE, 1, 1, EXECUTOR_TIMEOUT)
		  && measure.result->outcome == OUTCOME_TIMEOUT, "a candidate that fails there is");
	forget();
	measure.shares = 2;
	check(!start_beside(&executor, SIDE_CANDIDATE, 1, 1, EXECUTOR_FAILED)
		  && measure.result->outcome == OUTCOME_NONE && member.by_itself && !measure.dissolved,
		  "that of a group leaves it");
	check(fails_in_checks("RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 4x8)")
		  && fails_in_checks("AttributeError: 'Linear' object has no attribute 'wieght'\n  line 3")
		  && fails_in_checks("the code defines no class ModelNew"),
		  "in the checks, errors of shapes and names are the code's own");
	check(!fails_in_checks("OutOfMemoryError: CUDA out of memory. Tried to allocate an array of "
						   "this size")
		  && !fails_in_checks("RuntimeError: cuDNN error: unexpected shape")
		  && !fails_in_checks("RuntimeError: something\n  line 3, in forward: x.reshape(4)")
		  && !fails_in_checks("TypeError: no more threads") && !fails_in_checks(""),
		  "others may be a mate's doing");
	forget();
	measure.shares = 2;
	check(!start_beside(&executor, SIDE_REFERENCE, 1, 1, EXECUTOR_TIMEOUT) && measure.dissolved
		  && measure.result->outcome == OUTCOME_NONE, "and a reference dissolves its group");
	forget();
}

/* processes that have ended are waited for before a clock runs, not before others are started */
static void
check_ends(void)
{
	Executor	executors[EXECUTORS_AWAITED + 1];
	Executor	running = {.pidfd = -1, .control = &control};
	double		elapsed;

	measure_reap(&measure);
	job.language = LANGUAGE_CUDA;
	measure.backend = &backend_cuda;
	killed = given_back = gone = 0;
	for (int i = 0; i < 2; i++)
	{
		executors[i] = (Executor) {.pidfd = 1000, .hostile = true};
		measure_end(&measure, &executors[i]);
		check(executors[i].pidfd == -1, "an executor can be started anew");
	}
	check(killed == 2 && given_back == 2 && gone == 0,
		  "a process on a GPU is killed, its memory given back, and not waited for");
	check(measure_single(&measure, &running, SIDE_REFERENCE, 0, 0, 1, &elapsed)
		  && gone == 2 && beside_run == 0, "before the next run it is");
	for (int i = 0; i <= EXECUTORS_AWAITED; i++)
	{
		executors[i] = (Executor) {.pidfd = 1000};
		measure_end(&measure, &executors[i]);
	}
	check(gone == 2 + EXECUTORS_AWAITED && measure.ndying == 1, "and where there are many");
	start(LANGUAGE_CUDA, SIDE_REFERENCE);
	check(measure.ndying == 1, "the next process starts beside what ends");
	is_short = true;
	start(LANGUAGE_CUDA, SIDE_REFERENCE);
	check(measure.ndying == 0, "unless its context may find no memory");
	is_short = false;
	measure.backend = &on_a_cpu;
	executors[0] = (Executor) {.pidfd = 1000};
	measure_end(&measure, &executors[0]);
	check(gone == killed + 1, "on a CPU it is waited for at once");
	measure.backend = &backend_cuda;
	measure.gpu = &gpu;
	measure.candidates = 0;
}

/* how a run ends whose process has failed with this error */
static Outcome
failed_with(Side side, const char *error)
{
	Executor	executor;

	executor_init(&executor);
	executor.log_fd = -1;
	snprintf(executor.text, sizeof(executor.text), "%s", error);
	member.result.outcome = OUTCOME_NONE;
	member.result.evidence = json_object();
	measure_failed(&measure, side, &executor, EXECUTOR_FAILED, "in a run");
	json_decref(member.result.evidence);
	member.result.evidence = NULL;
	return member.result.outcome;
}

static void
check_errors(void)
{
	check(failed_with(SIDE_REFERENCE, "CUDA error: uncorrectable ECC error encountered")
		  == OUTCOME_UNVERIFIED && member.killed,
		  "memory of a GPU that fails is not held against a task");
	member.killed = false;
	check(failed_with(SIDE_REFERENCE, "CUDA error: invalid configuration argument")
		  == OUTCOME_UNVERIFIED && !member.killed, "its reference's own errors are");
	check(failed_with(SIDE_CANDIDATE, "CUDA error: uncorrectable ECC error encountered")
		  == OUTCOME_LAUNCH_FAILURE, "and a candidate's word is not believed");
	for (int i = 0; i < 2; i++)
	{
		Executor	executor;

		executor_init(&executor);
		executor.log_fd = -1;
		executor.halted = i == 1;
		member.result.outcome = OUTCOME_NONE;
		member.result.evidence = json_object();
		measure_failed(&measure, SIDE_CANDIDATE, &executor, EXECUTOR_TIMEOUT, "in a run");
		json_decref(member.result.evidence);
		member.result.evidence = NULL;
		check(member.result.outcome == OUTCOME_TIMEOUT && member.killed == (i == 1),
			  i == 1 ? "but code that others have stopped is measured once more"
			  : "code that takes too long has its verdict");
	}
	member.killed = false;
}

/* the cause of code that fails with these words */
static bool
fails_by(const char *cause, const char *text)
{
	Executor	executor = {.wait_status = -1};

	snprintf(executor.text, sizeof(executor.text), "%s", text);
	return strcmp(cause_of(&executor, EXECUTOR_FAILED, false, "in a run"), cause) == 0;
}

static void
check_memory(void)
{
	check(fails_by("memory_limit", "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. "
				   "DefaultCPUAllocator: can't allocate memory: you tried to allocate 12 bytes."),
		  "PyTorch's words for a lack of memory are those of a limit on a CPU");
	check(fails_by("memory_limit", "OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB")
		  && fails_by("memory_limit", "MemoryError: ")
		  && fails_by("memory_limit", "_ArrayMemoryError: Unable to allocate 2 GiB"),
		  "as on a GPU, and Python's and NumPy's");
	check(fails_by("exception", "ValueError: no\n  line 3, in forward: except MemoryError:"),
		  "a line of code that names it is none");
}

int
main(void)
{
	measure = (Measure) {.job = &job, .options = &options, .gpu = &gpu,
		.code = {&reference, &member.code}, .member = &member, .result = &member.result,
		.time = member.time};
	check_sides(LANGUAGE_CUDA);
	check_sides(LANGUAGE_PYTORCH);
	check_side_by_side();
	check_ends();
	check_errors();
	check_memory();
	return done();
}
