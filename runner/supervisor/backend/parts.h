/*
 * parts.h
 *		What several backends have in common.
 */
#ifndef CUDAL1_PARTS_H
#define CUDAL1_PARTS_H

#include <math.h>

#include "supervisor/backend.h"

#define START_SECONDS	30.0

extern const Backend backend_c;
extern const Backend backend_torch_cpu;
extern const Backend backend_cuda;
extern const Backend backend_torch_gpu;

/* on_host.c: arenas in shared memory, outputs compared on the CPU */
extern bool host_make_arena(Measure *m, Arena *arena, uint32_t slots, bool inputs_writable);
extern void host_noise(Measure *m, char *out, size_t bytes);

/* Takes memory out of all caches before a window, in which both sides are to find it alike. */
extern void host_forget(const char *memory, size_t bytes);

/* Brings memory into the caches of the core that calls it. */
extern void host_fetch(const char *memory, size_t bytes);
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
extern bool host_bases(Measure *m, const void *outputs, uint32_t n, const Tensor *tensor,
						 void *bases);
extern double host_scale_at(Measure *m, const float *scales, uint64_t element);
extern bool host_take(Measure *m, void *memory, const void *from, size_t bytes);

extern size_t host_arena_bytes(const Measure *m);
extern size_t host_memory_left(Measure *m);
extern size_t host_array_limit(const Measure *m);
extern void host_describe(Measure *m);

/* clang-format off */
#define HOST_CALLS \
	.describe = host_describe, .light_rate = 1e12, .first_seconds = 30, \
	.arrays = {.alloc = host_alloc, .free = host_free, .compare = host_compare, \
		.pick = host_pick, .bases = host_bases, .take = host_take, .scale_at = host_scale_at, \
		.input = host_input, .copy = host_copy, .change = host_change}, \
	.memory = {.left = host_memory_left, .array_limit = host_array_limit, \
		.arena_bytes = host_arena_bytes, .output_share = 8}
/* clang-format on */

/* on_gpu.c: likewise, in memory of the GPU */
extern bool gpu_make_arena(Measure *m, Arena *arena, uint32_t slots);
extern size_t gpu_arena_limit(const Measure *m);
extern size_t gpu_array_limit(const Measure *m);
extern void gpu_build_key(Measure *m, json_t *key);
extern bool gpu_begin_pair(Measure *m, Arena *arena);
extern int	gpu_room(Measure *m, int n);

/* Memory for outputs is kept small for the executors' sake. */
/* clang-format off */
#define GPU_CALLS \
	.apart = true, .describe = gpu_environment, .start_driver = gpu_start_driver, \
	.open = gpu_open, .stage = gpu_stage, .unstage = gpu_unstage, \
	.load = gpu_load, .prepare = gpu_prepare_window, .bring = gpu_bring, \
	.element = gpu_element, .peek = gpu_peek, .rests = gpu_rests, \
	.arrays = {.alloc = gpu_alloc, .free = gpu_free, .compare = gpu_compare, \
		.pick = gpu_pick, .bases = gpu_bases, .take = gpu_take, .scale_at = gpu_scale_at, \
		.input = gpu_input, .copy = gpu_copy, .change = gpu_change, \
		.inputs_same = gpu_inputs_same}, \
	.memory = {.left = gpu_memory_left, .array_limit = gpu_array_limit, \
		.arena_bytes = gpu_arena_limit, .output_share = 0.25}, \
	.light_rate = 4e13, .first_seconds = INFINITY, .builds.key = gpu_build_key, \
	.begin_pair = gpu_begin_pair, .room = gpu_room
/* clang-format on */

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
