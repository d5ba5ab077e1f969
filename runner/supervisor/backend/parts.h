/*
 * parts.h
 *		What several backends have in common.
 */
#ifndef CUDAL1_PARTS_H
#define CUDAL1_PARTS_H

#include "supervisor/backend.h"

/* starts.c: starts exec-c or exec-cuda; it fills in argv, the backend the rest of the sandbox */
extern ExecutorResult native_start(Measure *m, Executor *executor, Side code, const Arena *arena,
								   const char *program, Sandbox *sandbox);

/* the generator of a measurement's inputs, and processes forked from the parent of their seat */
extern bool torch_hand_arena(Measure *m, Arena *arena);
extern bool torch_generate(Measure *m, Arena *arena, uint32_t n);
extern ExecutorResult torch_fork(Measure *m, Executor *executor, int seat, const int *fds,
								 int nfds);

#endif							/* CUDAL1_PARTS_H */
