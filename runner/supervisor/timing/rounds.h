/*
 * rounds.h
 *		Pairs until there are enough of them, and the verdict.
 */
#ifndef CUDAL1_ROUNDS_H
#define CUDAL1_ROUNDS_H

#include "supervisor/types.h"

/* times both sides; the outcome is set in m->result */
extern void rounds_run(Measure *m);

#endif							/* CUDAL1_ROUNDS_H */
