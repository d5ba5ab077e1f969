/*
 * cuda.h
 *		The supervisor's hold on a GPU: its memory, and the honest block there.
 */
#ifndef CUDAL1_CUDA_H
#define CUDAL1_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/cuda_driver.h"
#include "supervisor/gpu/cuda_kernels.h"
#include "supervisor/gpu/cuda_nvml.h"
#include "supervisor/measure.h"

#define GPU_MAX_SIDES	(1 + HEAT_MAX)
/* of what is left of its memory, for processes that live together */
#define GPU_SHARE		0.9

/* an allocation of its own that another process can map by its descriptor */
typedef struct GpuMemory
{
	const CuDriver *driver;
	CuHandle	handle;
	CuAddress	address;		/* in the supervisor */
	size_t		bytes;
	int			fd;
} GpuMemory;

/*
 * arena.gpu: inputs and outputs of the reference's processes, of the candidate's, and of each more
 * of a set; an executor maps its own alone, the generator the master
 */
typedef struct GpuArena
{
	int			sides;
	GpuMemory	inputs[GPU_MAX_SIDES];
	GpuMemory	outputs[GPU_MAX_SIDES];
	GpuMemory	master;
	/* which of them each has: where arrays lie makes a kernel up to 1 % faster */
	int			has[GPU_MAX_SIDES];
} GpuArena;

#define SPIN_OFF	0
#define SPIN_ON		1
#define SPIN_END	2
#define SPIN_LAPS	31			/* of the arithmetic that is spun on: the latest that are kept */
#define GPU_LAPS	256

#define GPU_SAMPLE_SLOTS	8	/* runs of a block that are sampled */
#define GPU_SAMPLE_ELEMENTS 8	/* elements of each of their outputs */
#define GPU_MAX_SAMPLES		(GPU_SAMPLE_SLOTS * GPU_SAMPLE_ELEMENTS * WIRE_MAX_TENSORS)

typedef struct GpuSamples
{
	uint32_t	n;				/* slots drawn; 0: none */
	uint32_t	slot[GPU_SAMPLE_SLOTS];
	uint64_t	element[GPU_SAMPLE_SLOTS][WIRE_MAX_TENSORS][GPU_SAMPLE_ELEMENTS];
	/* of the reference and of each candidate, as read within its window */
	uint64_t	value[GPU_MAX_SIDES][GPU_MAX_SAMPLES];
} GpuSamples;

#define GPU_LATE_RUNS	8

/*
 * Runs of a block whose input is another until the run before has answered, so that code which
 * works ahead works on the wrong input. See cuda_late.c.
 */
typedef struct GpuLate
{
	uint32_t	n;				/* such runs; 0: none, in an ordinary block */
	uint32_t	first;			/* which they are: this one, */
	uint32_t	apart;			/* and as many runs later */
	uint32_t	slot[GPU_LATE_RUNS];
	uint64_t	part[WIRE_MAX_ARGUMENTS];	/* bytes of each that are false at first */
	bool		whole;			/* these are all */
	uint64_t	offset[GPU_LATE_RUNS][WIRE_MAX_ARGUMENTS];
	size_t		at[GPU_LATE_RUNS][WIRE_MAX_ARGUMENTS];	/* where the true ones lie in: */
	char	   *input;			/* page-locked */
	size_t		bytes;
} GpuLate;

/*
 * steps of a trap: of late runs, of those that follow them, and of late runs before which the GPU
 * was at rest
 */
#define STEP_LATE		0
#define STEP_NEXT		1
#define STEP_RESTED		2
#define STEPS			3

typedef enum Lateness
{
	LATE_NOT,
	LATE_OUTPUT,				/* an output was not there when its run had answered */
	LATE_KERNEL,				/* the GPU did not come to rest */
	LATE_ALONE,					/* an output was made without the executor */
} Lateness;

/*
 * A block with late inputs; the executor is stopped when one of these runs has answered. See
 * cuda_trap.c.
 */
