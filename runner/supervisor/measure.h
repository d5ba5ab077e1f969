/*
 * measure.h
 *		One measurement, from the build to the verdict.
 */
#ifndef CUDAL1_MEASURE_H
#define CUDAL1_MEASURE_H

#include "supervisor/types.h"

/* fills the results of all members; m->job, m->options and m->started are set */
extern void measure_run(Measure *m);

#endif							/* CUDAL1_MEASURE_H */
