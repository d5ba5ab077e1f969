/*
 * backend.h
 *		The table of calls for one language on one device.
 *
 * The tables are in files of backend/, where languages.h lists them. Functions that return bool
 * return false after conclude().
 */
#ifndef CUDAL1_BACKEND_H
#define CUDAL1_BACKEND_H

#include "supervisor/measure.h"

#define COMPILED	"code.so"	/* the name of what compilers make */

/* a compiler for one side's code, and what it is given */
typedef struct Compiler
{
	const char *argv[20];		/* NULL is the last */
	const char *source;			/* the name of the code's file */
	const char *probe;			/* the name of a second file with `probe_text`; NULL: none */
	const char *probe_text;
	const char *toolkit;		/* a folder that it needs to see; NULL: none */
	char		arch[32];		/* part of the key of kept builds; "": not kept */
	char		flags[64];		/* as evidence names them */
	bool		reads_proc;
} Compiler;

struct Interpreter;

/* What a Python interpreter is started for. */
typedef enum InterpreterUse
{
	USE_FORKS,					/* its forks run the code */
	USE_BUILD,					/* a build with the device */
	USE_AHEAD					/* a build before the device is held, which it can't reach */
} InterpreterUse;

/* how code is built */
typedef struct BuildCalls
{
	/* of functions: how their code is compiled; for a profiler, with the numbers of its lines */
	bool		(*compiler) (Measure *m, Compiler *compiler, bool lines);
	const char *tool;			/* that compiler's program, and on a CPU its package */
	const char *version;		/* a command whose first line is its version */
	/* of modules: what an interpreter needs on this device */
	void		(*interpreter) (Measure *m, struct Interpreter *i, Sandbox *sandbox,
								InterpreterUse use);
	/* to the key of kept builds: the device that they are for; NULL: any */
	void		(*key) (Measure *m, json_t *key);
} BuildCalls;

/* Arrays that the supervisor works on: inputs, and outputs that were read. */
typedef struct ArrayCalls
{
	/* memory for outputs that were read, and whether one of them is right there */
	void	   *(*alloc) (Measure *m, size_t bytes);
	void		(*free) (Measure *m, void *memory);
	bool		(*compare) (Measure *m, const void *expected, const void *found, int output,
							const Tolerance *tolerance, Comparison *result);
	/* of an array that was read: `count` of its elements, see tolerance_pick() */
	bool		(*pick) (Measure *m, const void *array, const Tensor *tensor, size_t count,
						 double *values);
	/* the bases of an output's elements over `n` of a run's outputs, see tensor_base() */
	bool		(*bases) (Measure *m, const void *outputs, uint32_t n, const Tensor *tensor,
							void *bases);
	/* The supervisor's handle of a slot's input, for the other functions here alone. */
	void	   *(*input) (Measure *m, const Arena *arena, uint32_t slot, int input);
	/* to a slot all inputs of another one, or one of them that is a tensor, changed */
	bool		(*copy) (Measure *m, const Arena *arena, uint32_t from, uint32_t to);
	bool		(*change) (Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
						   const Change *change);
	/* an array that was read, or an input, with less in it, to another place */
	bool		(*thin) (Measure *m, const void *from, void *to, const Thinning *thin);
	/* bytes of the supervisor's to memory that alloc gave */
	bool		(*take) (Measure *m, void *memory, const void *from, size_t bytes);
	/* an element of an array in such memory */
	double		(*element) (Measure *m, const void *array, uint32_t dtype, uint64_t element);
} ArrayCalls;