typedef struct GpuTrap
{
	bool		on;
	uint32_t	run;			/* the one that is looked at */
	uint32_t	next;			/* the late run after it; 0: none */
	uint32_t	rested;			/* a bit for each late run before which the GPU comes to rest */
	const void *expected;		/* of the first output of `run`; NULL where only steps are taken */
	const void *expected_next;	/* likewise of `next`, if it is known */
	void	   *found;
	Lateness	late;
	bool		readable;		/* as last looked at, and what of it was wrong */
	uint64_t	wrong;
	/* seconds of a command beside what the GPU did last; 0: not measured */
	double		turn;
	double		opened;			/* when the gate opened last */
	double		seconds[STEPS][GPU_LATE_RUNS];	/* from gate to answer */
	uint32_t	steps[STEPS];	/* how many */
} GpuTrap;

/*
 * elements of an output that were read when its run said that it was done; none, where the
 * executor's table named no place of the output's then
 */
typedef struct GpuEarly
{
	uint64_t	value[2];
	uint64_t	element[2];
	uint32_t	run;
	int			output;
	uint32_t	bytes;
	uint32_t	n;
} GpuEarly;

/*
 * A block whose runs but the first find their inputs late, and end before they answer. See
 * cuda_audit.c.
 */
typedef struct GpuAudit
{
	bool		on;
	double		opened;
	double		seconds[GPU_LATE_RUNS];	/* from gate to answer, of each late run */
	uint32_t	looked;
	GpuEarly   *early;			/* page-locked */
} GpuAudit;

typedef struct Gpu
{
	CuDriver	driver;
	NvmlDevice	nvml;
	CuDevice	device;
	CuContextRef context;
	bool		open;
	int			multiprocessors;
	size_t		l2_bytes;
	size_t		arena_bytes;	/* for inputs, outputs and masters together */
	size_t		pool_bytes;		/* of each PyTorch executor */
	size_t		pair_pool_bytes;	/* of each of the pair under way; 0: as large as can be */
	size_t		set_pool_bytes;	/* of each of a set of several */
	/* of the next executors, drawn by lot */
	struct GpuMemory *pool[GPU_MAX_SIDES];
	int			pools;
	CuFunctionRef fill,
				poison,
				overwrite,
				stage,
				sample,
				gather,
				change,
				pick,
				medians,
				compare,
				flush;
	uint32_t   *slots;			/* page-locked, read by kernels: those staged next */
	uint32_t	staged;
	const Arena *arena;
	CudaSample *items;			/* page-locked */
	CudaSample *places;			/* page-locked: overwritten next */
	/* page-locked, written by kernels: in the window, and again right after it */
	uint64_t   *values;
	uint32_t	nitems;
	const Executor *items_of;
	GpuSamples	drawn;
	/* that reading samples took last: longer where the GPU had to turn */
	double		read_seconds;
	CuStreamRef stream;			/* for copies that wait for no kernel */
	GpuLate		late;
	GpuTrap		trap;
	GpuAudit	audit;
	bool		spinning;		/* a thread keeps the executors' core awake between their turns */
	pthread_t	spinner;
	_Atomic uint32_t awake;
	_Atomic double lap[SPIN_LAPS];	/* what laps took that the thread made there; 0: not yet */
	double		core_lap;		/* their median when the last block had ended; NAN: not known */
	double		laps[GPU_LAPS]; /* such medians, the latest that were noted */
	uint32_t	nlaps;			/* that were noted in all */
	CuAddress	comparison;
	CuAddress	cold;			/* what is written to turn out the caches */
	size_t		cold_bytes;
	int			sampled;
	/* what sandboxes and builds need */
	char		node[32];
	char		nvcc[PATH_MAX];
	char		toolkit[PATH_MAX];	/* the folder above nvcc's */
	/* seen in the course of a measurement */
	int			sm_mhz[2];
	int			temperature[2];
	unsigned long long throttle;
	int			foreign;
	int			half_mhz;		/* when the half under way began; -1: not known */
	int			clock_changes;	/* halves in which the clock changed */
	int			disturbed;		/* halves in a row that should be measured again */
} Gpu;

/* whether a device's key names a GPU: "GPU-<uuid>", "cuda", "cuda:0" */
extern bool gpu_key(const char *key);

/* finds the GPU, turns m->device_key into its UUID, reserves a core; no context yet */
extern bool gpu_prepare(Measure *m, const char *key, const cpu_set_t *allowed);

/*
 * whether a call of our own went well; false after conclude() if not, which is never the
 * candidate's doing. `doing`: "to give memory"
 */
extern bool gpu_good(Measure *m, CuResult error, const char *doing);

/*
 * a kernel of our own over `work` elements in each of `rows`, enough blocks of it to fill the
 * device a few times; false after conclude()
 */
