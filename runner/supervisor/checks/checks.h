/*
 * checks.h
 *		What comes before a clock counts.
 */
#ifndef CUDAL1_CHECKS_H
#define CUDAL1_CHECKS_H

#include "supervisor/types.h"

/* right on first inputs, and how long a run takes; false after conclude() */
extern bool checks_run(Measure *m);

#endif							/* CUDAL1_CHECKS_H */
