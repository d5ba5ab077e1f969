/*
 * first.h
 *		What the checks before any pair ask of either side.
 */
#ifndef CUDAL1_FIRST_H
#define CUDAL1_FIRST_H

#include "supervisor/types.h"

#define CHECK_SLOTS		16

/* An input that the reference can answer. */
typedef struct Probe
{
	ProbeKind	kind;
	uint32_t	slot;			/* of its input */
	char	   *expected;
	Tolerance	tolerance[WIRE_MAX_TENSORS];
} Probe;

typedef struct Checks
{
	Measure    *m;
	Arena		arena;
	Executor	reference;
	Executor   *candidate;
	uint32_t	n;				/* inputs that both sides run */
	uint32_t	slots;
	uint32_t	spare;			/* slots after these, for inputs that are changed */
	Probe		probe[PROBES];
	int			probes;
	uint32_t   *order;
	uint64_t   *seeds;
	uint64_t	weights;
	char	   *expected;
	char	   *found;
	uint32_t	compared;		/* of the candidate's first runs */
	bool		overwrites;		/* the reference works in the memory of its inputs */
	Executor	other;			/* the reference's second process */
	/* of a reference that keeps state: what calls give that follow one another */
	uint32_t	in_a_row;		/* 0: another process gives something else */
	char	   *followed;
} Checks;

/* each of these is false after conclude() */
/* runs `n` single checks on slots 0 .. n - 1, or from the last to the first */
extern bool checks_runs(Measure *m, Executor *executor, Side side, Arena *arena, uint32_t n,
						bool backwards, const uint64_t *seeds, char *out, double timeout);

/* a run on a slot; `elapsed`: its seconds, or NULL */
extern bool checks_run_slot(Measure *m, Executor *executor, Side side, Arena *arena, uint32_t slot,
							uint64_t seed, char *out, double timeout, double *elapsed);

/* the first `n` outputs that were found with those that are expected */
extern bool checks_compare(Checks *c, uint32_t n, Side side);

/* Counts the outputs that agree with the expected ones, from the first on. */
extern bool checks_count_alike(Checks *c, const char *expected, uint32_t n, uint32_t *alike);

/* Outputs of a fresh process's calls, where each finds the state that the last one left. */
extern bool checks_calls_in_a_row(Checks *c, Executor *executor, Side side, uint32_t n, char *out,
								  double limit);

#endif							/* CUDAL1_FIRST_H */
