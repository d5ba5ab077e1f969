/*
 * poison.h
 *		What a PyTorch block has left is overwritten where it lies.
 */
#ifndef CUDAL1_POISON_H
#define CUDAL1_POISON_H

#include "supervisor/types.h"

/*
 * Overwrites what the last block of a stopped executor has left, once what is compared has been
 * read; false after conclude(). Does nothing in other languages.
 */
extern bool measure_poison(Measure *m, Executor *executor, Side side);

/*
 * Seconds that filling takes of those outputs of the last block that lie where no recent block's
 * lay: they may have been filled before the clock ran.
 */
extern double measure_fill(Measure *m, const Executor *executor);

#endif							/* CUDAL1_POISON_H */
