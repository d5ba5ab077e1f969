/*
 * The jobs that this worker measures: the queue's entry points for supervise/jobs.c, and the program's command line.
 */
#ifndef CUDAL1_BGWORKER_JOBS_H
#define CUDAL1_BGWORKER_JOBS_H

#include "postgres.h"

#include "supervise/jobs.h"

/* what the worker does next depends on how a turn ended */
typedef enum Cudal1Turn
{
	CUDAL1_TURN_QUIET,
	CUDAL1_TURN_ENDED,			/* a job ended: its place is free */
	CUDAL1_TURN_GONE			/* the extension is gone */
} Cudal1Turn;

/* before any other call of supervise/ */
extern void cudal1_worker_jobs_prepare(void);

/* the command line of cudal1-measure as the settings want it, with one more option or NULL; palloc'd */
extern char **cudal1_worker_jobs_command(const char *option);

#endif							/* CUDAL1_BGWORKER_JOBS_H */
