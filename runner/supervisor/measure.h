/*
 * measure.h
 *		One measurement: what its phases share.
 */
#ifndef CUDAL1_MEASURE_H
#define CUDAL1_MEASURE_H

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>

#include "process/executor.h"
#include "supervisor/job.h"

typedef enum Outcome
{
	OUTCOME_NONE,
	OUTCOME_SUCCESSFUL,
	OUTCOME_UNSTABLE,
	OUTCOME_COMPILE_ERROR,
	OUTCOME_LAUNCH_FAILURE,
	OUTCOME_TIMEOUT,
	OUTCOME_CRASH,
	OUTCOME_WRONG_OUTPUT,
	OUTCOME_CHEAT,
	OUTCOME_UNVERIFIED,
	OUTCOME_LOST,
	OUTCOME_CANCELLED,
} Outcome;

typedef enum Side
{
	SIDE_REFERENCE = 0,
	SIDE_CANDIDATE = 1,
} Side;

static inline Side
executor_side(const Executor *executor)
{
	return (Side) executor->side;
}

/* PyTorch code that compiles itself, run once for that */
typedef struct Build
{
	pid_t		pid;			/* 0: none; -1: it has ended */
	int			go;				/* it waits until something comes from here */
	int			log;
} Build;

/* what it has compiled */
typedef struct Built
{
	Build		build[2];		/* without the device, and with it */
	char		folder[PATH_MAX + 32];	/* empty if neither side does; the other's if only that one does */
	char		inside[PATH_MAX + 32];	/* where its code finds the folder */
	char	   *key;			/* until it is kept for the next measurement */
	bool		in_part;		/* a build ended early, for a reason that an executor will judge */
} Built;

typedef struct Options
{
	const char *libdir;
	const char *scratch;
	const char *python;
	bool		unsandboxed;
	bool		person;			/* progress for a person on a terminal */
	bool		lines;			/* progress as lines of JSON */
} Options;

/* what a device's time is spent on */
typedef enum Spending
{
	SPENT_START,				/* processes */
	SPENT_MEMORY,				/* the GPU memory that PyTorch's executors allocate from */
	SPENT_LOAD,					/* GPU contexts, code, models */
	SPENT_FIRST,				/* the first block of an executor, which loads libraries and kernels */
	SPENT_INPUTS,				/* making them */
	SPENT_STAGE,
	SPENT_BLOCK,				/* the clock running, first blocks apart */
	SPENT_SETTLE,				/* stopping an executor, reading samples again */
	SPENT_COMPARE,				/* reading and comparing outputs */
	SPENT_POISON,				/* overwriting them */
	SPENT_END,
	SPENDINGS
} Spending;

typedef struct Result
{
	Outcome		outcome;
	char		detail[2001];
	json_t	   *evidence;
	json_t	   *environment;
	double		score;			/* NAN where a number is absent */
	double		lower;
	double		upper;
	double		half_width;
	bool		wide;			/* the score is an end of the interval */
	double		variance;
	int			pairs;
	int			rounds;
	double	   *buckets;
	json_t	   *samples;
	double		reference_seconds;
	double		candidate_seconds;
	int			checks;
	double		max_error;
	int			audits;
	double		audit_bound;
	double		build_seconds;
	double		device_seconds;
	double		startup_seconds;	/* of these, starts, loads and ends of executors, and what their first blocks take longer than their runs */
	double		clock_seconds;
	double		wall_seconds;
	double		spent[SPENDINGS];
} Result;

#define DEVICE_LOCKS	2

typedef struct Measure
{
	const Job  *job;
	const Options *options;
	Result		result;
	bool		killed;			/* the outcome is that somebody killed the code, or its compiler */
	double		started;
	char		scratch[PATH_MAX];
	int			scratch_lock;
	int			device_lock[DEVICE_LOCKS];	/* -1: none */
	double		locked_at;		/* 0: not yet */
	char		device_key[256];
	cpu_set_t	cores;			/* of the executors; the supervisor keeps to the others */
	RandomStream random;		/* keyed from the kernel; everything a candidate must not guess comes from here */

	/* how code is started */
	char		library[2][PATH_MAX + 32];	/* c: the shared object of each side */
	int			filter_fd;
	Zygote		zygote[2];		/* pytorch: two seats, each side takes each in turn */
	Zygote		generator_zygote;
	Executor	generator;
	bool		generating;
	int			candidates;		/* executors of the candidate's side that live */
	bool		aa;				/* the reference runs on both sides */
	char		allocator[PATH_MAX];	/* pytorch on a CPU: the library that replaces libc's, or empty */
	Built		built[2];		/* pytorch: what each side compiled of itself */
	int			source_fd[2];	/* pytorch: the task's source, and with the candidate's */

	/* layout */
	Tensor		input[WIRE_MAX_TENSORS];
	uint64_t	input_value[WIRE_MAX_TENSORS];	/* of arguments that are no tensors */
	int			inputs;
	Tensor		output[WIRE_MAX_TENSORS];
	int			outputs;
	size_t		input_slot_bytes;
	size_t		output_slot_bytes;	/* of slots in shared memory */
	size_t		output_bytes;	/* of the outputs of one run, gathered */
	double		repeated;		/* share of the outputs that is the same in every run */
	double		fill;			/* seconds that filling a byte of outputs takes; 0: not known yet */
	bool		seeds_runs;		/* the reference consumes random numbers */
	unsigned char *noise;		/* for poisoning */
	struct Gpu *gpu;			/* NULL on a CPU */
	bool		spare_core;		/* on a GPU: the supervisor may spin, there is another core for the rest of the host */

	/* estimates, in seconds a run */
	double		time[2];
	double		generate_time;
	double		load_seconds[2];	/* spent on loading each side's code */
	double		start_time;		/* of a reference's process: its start, its first block, its end */
	double		checks_began;
	double		check_time;
	double		checked_seconds;
	double		last_progress;
} Measure;

