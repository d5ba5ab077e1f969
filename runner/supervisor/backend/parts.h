/*
 * parts.h
 *		What several backends have in common.
 */
#ifndef CUDAL1_PARTS_H
#define CUDAL1_PARTS_H

#include "supervisor/backend.h"

#define START_SECONDS	30.0

/* on_host.c: arenas in shared memory, outputs compared on the CPU */
extern bool host_make_arena(Measure *m, Arena *arena, uint32_t slots);
extern bool host_prepare(Measure *m, const Arena *arena, Side side, uint32_t n);
extern void host_unstage(Measure *m, const Arena *arena, uint32_t slot);
extern const ArrayCalls host_arrays;

/* clang-format off */
#define HOST_CALLS \
	.make_arena = host_make_arena, .unstage = host_unstage, .prepare = host_prepare, \
	.arrays = &host_arrays, .output_share = 8, .light_rate = 1e12, .first_seconds = 30
/* clang-format on */

/*
 * starts.c: starts exec-c or exec-cuda, which load compiled code. It fills in argv; the backend
 * fills in the rest of the sandbox.
 */
extern ExecutorResult native_start(Measure *m, Executor *executor, Side code, const Arena *arena,
								   const char *program, Sandbox *sandbox);

/* the generator of a measurement's inputs, and processes forked from the parent of their seat */
extern bool torch_hand_arena(Measure *m, Arena *arena);
extern bool torch_generate(Measure *m, Arena *arena, uint32_t n);
extern ExecutorResult torch_fork(Measure *m, Executor *executor, int seat, const int *fds,
								 int nfds);

#endif							/* CUDAL1_PARTS_H */