extern bool gpu_launch(Measure *m, CuFunctionRef function, uint64_t work, uint32_t rows,
					   void **parameters);

/* waits for all that the supervisor sent; false after conclude() */
extern bool gpu_synchronize(Measure *m);

/* cuda_awake.c: a thread on the executors' core, which spins while that is asked for */
extern void gpu_start_spinning(Measure *m);
/* seconds of a lap of arithmetic on that core, the median of the latest; NAN: not known */
extern double gpu_core_lap(const Gpu *gpu);
extern void gpu_keep_awake(Gpu *gpu, bool awake);
extern void gpu_stop_spinning(Gpu *gpu);

/* before the device is held: what needs no context */
extern bool gpu_start_driver(Measure *m);
/* once the device is held: context, kernels, memory */
extern bool gpu_open(Measure *m);

/*
 * The supervisor's kernels as PTX, to be freed. NULL: the program was built without them, and this
 * host has no NVRTC, neither in its libraries' folders nor beside the PyTorch of `python`; problem
 * says so in at most `size` bytes.
 */
extern char *gpu_kernels_compile(const char *python, char *problem, size_t size);

/* NULL, or that gpu_kernels_compile() will fail on this host, and what to install */
extern const char *gpu_kernels_problem(const char *python);
extern void gpu_close(Measure *m);

/*
 * one line for each GPU of this host; torch_cuda: the CUDA version of the interpreter's PyTorch, or
 * empty
 */
extern void gpu_list(const Options *options, const char *sandbox_problem, const char *torch,
					 const char *torch_cuda);
extern void gpu_environment(Measure *m);

/*
 * what sandboxes of code that uses the GPU need; `environment` takes pairs from index n on, and the
 * new n is returned
 */
extern int	gpu_sandbox(const Measure *m, Sandbox *sandbox, const char **environment, int n);

/* whether code may have several things to do at once, and has a use for several queues */
extern bool gpu_code_is_concurrent(JobLanguage language, const char *source);

/* for as many candidates as share a reference now */
extern bool gpu_arena_create(Measure *m, Arena *arena);
extern void gpu_arena_destroy(GpuArena *arena);

/* the arena as executors of a side see it, for as long as the whole lives */
extern Arena gpu_arena_of(const Arena *arena, Side side);

/*
 * draws which memory each has; while no candidate exists, since a process that maps memory keeps it
 */
extern void gpu_arena_draw(Measure *m, Arena *arena);

/* memory of a PyTorch executor, which the supervisor reads its outputs from */
extern GpuMemory *gpu_pool_create(Measure *m);
extern void gpu_pool_destroy(GpuMemory *pool);

/* that of a pair's first processes, in random order; and gives back what no process has taken */
extern bool gpu_pools_draw(Measure *m);
extern void gpu_pools_give_back(Measure *m);

/* bytes of the device that nothing holds; 0 after conclude() */
extern size_t gpu_memory_left(Measure *m);
/* whether too little is left now for so many processes' contexts; what is ending still counts */
extern bool gpu_is_short(Measure *m, int contexts);

extern bool gpu_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n);

/* outside the window: poison the outputs of these slots; their inputs follow within it */
extern bool gpu_stage(Measure *m, const Arena *arena, Side side, const uint32_t *slots, uint32_t n);

/* to where the next candidate's process could read what the last one left in a slot */
extern void gpu_unstage(Measure *m, const Arena *arena, uint32_t slot);

/* n = 0: the constant cost of a block that stages what was staged last */
extern bool gpu_block(Measure *m, Executor *executor, Side side, const uint32_t *slots, uint32_t n,
					  uint32_t flags, double timeout, double *elapsed);

/*
 * which of these slots, run by both sides next, are sampled within their windows; the first two it
 * names go last in a block
 */
extern void gpu_draw(Measure *m, const uint32_t *slots, uint32_t n);
extern bool gpu_check_samples(Measure *m, const Arena *arena);

/* pieces of one slot */
extern bool gpu_copy_pieces(Measure *m, const CudaPieces *pieces, uint32_t slot);

/*
 * the pieces of memory that a run's input is made of, from the master to where executors of a side
 * find them
 */
extern void gpu_pieces(Measure *m, const Arena *arena, Side side, CudaPieces *pieces);

/* where a slot's outputs lie that executors of a side write */
extern CuAddress gpu_outputs(const Arena *arena, Side side, uint32_t slot);