typedef struct Backend
{
	/* whether tasks are Python modules, which make their inputs and have state; else functions */
	bool		module;
	/* whether each side has memory of its own on a device, and inputs have a master copy beside */
	bool		apart;
	BuildCalls	builds;
	const ArrayCalls *arrays;
	/* bytes that a device has left; NULL on a host */
	size_t		(*memory_left) (Measure *m);
	double		output_share;	/* of an arena's bytes, for outputs that are kept to be compared */
	/* Writes a GPU into the evidence; NULL on a host. */
	void		(*describe) (Measure *m);
	/* before the device is taken, and once it is; NULL: nothing */
	bool		(*start_driver) (Measure *m);
	bool		(*open) (Measure *m);

	/* memory for the inputs and outputs of so many runs */
	bool		(*make_arena) (Measure *m, Arena *arena, uint32_t slots);
	/* fresh inputs for slots 0 .. n - 1 */
	bool		(*generate) (Measure *m, Arena *arena, uint32_t n);
	/* a process for the code of one side, which is not loaded yet; false: the host fails */
	bool		(*start) (Measure *m, Executor *executor, Side side, int seat, const Arena *arena);

	/* for a single run, without a clock: its input to where it is found, noise to its outputs */
	bool		(*stage) (Measure *m, const Arena *arena, Side side, uint32_t slot);
	/* noise to where a run's input and output are, before another candidate can look there */
	void		(*unstage) (Measure *m, const Arena *arena, uint32_t slot);
	/* whether a staged slot's inputs are still as they were; NULL where they can't be written to */
	bool		(*inputs_same) (Measure *m, const Arena *arena, Side side, uint32_t slot,
								bool *same);

	/*
	 * For windows. load: the inputs of slots 0 .. n - 1 to where bring() takes them from, once a
	 * round; NULL: they are there. prepare: noise to the outputs of these slots, and to their
	 * inputs where both sides share them, before a window. bring: a run's input to where the
	 * process finds it; a clock may run. Run number k has slot number k.
	 */
	bool		(*load) (Measure *m, Arena *arena, uint32_t n);
	bool		(*prepare) (Measure *m, const Arena *arena, Side side, uint32_t n);
	bool		(*bring) (Measure *m, const Arena *arena, Side side, uint32_t slot);
	/*
	 * An element of an output of a run of the window under way: where it lies, 0 if the process
	 * says nonsense; up to LOOKS of them read. Where a module's results have been read, a caller
	 * may write: on a CPU noise to an output of a run, on a GPU to some of its elements. The
	 * stretch is all of the output.
	 */
	uint64_t	(*element) (Measure *m, Executor *executor, const Arena *arena, uint32_t run,
							int output, uint64_t element);
	bool		(*peek) (Measure *m, Executor *executor, const uint64_t *address, int n,
						 size_t size, uint64_t *value);
	bool		(*poke) (Measure *m, const uint64_t *address, int n, size_t size);
	bool		(*overwrite) (Measure *m, Executor *executor, uint32_t run, int output,
							  WireStretch *stretch);
	/* whether the device has come to rest; NULL where work ends when its process is stopped */
	bool		(*rests) (Measure *m, bool *rests);

	/*
	 * An output of a run, gathered: of functions from its slot, of modules from where the process
	 * says that it lies, as executor->listed has that.
	 */
	bool		(*read) (Measure *m, Executor *executor, const Arena *arena, uint32_t slot,
						 int output, void *out);
	double		light_rate;		/* bytes that no code writes in a second, even to caches */
	double		first_seconds;	/* limit of a process's first run, beside build_seconds */
	/* before a pair's processes exist: which of them gets which memory, by lot; or NULL */
	bool		(*begin_pair) (Measure *m, Arena *arena);
	/* how many of `n` candidates a pair has memory for; NULL: all */
	int			(*room) (Measure *m, int n);
} Backend;

/* backend.c: the backend of a language on a GPU or a CPU; NULL: it has none there */
extern const Backend *backend_of(int language, bool gpu);

/* starts.c: starts exec-c or exec-cuda; it fills in argv, the backend the rest of the sandbox */
extern bool native_start(Measure *m, Executor *executor, Side code, const Arena *arena,
						 const char *program, Sandbox *sandbox);

/* the generator of a measurement's inputs, and processes forked from the parent of their seat */
extern bool torch_hand_arena(Measure *m, Arena *arena);
extern bool torch_generate(Measure *m, Arena *arena, uint32_t n);
extern bool torch_fork(Measure *m, Executor *executor, int seat, const int *fds, int nfds);

#endif							/* CUDAL1_BACKEND_H */
