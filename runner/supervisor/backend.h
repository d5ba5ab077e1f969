/*
 * backend.h
 *		The table of calls for one language on one device.
 *
 * Each of the four is a table in a file of backend/: C and PyTorch on a CPU, CUDA and PyTorch on a
 * GPU. Functions that return bool return false after conclude().
 */
#ifndef CUDAL1_BACKEND_H
#define CUDAL1_BACKEND_H

#include "supervisor/types.h"

typedef struct Backend
{
	/*
	 * memory for the inputs and outputs of blocks; `spare`: on a GPU, more inputs of the master's
	 */
	bool		(*make_arena) (Measure *m, Arena *arena, uint32_t slots, uint32_t spare);
	/* fresh inputs for `n` of the slots */
	bool		(*generate) (Measure *m, Arena *arena, const uint32_t *slots, uint32_t n);
	/* a process that runs the code of one side in the memory of `side`, its code not loaded yet */
	ExecutorResult (*start) (Measure *m, Executor *executor, Side code, Side side, int seat,
							 const Arena *arena);
	/*
	 * before a block of these slots: inputs to where they are found, noise to where outputs will be
	 */
	bool		(*stage) (Measure *m, const Arena *arena, Side side, const uint32_t *slots,
						  uint32_t n);
	/*
	 * a slot's input to where a side finds it, while no clock runs; NULL where first runs take no
	 * time to speak of
	 */
	bool		(*bring) (Measure *m, const Arena *arena, Side side, uint32_t slot);
	/*
	 * to where a run's input and output are: noise, where both sides map the same memory; on a GPU
	 * something else than what the last candidate has left
	 */
	void		(*unstage) (Measure *m, const Arena *arena, uint32_t slot);
	/*
	 * likewise, noise to all of a slot that its code may have written to; `staged`: but for the
	 * arrays, which staging overwrites
	 */
	void		(*blank) (Measure *m, const Arena *arena, uint32_t slot, bool staged);
	/* runs on staged slots, none or more; seconds of them all */
	bool		(*block) (Measure *m, Executor *executor, Side side, const uint32_t *slots,
						  uint32_t n, double timeout, double *elapsed);
	/* the outputs of a run of the last block, gathered */
	bool		(*read) (Measure *m, Executor *executor, Side side, const Arena *arena,
						 uint32_t run, uint32_t slot, void *out);
	/*
	 * outputs_apart: random bytes into these places of a block's outputs; NULL: by writing into the
	 * process
	 */
	bool		(*overwrite) (Measure *m, Executor *executor, Side side, const struct iovec *places,
							  size_t n);
	/* memory for outputs that were read, and whether one of them is right there */
	void	   *(*alloc) (Measure *m, size_t bytes);
	void		(*free) (Measure *m, void *memory);
	bool		(*compare) (Measure *m, const void *expected, const void *found, int output,
							const Tolerance *tolerance, Comparison *result);
	/* of an array that was read: `count` of its elements, see tolerance_pick() */
	bool		(*pick) (Measure *m, const void *array, const Tensor *tensor, size_t count,
						 double *values);
	/* the medians of an output's elements over `n` of a run's outputs, see tensor_medians() */
	bool		(*medians) (Measure *m, const void *outputs, uint32_t n, const Tensor *tensor,
							void *medians);
	/* where the supervisor has a slot's input, of which only others of these functions know more */
	void	   *(*input) (Measure *m, const Arena *arena, uint32_t slot, int input);
	/* to a slot all inputs of another one, or one of them that is a tensor, changed */
	bool		(*copy) (Measure *m, const Arena *arena, uint32_t from, uint32_t to);
	bool		(*change) (Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
						   const Change *change);
	/* bytes of the supervisor's to memory that alloc gave */
	bool		(*take) (Measure *m, void *memory, const void *from, size_t bytes);
	/* whether a staged slot's inputs are still as they were; NULL where they can't be written to */
	bool		(*inputs_same) (Measure *m, const Arena *arena, Side side, uint32_t slot,
								bool *same);

	/* of a slot, in all memory together: the master, and what executors of either side map */
	int			input_copies;
	int			output_copies;
	bool		outputs_apart;	/* executors keep a block's outputs in memory of their own */
	/* bytes for arenas, and for the outputs of a block where they are apart; 0: no limit */
	size_t		(*arena_bytes) (const Measure *m);
	size_t		(*block_outputs) (const Measure *m);

	double		output_share;	/* of arena_bytes, for outputs that are kept to be compared */
	double		fill_rate;		/* bytes that are filled in a second, about */
	double		first_seconds;	/* limit of a process's first run, beside build_seconds */
	double		cold_block;		/* seconds that a block takes more where caches are cold, about */
	double		cold_seconds;	/* that a run by itself takes more, where code is cold */
	double		least_single;	/* seconds that a block of a single run counts for at least */
	int			alone_blocks;	/* for the reference's time alone */
	int			alone_again;	/* times as many at most, when the candidate has ended */
	double		wall_factor;	/* wall time of a half, in its clock time */
	double		making_factor;	/* times block_seconds that making the inputs of a block may take */
	/* of a pair, each with fresh processes of both sides */
	int			halves;
	/*
	 * runs can be made to begin one by one, with inputs that come late: traps, and audits of a
	 * few runs
	 */
	bool		steps;

	/* where work goes on while a process is stopped; NULL elsewhere */
	/* before a pair's processes exist: which of them gets which memory, by lot */
	bool		(*begin_pair) (Measure *m, Arena *arena);
	/*
	 * before the rounds of a half, and after them: clocks and neighbours; true if the half should
	 * be measured again
	 */
	void		(*begin_half) (Measure *m);
	bool		(*disturbed) (Measure *m, Executor *const *executors, int n);
	/*
	 * which of these slots, run by all sides next, are sampled within their windows, or that none
	 * are any more; whether the samples of the candidate whose arena this is agree
	 */
	void		(*draw) (Measure *m, const uint32_t *slots, uint32_t n);
	bool		(*check_samples) (Measure *m, const Arena *arena);
} Backend;

extern const Backend backend_c;
extern const Backend backend_torch_cpu;
extern const Backend backend_cuda;
extern const Backend backend_torch_gpu;

#endif							/* CUDAL1_BACKEND_H */
