/*
 * measure.h
 *		One measurement: its candidates, processes, outcome and result.
 */
#ifndef CUDAL1_MEASURE_H
#define CUDAL1_MEASURE_H

/* headers that most files of the supervisor need */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "supervisor/types.h"

/* Zeroed memory. Without it the program ends, and its job is measured again. */
static inline void *
measure_zeroed(size_t n, size_t size)
{
	void	   *memory = calloc(n, size);

	if (!memory)
	{
		fputs("cudal1-measure: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

/* fills the results of all members; m->job, m->options and m->started are set */
extern void measure_run(Measure *m);

/* heat.c: candidates of one task that are measured together, with one reference */

/* Makes members of `n` of the job's candidates, from `first` on. */
extern void heat_init(Measure *m, int first, int n);
extern void heat_free(Measure *m);

/* from now on this is the candidate that is worked for; its seconds count from here */
extern void heat_enter(Measure *m, Member *member);

/* Makes all candidates current that have no outcome yet. */
extern void heat_enter_all(Measure *m);

/* How many have no outcome yet; the next from `*i` on, which becomes current, false: none left. */
extern int	heat_left(const Measure *m);
extern bool heat_next(Measure *m, int *i);

/*
 * gives the seconds that were spent for all to those that have no outcome yet, in equal parts; once
 * there are none, to every one. heat_share_among: of these members alone
 */
extern void heat_share(Measure *m);
extern void heat_share_among(Measure *m, Member *const *members, int n);

/* seconds of the device that the current member has taken, but for builds */
extern double heat_seconds(const Measure *m);

/* at the end: what all have in common goes to each */
extern void heat_conclude(Measure *m);

/* outcome.c: how a measurement ends, and what is told of it on the way */

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

/* concludes that a candidate's process has left the reference too little of the GPU's memory */
extern bool measure_hoarded(Measure *m);

/* true for EXECUTOR_OK; else turns what went wrong into an outcome. `when`: "in a run" */
extern bool measure_failed(Measure *m, Side side, Executor *executor, ExecutorResult result,
						   const char *when);

/* removes a folder's name from a text that trainers read */
extern void measure_leave_out(char *text, const char *folder);

/* whether the next line of progress would be printed without force */
extern bool measure_progress_due(void);

/* tells how far the measurement of the current member is, if that is due */
extern void measure_progress(Measure *m, const char *phase, bool force);

/* Adds what passed since `start` to a spending. */
extern void measure_spent(Measure *m, Spending on, double start);

/* session.c: processes of both sides, and what they are asked for */

/* starts and loads a side's code; `seat`: PyTorch's parent that forks it. False after conclude() */
extern bool measure_launch(Measure *m, Executor *executor, Side side, int seat,
						   const Arena *arena);

/*
 * Loads code side by side on a GPU while no clock runs: libraries and kernels of several processes
 * are loaded in the time of one. Each step is taken for all processes, and executor_await() waits
 * for them before the next one. The first run, in PyTorch, is on the input of slot 0. Processes
 * hold each other up, so first runs have `build_seconds` more, and loading has in a group. False
 * after conclude()
 */
extern bool measure_begin_load(Measure *m, Executor *executor, Side side, int seat,
							   const Arena *arena);
extern bool measure_begin_first(Measure *m, Executor *executor, const Arena *arena,
								uint64_t seed);
extern bool measure_end_load(Measure *m, Executor *executor);

/* makes inputs for slots 0 .. n - 1; false after conclude() */
extern bool measure_generate(Measure *m, Arena *arena, uint32_t n);

/* one run on a staged slot; executor->last.took has its seconds; false after conclude() */
extern bool measure_single(Measure *m, Executor *executor, uint32_t slot, uint64_t seed);

/* seconds that a run of a side may take */
extern double measure_run_limit(const Measure *m, Side side);

/* Ends a candidate whose runs take longer than the profile's factor lets them; false. */
extern bool measure_too_slow(Measure *m, double seconds, double reference);

/* ends a process, and waits until it is gone */
extern void measure_end(Measure *m, Executor *executor);

/* profiler.c: runs of a code under a profiler, after its measurement */

typedef struct Profiling
{
	Measure    *m;				/* knows how the code is compiled; NULL as code */
	const Options *options;
	const char *tool;			/* perf, ncu, timeline, or any: perf or ncu, by device */
	json_t	   *task;			/* as in a job */
	const char *code;			/* NULL: the profiler is only tried */
	const char *device;
	const char *output;			/* a file but for its ending, or "counters"; NULL as code */
	const cpu_set_t *cores;		/* NULL: those that this process has */
	const char *scratch;		/* where its folder is made; NULL: TMPDIR or /tmp */
} Profiling;

/*
 * True: no profile could be made, and `said` has the reason. Else `said` has what the run printed:
 * the file, or a line of JSON where counters are asked for.
 */
extern bool profiler_fails(const Profiling *run, char *said, size_t size);

/* the run of a job of kind profile: counters become evidence of the result */
extern void profiler_count(Measure *m);

/* result.c: the result of one candidate, as a line of JSON to standard output */
extern void result_print(Measure *m, Member *member);

#endif							/* CUDAL1_MEASURE_H */
