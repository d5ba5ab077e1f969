/*
 * signal.h
 *		What changes in an output when the inputs change, which tolerances are a share of.
 */
#ifndef CUDAL1_SIGNAL_H
#define CUDAL1_SIGNAL_H

#include "supervisor/types.h"

/*
 * Fills m->tolerance from the reference's outputs for `n` inputs, which lie one after the other.
 * False after conclude()
 */
extern bool signal_learn(Measure *m, const char *outputs, uint32_t n);

/*
 * Sets the scale and the base of `t` for an output of a changed input, from those of its elements
 * that differ from an ordinary one's
 */
extern bool signal_of_change(Measure *m, int output, const void *ordinary, const void *changed,
							 Tolerance *t);

/* gives back what m->tolerance points to */
extern void signal_forget(Measure *m);

#endif							/* CUDAL1_SIGNAL_H */
