/*
 * probes.h
 *		Inputs that a task's generator rarely makes, on which candidates must be right, too.
 */
#ifndef CUDAL1_PROBES_H
#define CUDAL1_PROBES_H

#include "supervisor/checks/first.h"

/* slots for the probes, and for inputs that are a rounding off */
#define PROBE_SLOTS		(PROBE_INPUTS + 1)

/*
 * Runs the reference on probes, and keeps what it gives for those that count. False after
 * conclude()
 */
extern bool probes_learn(Checks *c);

/* whether the candidate is right on all that count; false after conclude() */
extern bool probes_check(Checks *c);

/*
 * After a candidate's outputs were wrong: whether they are right where no parameter is moved. Its
 * verdict says so then.
 */
extern void probes_explain(Checks *c);

extern void probes_forget(Checks *c);

/*
 * The reference's outputs of the first input where that is off by a unit in the last place, to
 * c->found; `known`: there was room for it. False after conclude()
 */
extern bool probes_nudge(Checks *c, Executor *executor, double limit, bool *known);

#endif							/* CUDAL1_PROBES_H */
