/*
 * types.h
 *		One measurement: what its phases share.
 */
#ifndef CUDAL1_TYPES_H
#define CUDAL1_TYPES_H

#include <limits.h>
#include <math.h>
#include <sched.h>
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
	return executor->hostile ? SIDE_CANDIDATE : SIDE_REFERENCE;
}

/* a compiler, or a run of PyTorch code that compiles itself */
typedef struct Build
{
	pid_t		pid;			/* 0: none; -1: it has ended */
	int			go;				/* pytorch: the build begins when a byte comes from here */
	int			log;
	double		until;			/* of clock_now(), when it has to have ended; 0: it has not begun */
} Build;

/* Things that a compiler has made, or that code has compiled itself. */
typedef struct Built
{
	Build		ahead;			/* pytorch: of extensions, before the device is held */
	Build		build;
	/* pytorch: empty if neither side compiles; the reference's if only that does */
	char		folder[PATH_MAX + 32];
	char	   *key;			/* key of the cache; NULL once the build is kept */
	bool		in_part;		/* ended early, for a reason that an executor will judge */
} Built;

/* the code of one side, and how it is started */
typedef struct Code
{
	const char *source;
	char		library[PATH_MAX + 64];	/* c, cuda: the shared object */
	unsigned	kinds;			/* pytorch: of things that it compiles of itself, as bits */
	Built		built;
	char		code_key[65];	/* SHA-256 of what it compiles to, in hexadecimal; "": not known */
	int			source_fd;		/* pytorch: the task's source, and a candidate's with it; or -1 */
	double		load_seconds;	/* spent on loading it */
	double		first_seconds;	/* spent on the first runs of its processes */
	/* on a GPU: of its memory, what a process takes but for inputs, outputs and the pool */
	size_t		gpu_bytes;
	size_t		pool_used;		/* bytes of the pool, in its checks */
} Code;

typedef struct Options
{
	const char *libdir;
	const char *scratch;
	const char *python;
	bool		unsandboxed;
	bool		person;			/* progress for a person on a terminal */
	bool		lines;			/* progress as lines of JSON */
	struct Cli *cli;			/* takes the result; NULL: it is printed as a line of JSON */
} Options;

/* Changes of a run that looks for the cause of a failure, or for what rounding does. */
typedef enum TrialChange
{
	TRIAL_WAITED = 1,			/* the device is waited for within a run and after it */
	TRIAL_ZEROED = 2,			/* C, CUDA: outputs start as zeros */
	TRIAL_WIDER = 4,			/* PyTorch: half and TF32 are single, but in the results */
} TrialChange;

/* Purposes that a device's time is spent on. */
typedef enum Spending
{
	SPENT_BUILD,				/* with the device, or while it is held */
	/* processes, and the GPU memory that PyTorch's allocate from */
	SPENT_START,
	SPENT_LOAD,					/* GPU contexts, code, models */
	/* the first run of an executor, which loads libraries and kernels */
	SPENT_FIRST,
	SPENT_INPUTS,				/* making them */
	SPENT_CHECK,				/* runs before any window */
	SPENT_WINDOW,
	SPENT_COMPARE,				/* reading and comparing outputs */
	SPENT_END,
	SPENDINGS
} Spending;

#define VALUES_MOST		1000	/* pairs that a profile may ask for; a pair has fewer rounds */

typedef struct Values
{
	double		v[VALUES_MOST];
	size_t		n;
} Values;

static inline void
values_append(Values *values, double value)
{
	if (values->n < VALUES_MOST)
		values->v[values->n++] = value;
}

/* NAN where there are none */
static inline double
values_median(const Values *values)
{
	return values->n > 0 ? cudal1_score_median(values->v, values->n) : NAN;
}

/* The pairs of a candidate, and the interval that they give. */
typedef struct Stop
{
	const Profile *profile;
	Values		ratios;			/* of its pairs; without one, neither of the next two */
	double		estimate;
	double		left;			/* seconds to the look that ends the measurement, about */
	double		lower;			/* NAN until there are two pairs */
	double		upper;
	double		half_width;
	bool		wide;			/* wider than the profile allows */
} Stop;

typedef struct Result
{
	Outcome		outcome;
	char		detail[2001];
	json_t	   *evidence;
	double		score;			/* NAN: none, and no interval that holds */
	double		variance;
	Stop		stop;
	Values		reference;		/* seconds a run, by pair */
	Values		candidate;
	int			rounds;
	int			checks;
	double		max_error;
	double		wrong_error;	/* the largest of the output that was wrong, in tolerances */
	double		build_seconds;
	double		device_seconds;
	double		wall_seconds;
	double		spent[SPENDINGS];
} Result;

/* a candidate: what of a measurement is its own */
typedef struct Member
{
	int			number;			/* among the job's candidates */
	Code		code;
	Result		result;
	double		time[2];		/* of both sides, estimated, in seconds a run */
	/* a process outside has killed the code or its compiler, or has stopped the code */
	bool		killed;
	bool		by_itself;		/* pairs of its own, with a reference for it alone */
	uint32_t	met;			/* kinds of probes that its windows have had, as bits */
	int			probed;			/* probes in windows, */
	int			missed;			/* and those that the code was wrong on */
	/* pytorch: the candidate has the reference's weights of the same names, not those it drew */
	bool		by_name;
} Member;

