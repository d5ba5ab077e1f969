/*
 * parts.h
 *		What several backends have in common.
 */
#ifndef CUDAL1_PARTS_H
#define CUDAL1_PARTS_H

#include <math.h>

#include "supervisor/backend.h"

#define START_SECONDS	30.0

/* on_host.c: arenas in shared memory, blocks by commands, outputs compared on the CPU */
extern bool host_make_arena(Measure *m, Arena *arena, uint32_t slots, bool inputs_writable);
extern bool host_block(Measure *m, Executor *executor, Side side, const uint32_t *slots, uint32_t n,
					   double timeout, double *elapsed);
extern void host_noise(Measure *m, char *out, size_t bytes);

/*
 * Takes memory out of all caches, before it is written for a block. What a process has left of it
 * there, or has taken out itself, would make the other side's block quick or slow.
 */
extern void host_forget(const char *memory, size_t bytes);
/* noise to what is mapped of the last page beyond these bytes */
extern void host_blank_end(Measure *m, char *memory, size_t bytes);
extern void *host_alloc(Measure *m, size_t bytes);
extern void host_free(Measure *m, void *memory);
extern bool host_compare(Measure *m, const void *expected, const void *found, int output,
						 const Tolerance *tolerance, Comparison *result);
extern void *host_input(Measure *m, const Arena *arena, uint32_t slot, int input);
extern bool host_copy(Measure *m, const Arena *arena, uint32_t from, uint32_t to);
extern bool host_change(Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
						const Change *change);
extern bool host_pick(Measure *m, const void *array, const Tensor *tensor, size_t count,
					  double *values);
extern bool host_medians(Measure *m, const void *outputs, uint32_t n, const Tensor *tensor,
						 void *medians);
extern bool host_take(Measure *m, void *memory, const void *from, size_t bytes);

extern size_t host_arena_bytes(const Measure *m);
extern size_t host_block_outputs(const Measure *m);

#define HOST_CALLS \
	.block = host_block, .alloc = host_alloc, .free = host_free, .compare = host_compare, \
	.pick = host_pick, .medians = host_medians, .take = host_take, \
	.input = host_input, .copy = host_copy, .change = host_change, \
	.arena_bytes = host_arena_bytes, .block_outputs = host_block_outputs, \
	HOST_NUMBERS

/*
 * No algorithms are tried there, so a first run is short. Code that is bound by memory takes less
 * time than making its inputs, so these have a share of it.
 */
#define HOST_NUMBERS \
	.input_copies = 2, .output_copies = 1, .output_share = 8, .fill_rate = 1e10, \
	.cold_block = 3e-4, \
	.first_seconds = 30, .least_single = 1e-9, .alone_blocks = 3, .alone_again = 1, \
	.wall_factor = 1.5, .making_factor = 0.25, .halves = 2

/* on_gpu.c: likewise, in memory of the GPU */
extern bool gpu_make_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare);
extern bool gpu_run(Measure *m, Executor *executor, Side side, const uint32_t *slots, uint32_t n,
					double timeout, double *elapsed);
extern size_t gpu_arena_limit(const Measure *m);
extern size_t gpu_block_outputs(const Measure *m);
extern bool gpu_begin_pair(Measure *m, Arena *arena);

#define GPU_CALLS \
	.stage = gpu_stage, .unstage = gpu_unstage, .block = gpu_run, \
	.alloc = gpu_alloc, .free = gpu_free, \
	.compare = gpu_compare, .pick = gpu_pick, .medians = gpu_medians, .take = gpu_take, \
	.input = gpu_input, .copy = gpu_copy, .change = gpu_change, \
	.inputs_same = gpu_inputs_same, \
	.arena_bytes = gpu_arena_limit, .block_outputs = gpu_block_outputs, \
	.steps = true, \
	.begin_pair = gpu_begin_pair, .begin_half = gpu_begin_half, .disturbed = gpu_disturbed, \
	.draw = gpu_draw, .check_samples = gpu_check_samples, \
	GPU_NUMBERS

/*
 * Staging is within the window there and steady, so that a half takes less wall time. Memory is
 * kept small for the executors' sake. One order's blocks are held against the reference's alone.
 * Starting processes takes longer than their rounds, so a pair is one half.
 */
#define GPU_NUMBERS \
	.input_copies = 3, .output_copies = 2, .output_share = 0.25, .fill_rate = 2e12, \
	.cold_block = 1e-4, \
	.first_seconds = INFINITY, .least_single = 1e-6, .alone_blocks = 5, .alone_again = 4, \
	.wall_factor = 1.7, .making_factor = 2, .halves = 1

/*
 * native.c: starts exec-c or exec-cuda, which load compiled code. It fills in argv; the backend
 * fills in the rest of the sandbox.
 */
extern ExecutorResult native_start(Measure *m, Executor *executor, Side code, const Arena *arena,
								   const char *program, Sandbox *sandbox);

/*
 * torch.c: the generator of a measurement's inputs, and processes forked from the parent of their
 * seat.
 */
extern bool torch_hand_arena(Measure *m, Arena *arena);
extern bool torch_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n);
extern ExecutorResult torch_fork(Measure *m, Executor *executor, int seat, const int *fds,
								 int nfds);

#endif							/* CUDAL1_PARTS_H */
