/*
 * cuda.h
 *		The supervisor's hold on a GPU: what it is, its memory, and the calls of a window there.
 *
 * Functions that take a Measure and return bool return false after conclude().
 */
#ifndef CUDAL1_CUDA_H
#define CUDAL1_CUDA_H

#include "common/cuda_driver.h"
#include "supervisor/gpu/cuda_kernels.h"
#include "supervisor/measure.h"

/* what NVIDIA's management library tells of a GPU */
typedef struct NvmlDevice
{
	char		uuid[96];		/* "GPU-..." */
	char		name[96];
	char		driver[96];
	int			index;			/* NVML's, that of nvidia-smi */
	unsigned int minor;			/* of /dev/nvidiaN */
	int			major_capability;
	int			minor_capability;
	size_t		memory_bytes;
	bool		mig;
} NvmlDevice;

/* The state of a GPU in the course of a measurement. */
typedef struct GpuSeen
{
	int			sm_mhz[2];		/* the least and the most; 0: not known */
	int			temperature[2]; /* degrees Celsius */
	unsigned long long throttle;	/* NVML's clocks event reasons */
	int			foreign;		/* processes of others that compute on it, at most */
} GpuSeen;

#define GPU_MAX_SIDES	(1 + HEAT_MAX)
/* of what is left of its memory, for processes that live together */
#define GPU_SHARE		0.9

/* an allocation of its own that another process can map by its descriptor */
typedef struct GpuMemory
{
	const CuDriver *driver;		/* NULL: there is no memory */
	CuHandle	handle;
	CuAddress	address;		/* in the supervisor */
	size_t		bytes;
	int			fd;
} GpuMemory;

/* arena.gpu: slots of the reference's processes, of the candidate's, and of each more of a group */
typedef struct GpuArena
{
	int			sides;
	GpuMemory	inputs[GPU_MAX_SIDES];
	GpuMemory	outputs[GPU_MAX_SIDES];
	GpuMemory	master;			/* the generator maps it, an executor its own slots alone */
	/* memory of each side; drawn, as its place makes a kernel up to 1 % faster */
	int			has[GPU_MAX_SIDES];
} GpuArena;

/* Memory that a run's input is made of in the master, and where executors find it. */
typedef struct CudaPiece
{
	CuAddress	from;
	CuAddress	to;
	uint64_t	bytes;			/* rounded up to 16 */
	bool		is_output;		/* as well */
} CudaPiece;

typedef struct CudaPieces
{
	uint32_t	n;
	CudaPiece	piece[WIRE_MAX_ARGUMENTS];
} CudaPieces;

/*
 * Inputs of a round's runs in page-locked memory, from which they are brought one by one. Of an
 * input that is too large for it a part comes late, and the rest lies there before the window.
 */
typedef struct GpuLate
{
	char	   *input;
	size_t		bytes;
	uint64_t	offset[WIRE_MAX_ARGUMENTS];	/* of the late part of each piece of an input */
	uint64_t	part[WIRE_MAX_ARGUMENTS];	/* bytes of the late part */
	size_t		at[WIRE_MAX_ARGUMENTS];		/* offset of the part in a run's stretch */
	size_t		stretch;		/* bytes of a run */
} GpuLate;

/* the supervisor's own, see cuda_kernels.cu */
typedef enum GpuKernel
{
	GPU_FILL, GPU_POISON, GPU_GATHER, GPU_CHANGE, GPU_PICK, GPU_BASES, GPU_THIN, GPU_COMPARE,
	GPU_KERNELS
} GpuKernel;

typedef struct Gpu
{
	CuDriver	driver;
	NvmlDevice	nvml;
	CuDevice	device;
	bool		open;
	int			multiprocessors;
	size_t		set_pool_bytes;	/* of each PyTorch executor of a set of several */
	/* of the next executors, which draw from them */
	struct GpuMemory *pool[GPU_MAX_SIDES];
	int			pools;
	CuFunctionRef kernel[GPU_KERNELS];
	CuStreamRef stream;			/* for copies that wait for no kernel */
	char	   *few;			/* page-locked, for elements of outputs */
	GpuLate		late;
	CuAddress	comparison;
	CuAddress	flush;			/* memory that caches are filled with */
	size_t		flush_bytes;
	/* files that sandboxes and builds need */
	char		node[32];
	char		nvcc[PATH_MAX];
	char		toolkit[PATH_MAX];	/* the folder above nvcc's */
	GpuSeen		seen;
} Gpu;