/* what a block's steps know */
typedef struct GpuSteps
{
	Measure    *m;
	Executor   *executor;
	Side		side;
	const Arena *arena;
	const uint32_t *slots;		/* of its runs */
	double		patience;		/* seconds that the GPU may need for what has been sent to it */
	bool		failed;			/* a call of our own, after conclude() */
} GpuSteps;

/*
 * cuda_late.c: how many runs' inputs can be late; drawing them; before a block's gates; the i-th
 * true input; whether a run is late
 */
extern uint32_t gpu_late_most(const Arena *arena, uint32_t wanted);
extern bool gpu_late_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t first,
						 uint32_t apart, uint32_t n);
extern void gpu_late_clear(Measure *m);
extern bool gpu_late_begin(Measure *m, const Arena *arena, Side side);
extern bool gpu_late_bring(Measure *m, const Arena *arena, Side side, uint32_t i);
extern bool gpu_late_is(const GpuLate *late, uint32_t run, uint32_t *i);
extern bool gpu_stream(Measure *m);

/* cuda_trap.c: blocks over these slots have a trap, drawn here, until gpu_trap_clear() */
extern bool gpu_trap_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t runs);
extern void gpu_trap_begin(Measure *m);
extern void gpu_trap_clear(Measure *m);
/* called before each run of a block, and after the last */
extern void gpu_trap_between(void *steps, uint32_t run, uint32_t runs);
extern bool gpu_is_idle(Measure *m, bool *failed);

/*
 * cuda_audit.c: likewise, blocks are audits; `late`: of their runs but the first the inputs come
 * late
 */
extern bool gpu_audit_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t runs,
						  bool late);
extern void gpu_audit_begin(Measure *m);
extern void gpu_audit_clear(Measure *m);
extern void gpu_audit_between(void *steps, uint32_t run, uint32_t runs);
extern bool gpu_audit_same(Measure *m, Executor *executor, const Arena *arena,
						   const uint32_t *slots, bool *same);

/*
 * where an element lies that the executor says it wrote; 0 if it says nonsense; the samples listed
 * in gpu->items
 */
extern CuAddress gpu_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run,
							 uint32_t slot, int output, uint64_t element);
extern bool gpu_read_samples(Measure *m, uint64_t *values);

/*
 * pytorch: random bytes into up to GPU_MAX_SAMPLES places in an executor's pool, of up to 64 bytes
 * each
 */
extern bool gpu_overwrite(Measure *m, Executor *executor, Side side, const struct iovec *places,
						  size_t n);

extern bool gpu_read(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
					 uint32_t slot, void *out);
/* whether a slot's inputs are as they were staged; those that are outputs, too, are left out */
extern bool gpu_inputs_same(Measure *m, const Arena *arena, Side side, uint32_t slot, bool *same);

/*
 * the first output alone, of a run whose part of the table is not there yet: laid out like run 0 of
 * the block before; false if it can't be
 */
extern bool gpu_read_first(Measure *m, Executor *executor, const Arena *arena, uint32_t run,
						   uint32_t slot, void *out);
extern bool gpu_compare(Measure *m, const void *expected, const void *found, int output,
						const Tolerance *tolerance, Comparison *result);
extern void *gpu_input(Measure *m, const Arena *arena, uint32_t slot, int input);
extern bool gpu_copy(Measure *m, const Arena *arena, uint32_t from, uint32_t to);
extern bool gpu_change(Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
					   const Change *change);
extern bool gpu_pick(Measure *m, const void *array, const Tensor *tensor, size_t count,
					 double *values);
extern bool gpu_medians(Measure *m, const void *outputs, uint32_t n, const Tensor *tensor,
						void *medians);
extern bool gpu_take(Measure *m, void *memory, const void *from, size_t bytes);
extern void *gpu_alloc(Measure *m, size_t bytes);
extern void gpu_free(Measure *m, void *memory);

/*
 * before the rounds of each half, and after them: clocks and neighbours; true if the half should be
 * measured again
 */
extern void gpu_begin_half(Measure *m);
extern bool gpu_disturbed(Measure *m, Executor *const *executors, int n);

/* sets gpu->nvcc and its toolkit; empty: there is no compiler */
extern void gpu_find_nvcc(Gpu *gpu);

#endif							/* CUDAL1_CUDA_H */
