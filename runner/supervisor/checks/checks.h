/*
 * checks.h
 *		Is each side right: what comes before a clock counts, and why code is wrong.
 *
 * Functions that return bool return false after conclude().
 */
#ifndef CUDAL1_CHECKS_H
#define CUDAL1_CHECKS_H

#include "supervisor/backend.h"

/* How the outputs of two runs compare. */
typedef struct Agreement
{
	int			wrong;			/* the first output that is not equal, or -1 */
	Comparison	c;				/* of that output */
	double		error;			/* the largest deviation, in tolerances */
	/* whether any element is another; what underflows, as a product of many numbers, counts as 0 */
	bool		differ;
	size_t		infinite;		/* expected elements that are no finite number */
} Agreement;

typedef struct Checks
{
	Measure    *m;
	Arena		arena;
	Executor	reference;
	Executor	other;			/* the reference's second process */
	Executor	candidate;
	uint32_t	n;				/* inputs that both sides run */
	uint32_t	slots;
	/* slots after these: for an input that is a rounding off, then for probes */
	uint32_t	spare;
	char	   *probed[PROBE_INPUTS];	/* what the reference gives for the probes */
	uint64_t   *seeds;
	char	   *expected;
	char	   *found;
	/* of the runs that were compared last: those before the first wrong one, and how it compares */
	uint32_t	alike;
	Agreement	agreement;
	bool		overwrites;		/* the reference works in the memory of its inputs */
	bool		wider;			/* single precision tells what half and TF32 lose */
	/* of a reference that keeps state: what calls give that follow one another */
	uint32_t	in_a_row;		/* 0: another process gives something else */
	char	   *followed;
} Checks;

/* checks.c: right on first inputs, and how long a run takes */
extern bool checks_run(Measure *m);

/* layout.c: which arrays go into a run and come out of it, and single runs */

/* c, cuda: as the signature says */
extern void layout_from_signature(Measure *m);

/* pytorch: inputs, as get_inputs gives them */
extern bool layout_from_generator(Measure *m);

/* single runs on slots 0 .. n - 1, or from the last to the first, and one of them */
extern bool checks_runs(Measure *m, Executor *executor, Arena *arena, uint32_t n, bool backwards,
						const uint64_t *seeds, char *out);
extern bool checks_run_slot(Measure *m, Executor *executor, Arena *arena, uint32_t slot,
							uint64_t seed, char *out);

/* outputs.c: what a run has left, read while its process is stopped, and compared */

/* Gathers the outputs of a run. */
extern bool measure_read(Measure *m, Executor *executor, const Arena *arena, uint32_t run,
						 uint32_t slot, void *out);

/* compares all outputs of a run, without a verdict */
extern bool measure_agree(Measure *m, const char *expected, const char *found,
						  const Tolerance *tolerances, Agreement *a);

/* a verdict that blames a side for wrong outputs; probe: in words, or NULL. Always false */
extern bool measure_blame(Measure *m, const Agreement *a, Side blamed, const char *probe);

/* both, where it is the candidate that is blamed */
extern bool measure_compare(Measure *m, const char *expected, const char *found);

/*
 * Whether an element of an output that was read at a run's answer is what the reference gave, or
 * lies at a step of a function and is one of those that are excused, which it takes one from
 */
extern bool measure_agree_at(Measure *m, int output, uint64_t element, const uint64_t *expected,
							 const uint64_t *found, double *excused);

/* Memory for outputs to be compared, on a GPU an address of its memory; NULL after conclude() */
extern void *measure_alloc(Measure *m, size_t bytes);
extern void measure_free(Measure *m, void *memory);

/* signal.c: what changes in an output when the inputs change */

/* fills m->tolerance from the reference's outputs for `n` inputs, which lie one after the other */
extern bool signal_learn(Measure *m, const char *outputs, uint32_t n);

/* the scale and the base of `t`, from an output's elements that a changed input has changed */
extern bool signal_of_change(Measure *m, int output, const void *ordinary, const void *changed,
							 Tolerance *t);

/* How an output moves where the inputs of the reference are a little off. */
typedef struct Moves
{
	Comparison	all;
	double		usual;			/* tolerances that all but a hundredth of the elements move by */
	size_t		farther;		/* elements that move by more than `usual` */
} Moves;

extern bool signal_moves(Measure *m, int output, const void *expected, const void *moved,
						 const Tolerance *t, Moves *moves);

/* gives back what m->tolerance points to */
extern void signal_forget(Measure *m);

/* probes.c: inputs that a task's generator rarely makes */

/* Runs the reference on probes, and keeps what it gives for those that count. */
extern bool probes_learn(Checks *c);

/* to a slot another one's input, changed by a probe; `changed`: whether that changes anything */
extern bool probes_make(Measure *m, Arena *arena, ProbeKind kind, double scale, uint32_t from,
						uint32_t to, bool *changed);

/*
 * Compares outputs for a probe. In windows there are many probes, so right code meets steps of
 * functions there: a share of the elements of few probes may be wrong.
 */
extern bool probes_compare(Measure *m, const Probe *probe, const char *expected,
						   const char *found, bool in_window);

/* Compares the candidate on all probes that count. */
extern bool probes_check(Checks *c);

/* the reference's outputs for a changed input; if it refuses or ends, another process goes on */
extern bool probes_run(Checks *c, uint32_t slot, uint64_t seed, char *out, bool *ran);

/* The axis of a sequence's steps: the longest, the last apart. */
extern uint32_t probes_steps(const Tensor *t);

/* Gives an axis the elements of one of its indices from there on. */
extern void probes_repeat(const Tensor *t, uint32_t axis, uint64_t index, Change *change);

/* weak.c: whether code that does no work would be right */

/* Notes as evidence "weak" what passes the checks and does none of the task's work, or false. */
extern bool weak_note(Checks *c);

/* diagnose.c: why a candidate's outputs are wrong */

/*
 * Runs candidates whose outputs are wrong, and whose cause is not known, some more times to find
 * it, for a few seconds each. The cause's code goes into the evidence (docs/tasks.md), and words
 * for it to the end of the verdict's detail. The verdict stays.
 */
extern void diagnose(Measure *m);

#endif							/* CUDAL1_CHECKS_H */
