/*
 * ended.h
 *		Processes that are ended, and on a GPU may not be gone yet.
 */
#ifndef CUDAL1_ENDED_H
#define CUDAL1_ENDED_H

#include "supervisor/types.h"

extern void measure_end(Measure *m, Executor *executor);
/* waits until all that have been ended are gone */
extern void measure_reap(Measure *m);

#endif							/* CUDAL1_ENDED_H */
