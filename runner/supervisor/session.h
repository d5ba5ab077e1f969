/*
 * session.h
 *		Processes of both sides, and what they are asked for: starts, inputs, runs.
 */
#ifndef CUDAL1_SESSION_H
#define CUDAL1_SESSION_H

#include "supervisor/ended.h"

/*
 * starts a process of a side's code and loads the code; `seat`: which of PyTorch's parents forks
 * it. False after conclude()
 */
extern bool measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena,
						   uint64_t weight_seed);

/*
 * Loads code side by side on a GPU while no clock runs: libraries and kernels of several processes
 * are loaded in the time of one. Each step is taken for all processes, and executor_await() waits
 * for them before the next one. The first run, in PyTorch, is on the input of slot 0. Processes
 * hold each other up, so they have `build_seconds` more than by themselves. False after conclude()
 */
extern bool measure_begin_load(Measure *m, Executor *executor, Side side, int seat,
							   const Arena *arena, uint64_t weight_seed);
extern bool measure_begin_first(Measure *m, Executor *executor, const Arena *arena, uint64_t seed,
								double timeout);
extern bool measure_end_load(Measure *m, Executor *executor);

/* an arena of so many slots for all sides; false after conclude() */
extern bool measure_arena(Measure *m, Arena *arena, uint32_t slots);

/* makes inputs, stages them; false after conclude() */
extern bool measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n);
extern bool measure_stage(Measure *m, Arena *arena, Side side, uint32_t slot);

/* noise in the place of a run's input and output, where a later process could read them */
extern void measure_unstage(Measure *m, Arena *arena, uint32_t slot);

/* one run on a staged slot; `elapsed`: its seconds with those of the command around it */
extern bool measure_single(Measure *m, Executor *executor, Side side, uint32_t slot, uint64_t seed,
						   double timeout, double *elapsed);

/* seconds that a run of the candidate may take */
extern double measure_run_limit(const Measure *m);

#endif							/* CUDAL1_SESSION_H */
