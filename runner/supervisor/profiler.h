/*
 * profiler.h
 *		Runs of a code under a profiler, after its measurement.
 */
#ifndef CUDAL1_PROFILER_H
#define CUDAL1_PROFILER_H

#include "supervisor/types.h"

typedef struct Profiling
{
	const Options *options;
	const char *tool;			/* perf, ncu, timeline, or any: perf or ncu, by device */
	json_t	   *task;			/* as in a job */
	const char *code;			/* NULL: the profiler is only tried */
	const char *device;
	const char *output;			/* a file, or "counters"; NULL as code */
	const cpu_set_t *cores;		/* NULL: those that this process has */
	const char *scratch;		/* where its folder is made; NULL: TMPDIR or /tmp */
} Profiling;

/*
 * True: no profile could be made, and `said` has the reason. Else `said` has what the run printed,
 * which is a line of JSON where counters are asked for.
 */
extern bool profiler_fails(const Profiling *run, char *said, size_t size);

/* the run of a job of kind profile: counters become evidence of the result */
extern void profiler_count(Measure *m);

#endif							/* CUDAL1_PROFILER_H */