#define DEVICE_LOCKS	2

#define OUTPUT_LIMIT	((off_t) 16 << 20)	/* bytes that a process may print */

/* the device of a measurement, and how it is held */
typedef struct HeldDevice
{
	int			lock[DEVICE_LOCKS]; /* -1: none */
	char		held_by[96];	/* holder of the device that is waited for; empty: not known */
	double		locked_at;		/* 0: not yet */
	char		key[256];
	cpu_set_t	cores;			/* of the executors; the supervisor keeps to the others */
	bool		spare_core;		/* the supervisor has a core to spin on */
	/* of its memory, at most: for arenas; for outputs of a call, or all that a module allocates */
	size_t		arena_bytes;
	size_t		array_bytes;
} HeldDevice;

#define GENERATOR_SEAT	2
#define ZYGOTES			3

/* how code is started, and what of it lives */
typedef struct Processes
{
	int			filter_fd;
	/* pytorch: two seats, which each side takes in turn, and the generator's */
	Executor	zygote[ZYGOTES];
	Executor	generator;
	bool		generating;
	int			candidates;		/* executors of the candidate's side that live */
	uint64_t	weights;		/* seed of all processes' weights */
} Processes;

/* Builds of code that compiles itself (pytorch). */
typedef struct Builds
{
	char		folder[PATH_MAX + 16];	/* the folders of all sides */
	unsigned	kinds;			/* of the things in there, see build.h */
} Builds;

/* arrays that go into a run */
typedef struct Inputs
{
	Tensor		tensor[WIRE_MAX_TENSORS];	/* pytorch: where one has gaps, all of its memory */
	const Argument *parameter[WIRE_MAX_TENSORS];	/* c, cuda: of the function */
	bool		comes_in[WIRE_MAX_TENSORS]; /* c, cuda: whether an output is among them */
	/* pytorch: as executors get them */
	WireTensor	argument[WIRE_MAX_TENSORS];
	uint32_t	traits[WIRE_MAX_TENSORS];
	int			n;
	size_t		slot_bytes;
	double		make_seconds;	/* that those of a run take to be made */
} Inputs;

/* An input of another kind, which the reference can answer. */
typedef struct Probe
{
	ProbeKind	kind;
	double		scale;			/* times as large, of kinds that are */
	size_t		infinite;		/* elements of ordinary outputs that are no finite number */
	Tolerance	tolerance[WIRE_MAX_TENSORS];
} Probe;

/* what the checks found of the reference */
typedef struct ReferenceFacts
{
	Probe		probe[PROBE_INPUTS];
	int			probes;
	/* how far its outputs move by rounding errors, in tolerances; 0: within one */
	double		moves;
	bool		sound;			/* it passed its checks */
	bool		depends;		/* its outputs are others on probes */
	/* pytorch: it is a function only where its state is restored before each run */
	bool		restores;
	char		state[300];		/* names of the attributes that its runs change */
	bool		moves_parameters;	/* pytorch: those that begin as constants, on both sides */
	bool		same_inputs;	/* pytorch: each call of get_inputs gives the same */
	bool		seeds_runs;		/* it consumes random numbers */
	uint32_t	half;			/* pytorch: element type of the half precision within, or 0 */
	double		compare_seconds;	/* that outputs of a run take to be compared */
} ReferenceFacts;

/* the members that share a pair's reference now */
typedef struct Group
{
	int			shares;			/* how many; 0: no pair is shared */
	bool		dissolved;		/* something unusual has ended the sharing */
} Group;

/* a trial: runs that are other than usual */
typedef struct TrialState
{
	uint32_t	changes;		/* TrialChanges */
	double		ends;			/* when all trials end; 0: none is under way */
} TrialState;

typedef struct Measure
{
	const Job  *job;
	const Options *options;
	Member	   *members;
	int			nmembers;
	Member		all;			/* holds what is spent for all, and said of all */
	/* the member that is current, see heat.c, and parts of it */
	Member	   *member;
	Result	   *result;
	Code	   *code[2];		/* the reference's and the current member's */
	double		entered;		/* time at which the member became current */
	Group		group;
	Code		reference;
	json_t	   *environment;
	double		started;
	char		scratch[PATH_MAX];
	HeldDevice	device;
	/* keyed from the kernel; everything a candidate must not guess comes from here */
	RandomStream random;

	Builds		builds;
	Processes	live;

	/* layout */
	Inputs		inputs;
	Tensor		output[WIRE_MAX_TENSORS];
	int			outputs;
	size_t		output_slot_bytes;	/* of slots in shared memory */
	size_t		output_bytes;	/* of the outputs of one run, gathered */
	Tolerance	tolerance[WIRE_MAX_TENSORS];	/* of each output, as signal.c learns it */
	ReferenceFacts facts;
	unsigned char *noise;		/* for outputs before their runs */
	const struct Backend *backend;	/* how runs of this language are made on this device */
	struct Gpu *gpu;			/* NULL on a CPU */

	TrialState	trial;
} Measure;

#define NOISE_BYTES ((size_t) 1 << 20)

/* Bytes of an output among those of a run, aligned for every element type. */
static inline size_t
measure_gathered(const Tensor *tensor)
{
	return (tensor->bytes + 15) & ~(size_t) 15;
}

#endif							/* CUDAL1_TYPES_H */