/* seconds: runs this long need no warming, tell their time at once, and are not repeated without need */
#define MEASURE_SLOW	0.2

/* of a PyTorch executor's memory on a GPU, the outputs of a block at most: one in ... */
#define OUTPUTS_SHARE	4

#define NOISE_BYTES ((size_t) 1 << 20)

/* measure.c */
extern void measure_run(Measure *m);
extern void measure_leave_out(char *text, const char *folder);
extern bool conclude(Measure *m, Outcome outcome, const char *format,...) __attribute__((format(printf, 3, 4)));
extern bool measure_failed(Measure *m, Side side, Executor *executor, ExecutorResult result, const char *when);
extern bool measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena, uint64_t weight_seed);
extern void measure_end(Measure *m, Executor *executor);
extern bool measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n);
extern bool measure_stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n);
/* on a CPU, noise in the place of a run's input and output, which both sides can read */
extern void measure_unstage(Measure *m, Arena *arena, uint32_t slot);
extern bool measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots, const uint64_t *seeds, uint32_t n,
						  double timeout, double *elapsed);
/* adds what passed since `start` to a spending; the time now */
extern double measure_spent(Measure *m, Spending on, double start);
extern double measure_run_limit(const Measure *m);
extern void measure_progress(Measure *m, const char *phase, int pairs, int rounds, double estimate, double lower, double upper,
							 double left, bool force);

/* outputs.c: what a run has left */
extern bool measure_read(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run, uint32_t slot, void *out);
extern bool measure_compare(Measure *m, const void *expected, const void *found, Side blamed);
/* whether a tensor is of the type and shape of an output */
extern bool measure_check_layout(Measure *m, Side side, int output, const WireTensor *found);
/* pytorch: the tensor table of a run, copied once; the outputs where a copy says that they lie */
extern bool measure_table(Measure *m, Executor *executor, Side side, uint32_t run,
						  WireTensor *table);
/*
 * poison.c: overwrites what the last block of a stopped executor has left, once what is compared
 * has been read; false after conclude()
 */
extern bool measure_poison(Measure *m, Executor *executor, Side side);
/*
 * Seconds that filling takes of those outputs of the last block that lie where no recent block's
 * lay: they may have been filled before the clock ran.
 */
extern double measure_fill(Measure *m, const Executor *executor);
/* memory for outputs drawn for comparison, where they are compared: on a GPU, an address of its own */
extern void *measure_alloc(Measure *m, size_t bytes);
extern void measure_free(Measure *m, void *memory);

/* what an output takes among those of a run, aligned for every element type */
static inline size_t
measure_gathered(const Tensor *tensor)
{
	return (tensor->bytes + 15) & ~(size_t) 15;
}

/* arena for timing, sized for both sides' blocks; `spare`: on a GPU, more slots of the master; false after conclude() */
extern bool measure_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare);

/* layout.c: which arrays there are */
extern void layout_from_signature(Measure *m);	/* c, cuda */
extern bool layout_from_generator(Measure *m);	/* pytorch: inputs, as get_inputs gives them */
extern bool layout_from_reference(Measure *m, Executor *executor);	/* pytorch: outputs, after a first run */

/* checks.c: correct on first inputs, and how long a run takes */
extern bool checks_run(Measure *m);

/* rounds.c: from fresh pairs to a score */
extern void rounds_run(Measure *m);

/* build.c, build_torch.c */
extern bool build_native(Measure *m);	/* c and cuda */
extern bool build_zygotes(Measure *m);
extern bool build_on_device(Measure *m);	/* what can be compiled on the device alone, once it is held */
extern void build_end(Measure *m);

/* build_cache.c: what was built for a key, into a folder that is not there yet; keeping a folder for a key (both: NULL, nothing) */
extern char *build_cache_key(const Measure *m, const char *kind, Side side);
extern bool build_cache_find(Measure *m, const char *key, const char *folder);
extern void build_cache_keep(Measure *m, const char *key, const char *folder);

/* device.c */
extern bool device_prepare(Measure *m);	/* before anything is started: who runs on which cores */
extern bool device_take(Measure *m);	/* waits for the device's locks */
extern void device_release(Measure *m);
extern void device_list(const Options *options);
extern void device_versions(Measure *m);
extern void device_environment(Measure *m);

#endif							/* CUDAL1_MEASURE_H */
