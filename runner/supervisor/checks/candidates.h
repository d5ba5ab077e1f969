/*
 * candidates.h
 *		Candidates before any pair: is each right, and how long does a run take.
 */
#ifndef CUDAL1_CANDIDATES_H
#define CUDAL1_CANDIDATES_H

#include "supervisor/checks/first.h"

/* of all members that are left; one that is wrong leaves its heat */
extern void checks_of_candidates(Checks *c);

#endif							/* CUDAL1_CANDIDATES_H */
