/*
 * The jobs that this worker measures: from a claim to its verdict, each with its child program.
 */
#ifndef CUDAL1_JOBS_H
#define CUDAL1_JOBS_H

#include "postgres.h"

#include "entry.h"

/* what the worker does next depends on how a turn ended */
typedef enum Cudal1Turn
{
	CUDAL1_TURN_QUIET,
	CUDAL1_TURN_ENDED,			/* a job ended: its place is free */
	CUDAL1_TURN_GONE			/* the extension is gone */
} Cudal1Turn;

/* the command line of cudal1-measure as the settings want it, with one more option or NULL; palloc'd */
extern char **cudal1_jobs_command(const char *option);

/* starts the child of a claimed job; false, with the claim given back, when that failed */
extern bool cudal1_jobs_begin(int64 device_id, const Cudal1Claim *claim, char **problem);

/* polls the children, sends what is due to the database; woken: someone may have asked to cancel */
extern Cudal1Turn cudal1_jobs_turn(bool woken);

/* milliseconds until a turn is due though nothing happens */
extern long cudal1_jobs_next_ms(void);

extern int	cudal1_jobs_count(void);
extern int	cudal1_jobs_on_device(int64 device_id);

/* ends all children and reports nothing: the extension is gone */
extern void cudal1_jobs_drop(void);

/* ends all children, stores results already at hand, gives the other claims back */
extern void cudal1_jobs_leave(int grace_ms);

#endif							/* CUDAL1_JOBS_H */