/* whether a device's key names a GPU: "GPU-<uuid>", "cuda", "cuda:0" */
extern bool gpu_key(const char *key);

/* finds the GPU, turns m->device.key into its UUID, reserves a core; no context yet */
extern bool gpu_prepare(Measure *m, const cpu_set_t *allowed);

/* whether a call of our own went well; a failure is never the candidate's. `doing`: "to start" */
extern bool gpu_good(Measure *m, CuResult error, const char *doing);

/* a kernel of our own over `work` elements in each of `rows`, in blocks that fill the device */
extern bool gpu_launch(Measure *m, GpuKernel kernel, uint64_t work, uint32_t rows,
					   void **parameters);

/* waits for all that the supervisor sent */
extern bool gpu_synchronize(Measure *m);

/* before the device is held: what needs no context; once it is: context, kernels, memory */
extern bool gpu_start_driver(Measure *m);
extern bool gpu_open(Measure *m);
extern void gpu_close(Measure *m);

/* The supervisor's kernels as PTX; empty where the program was built without nvcc. */
extern const char gpu_kernels[];

/* of shell commands that start nvcc */
#define NVCC_PATH		"PATH=/usr/local/cuda/bin${PATH:+:$PATH}:/usr/bin:/bin; "

#define GPU_NO_KERNELS	"this program was built without kernels for GPUs: build it where nvcc is"

/* prints a line for each GPU; torch_cuda: the CUDA version of the PyTorch there, or empty */
extern void gpu_list(const Options *options, const char *sandbox_problem, const char *torch,
					 const char *torch_cuda);
extern void gpu_environment(Measure *m);

/* adds what sandboxes of code that uses the GPU need; `device`: its nodes, too */
extern void gpu_sandbox(const Measure *m, Sandbox *sandbox, bool device);

/* for as many candidates as share a reference now */
extern bool gpu_make_arena(Measure *m, Arena *arena, uint32_t slots);

/* the arena as executors of a side see it, for as long as the whole lives */
extern Arena gpu_arena_of(const Arena *arena, Side side);

/* a PyTorch executor's memory: of those made for a pair, by lot, or new; NULL after conclude() */
extern GpuMemory *gpu_pool_create(Measure *m);
extern void gpu_pool_destroy(GpuMemory *pool);

/* before a pair's processes exist: draws or makes their memory */
extern bool gpu_draw_memory(Measure *m, Arena *arena);

/* bytes of the device that nothing holds; 0 after conclude() */
extern size_t gpu_memory_left(Measure *m);

/* to where the next candidate's process could read what the last one left in a slot */
extern void gpu_unstage(Measure *m, const Arena *arena, uint32_t slot);

/* the memory that a run's input is made of, and where executors of a side find it */
extern CudaPieces gpu_pieces(const Measure *m, const Arena *arena, Side side, uint32_t slot);

/* Address of a slot's outputs that executors of a side write. */
extern CuAddress gpu_outputs(const Arena *arena, Side side, uint32_t slot);

/* bytes of gpu->few: elements that are read, and noise that is written */
#define GPU_FEW_BYTES	4096

/* cuda_check.c: outputs */
extern uint64_t gpu_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run,
							int output, uint64_t element);
extern bool gpu_read(Measure *m, Executor *executor, const Arena *arena, uint32_t slot, int output,
					 void *out);
/* whether a slot's inputs are as they were staged; those that are outputs, too, are left out */
extern bool gpu_inputs_same(Measure *m, const Arena *arena, Side side, uint32_t slot, bool *same);
extern const struct ArrayCalls gpu_arrays;

/* cuda.c: memory of the supervisor's own; NULL: there is none */
extern void *gpu_alloc(Measure *m, size_t bytes);
extern void gpu_free(Measure *m, void *memory);

/* notes clocks, temperature, throttling and processes of others in a measurement's evidence */
extern void gpu_note_state(Measure *m);

#endif							/* CUDAL1_CUDA_H */
