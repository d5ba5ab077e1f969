/*
 * outcome.h
 *		How a measurement ends, and what is told of it on the way.
 */
#ifndef CUDAL1_OUTCOME_H
#define CUDAL1_OUTCOME_H

#include <math.h>

#include "supervisor/types.h"

/* sets the outcome; the first one stands. Always false, so that callers can return it. */
extern bool conclude(Measure *m, Outcome outcome,
					 const char *format,...) __attribute__((format(printf, 3, 4)));

/*
 * the code word of a candidate's failure, of those in docs/tasks.md, into the evidence; before
 * conclude(), and the first one stands
 */
extern void measure_cause(Measure *m, Side side, const char *cause);

/* Names the defence that found a cheat in the evidence. */
static inline void
measure_detector(Measure *m, const char *detector)
{
	json_object_set_new(m->result->evidence, "detector", json_string(detector));
}

/* The outcome for a failure of this side: a reference's is no candidate's fault. */
static inline Outcome
outcome_of(Side side, Outcome candidates)
{
	return side == SIDE_CANDIDATE ? candidates : OUTCOME_UNVERIFIED;
}

static inline const char *
name_of_side(Side side)
{
	return side == SIDE_CANDIDATE ? "the code" : "the reference";
}

/* true for EXECUTOR_OK; else turns what went wrong into an outcome. `when`: "in a run" */
extern bool measure_failed(Measure *m, Side side, Executor *executor, ExecutorResult result,
						   const char *when);

/*
 * removes a folder's name from a text that trainers read, and a beginning of it at the text's end
 */
extern void measure_leave_out(char *text, const char *folder);

#define PROGRESS_SECONDS	0.5		/* between lines of progress, unless one is forced */

/* whether the next line of progress would be printed without force */
extern bool measure_progress_due(void);

/* tells how far the measurement is, if that is due; NAN: a number not known yet. `left`: seconds */
extern void measure_progress(Measure *m, const char *phase, int pairs, int rounds, double estimate,
							 double lower, double upper, double left, bool force);

/* Reports progress before there are pairs. */
static inline void
measure_phase(Measure *m, const char *phase, bool force)
{
	measure_progress(m, phase, 0, 0, NAN, NAN, NAN, NAN, force);
}

/* adds what passed since `start` to a spending; the time now */
extern double measure_spent(Measure *m, Spending on, double start);

#endif							/* CUDAL1_OUTCOME_H */
