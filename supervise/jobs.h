/*
 * jobs.h
 *		The jobs that a worker or an agent measures: from a claim to its verdict, a child each.
 *
 * All times are in milliseconds.
 */
#ifndef CUDAL1_SUPERVISE_JOBS_H
#define CUDAL1_SUPERVISE_JOBS_H

#include "child.h"
#include "queue.h"

/* bytes of the longest progress line that is sent */
#define CUDAL1_MAX_PROGRESS (16 * 1024)

/* Makes the command line of cudal1-measure; `option` and `python` may be NULL. */
#define CUDAL1_COMMAND_WORDS 8
extern void cudal1_jobs_command(char **argv, const char *measure, const char *option,
								bool unsandboxed, const char *scratch, const char *python);

/*
 * Starts the child of jobs that were claimed together.  False: that failed, the claims are given
 * back, and *problem says why, valid until the next call.
 */
extern bool cudal1_jobs_begin(void *device, const Cudal1Heat *claimed, char **argv,
							  const char *scratch, int grace_seconds, const char **problem);

/* polls the children, and makes the calls of the queue that are due; *ended: how many jobs ended */
extern Cudal1Call cudal1_jobs_poll(int *ended);

/* milliseconds until the next poll is due even if nothing happens */
extern int64_t cudal1_jobs_next_ms(void);

extern int	cudal1_jobs_count(void);
/* whether the program of a job has not ended */
extern bool cudal1_jobs_measuring(void);
/* groups of jobs; none whose verdicts wait for sessions, because its device is free */
extern int	cudal1_jobs_on_device(const void *device);

/* ends all children and reports nothing */
extern void cudal1_jobs_drop(void);

/* ends all children, stores the results at hand, gives the other claims back */
extern void cudal1_jobs_leave(int grace_ms);

#endif							/* CUDAL1_SUPERVISE_JOBS_H */
