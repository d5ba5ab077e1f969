/*
 * jobs.h
 *		What supervise/ needs of a worker, and the command line of cudal1-measure.
 */
#ifndef CUDAL1_BGWORKER_JOBS_H
#define CUDAL1_BGWORKER_JOBS_H

#include "postgres.h"

#include "supervise/jobs.h"

/* called before any other function of supervise/; an error where there are too many open files */
extern void cudal1_worker_jobs_prepare(void);

/* the command line of cudal1-measure by the settings, with one more option or NULL */
extern void cudal1_worker_jobs_command(char **argv, const char *option);

/* the type of a line of cudal1-measure; raises no error, whatever the line holds */
extern Cudal1Message cudal1_message_read(char *line, size_t length);

#endif							/* CUDAL1_BGWORKER_JOBS_H */
