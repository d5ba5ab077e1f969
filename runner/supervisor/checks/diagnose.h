/*
 * diagnose.h
 *		Why a candidate's outputs are wrong.
 */
#ifndef CUDAL1_DIAGNOSE_H
#define CUDAL1_DIAGNOSE_H

#include "supervisor/types.h"

/*
 * Where the verdict is that a candidate is wrong, or ended by a bad memory access, runs it some
 * more times to find the cause, for a few seconds at most. The cause's code goes into the
 * evidence, and words for it to the end of the verdict's detail. The verdict stays.
 */
extern void diagnose(Measure *m);

#endif							/* CUDAL1_DIAGNOSE_H */
