/*
 * diagnose.h
 *		Why a candidate's outputs are wrong.
 */
#ifndef CUDAL1_DIAGNOSE_H
#define CUDAL1_DIAGNOSE_H

#include "supervisor/types.h"

/*
 * Runs candidates whose outputs are wrong, and whose cause is not known, some more times to find
 * it, for a few seconds each. The cause's code goes into the evidence (docs/tasks.md), and words
 * for it to the end of the verdict's detail. The verdict stays.
 */
extern void diagnose(Measure *m);

#endif							/* CUDAL1_DIAGNOSE_H */
