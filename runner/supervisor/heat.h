/*
 * heat.h
 *		Candidates of one task that are measured together, with one reference.
 */
#ifndef CUDAL1_HEAT_H
#define CUDAL1_HEAT_H

#include "supervisor/types.h"

/* Makes members of the job's candidates with these numbers; false: no memory. */
extern bool heat_init(Measure *m, const int *numbers, int n);
extern void heat_free(Measure *m);

/* from now on this is the candidate that is worked for; its seconds count from here */
extern void heat_enter(Measure *m, Member *member);

/* Makes all candidates current that have no outcome yet. */
extern void heat_enter_all(Measure *m);

/*
 * Number of candidates without an outcome; the next of them from `*i` on, which becomes current;
 * false: there is none
 */
extern int	heat_left(const Measure *m);
extern bool heat_next(Measure *m, int *i);

/*
 * gives the seconds that were spent for all to those that have no outcome yet, in equal parts; once
 * there are none, to every one. Those that wait get none
 */
extern void heat_share(Measure *m);

/* Shares the seconds out among these members alone. */
extern void heat_share_among(Measure *m, Member *const *members, int n);

/* From now on so many candidates' processes live together; no more, and nothing was unusual. */
extern void heat_live_together(Measure *m, int n);
extern void heat_live_apart(Measure *m);

extern void heat_begin_checks(Measure *m);

/* seconds of the device since the current member's first check */
extern double heat_seconds(const Measure *m);

/* at the end: what all have in common goes to each */
extern void heat_conclude(Measure *m);

#endif							/* CUDAL1_HEAT_H */
