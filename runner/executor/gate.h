/*
 * gate.h
 *		The gate of a window, on the executor's side.
 */
#ifndef CUDAL1_EXECUTOR_GATE_H
#define CUDAL1_EXECUTOR_GATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * cudal1_gate_begin: says that the process has come to its first gate. cudal1_gate_wait: says that
 * it has come to that of run number `run`, with which the run before has ended, and returns 1 when
 * the run may begin, 0 when the window has ended. `control`: the executor's WireControl; `sleeps`
 * is not 0 where runs are long.
 */
extern void cudal1_gate_begin(void *control, int sleeps);
extern int	cudal1_gate_wait(uint32_t run);

/*
 * Lists memory that the process reads while it waits at gates, up to 64 MiB in all; again from the
 * same place, where it has another end.
 */
extern void cudal1_gate_walk(const void *from, const void *to);

#endif							/* CUDAL1_EXECUTOR_GATE_H */
