/*
 * time.h
 *		The clock: pairs of fresh processes, and windows of gated runs in them.
 *
 * A pair has a process of the reference and one of each candidate of a group. A round is a window
 * of a candidate and one of the reference on the same fresh inputs. The ratio of a pair is the
 * median over its rounds of the reference's seconds over the candidate's. The score of a candidate
 * is the median of its pairs. docs/protocol.md has the reasons. Functions that return bool return
 * false after conclude(), or where the group is to be dissolved.
 */
#ifndef CUDAL1_TIME_H
#define CUDAL1_TIME_H

#include "supervisor/backend.h"

#define LOOKS			4		/* elements of an output that are read at once */
#define COMPARED_MOST	8		/* runs of a window whose outputs are compared as a whole */
#define REMEMBERED		64		/* elements of earlier results that a process is known by */
#define WATCHED			4
#define STRETCHES		1024	/* of memory that results have lain in */

/* Elements of one output, drawn for each run of a round. */
typedef struct Look
{
	int			output;
	uint64_t	element[LOOKS];
} Look;

/* what the windows of a round have in common */
typedef struct Round
{
	uint32_t	runs;
	bool		both[WIRE_MAX_RUNS];	/* whether the reference makes a run, too */
	uint32_t	dropped;		/* runs at the start of a window that do not count */
	uint64_t	seed[WIRE_MAX_RUNS];
	Look		look[WIRE_MAX_RUNS];
	uint32_t	compared;		/* runs whose outputs are compared as a whole */
	int			place[WIRE_MAX_RUNS];	/* of a run's outputs among these; -1: it is none of them */
	const Probe *probe[WIRE_MAX_RUNS];	/* that is the input of a run; NULL: an ordinary one */
	uint32_t	hand;			/* the run of a hand test, or UINT32_MAX */
	uint32_t	probed;			/* the run after which the device must rest, or UINT32_MAX */
} Round;

/* a process of a pair */
typedef struct Process
{
	Executor	executor;
	Side		side;
	Member	   *member;			/* NULL: the reference */
	Arena		arena;			/* the pair's, with this process's place in it */
	bool		gone;			/* it has left the pair */
	uint32_t	runs;			/* of a candidate's windows */
	uint64_t	value[WIRE_MAX_RUNS][LOOKS];	/* what was read at once, in the last window */
	char	   *outputs;		/* of the compared runs of the last window */
	double		seconds;		/* a run of the last window */
	double		above;			/* how far the sum of all its runs is above as many `seconds` */
	Values		ratio;			/* of a candidate: by round */
	Values		longer;			/* by round: `above` less the reference's, over all `seconds` */
	Values		beside;			/* seconds of the reference's run, by round */
	uint64_t	remembered[REMEMBERED];	/* where elements of earlier results lay */
	int			nremembered;
	WireStretch stretch[STRETCHES]; /* on a CPU: where earlier results lay, merged */
	int			nstretches;
	WireStretch last[WIRE_MAX_TENSORS]; /* of a module on a CPU: the last results */
	/* bytes of earlier results, left alone until the next gate opens, and what they are */
	uint64_t	watched[WATCHED];
	uint64_t	stood[WATCHED];
	int			nwatched;
	int			touched;		/* times that the process wrote there while it waited */
	int			looked[WIRE_MAX_TENSORS];	/* of each output of compiled code: looks at it, */
	int			prepared[WIRE_MAX_TENSORS]; /* and times that it was there before its gate */
	bool		spread;			/* results have lain in more memory than an allocator needs */
} Process;

typedef struct Courier Courier;

typedef struct Pair
{
	Measure    *m;
	Arena		arena;
	Process    *process;		/* the reference, then n candidates */
	int			n;
	int			number;			/* of all pairs of the measurement */
	bool		stops;			/* processes are stopped while their inputs come */
	Courier    *courier;		/* who brings them then */
	bool		trims;			/* a mean without the slowest counts, no median */
	bool		reads;			/* the kernel's accounts are read, of both sides */
	Round		round;
	double		alone;			/* seconds of the reference's run before any candidate ran */
	int			rounds;
} Pair;

/* what all pairs of a measurement have in common */
typedef struct Plan
{
	uint32_t	runs;			/* of a reference's window */
	uint32_t	most;			/* of a candidate's, which has more where it is quick */
	uint32_t	dropped;
	uint32_t	compared;		/* runs whose outputs are compared as a whole, on average */
	uint32_t	compared_most;	/* of a window */
} Plan;

/* window.c: the runs of a process on a round's inputs; it has their seconds and outputs then */
extern bool window_run(Pair *pair, Process *process);

/* Makes this process's candidate current; of the reference's the only candidate, or all. */
extern void window_enter(Pair *pair, const Process *process);

/*
 * noise.c, for modules on a CPU. noise_leave: noise over the results of a run, and notes in how
 * much memory results have lain. noise_watch: notes, when a run has ended, what lies where earlier
 * results lay. noise_stays: counts where it has changed since then but for the noise
 */
extern bool noise_watch(Measure *m, Process *process);
extern bool noise_stays(Measure *m, Process *process);
extern bool noise_leave(Measure *m, Process *process, uint32_t run);

/* courier.c: brings an input to a stopped process, opens its gate (at *opened) and resumes it */
extern bool courier_deliver(Pair *pair, Process *process, uint32_t run, double *opened);
extern void courier_end(Pair *pair);

/* draws what a round's windows share, and makes its inputs; candidate: whose count, or NULL */
extern bool window_draw(Pair *pair, const Plan *plan, const Process *candidate);

/* whether a candidate's last window gave what the reference's did */
extern bool window_compare(Pair *pair, Process *process);

/* pair.c: a pair of the reference and these members, to the results of those that it tells of */
extern void pair_run(Measure *m, const Plan *plan, Member *const *members, int n, int number);

/* stop.c: whether pairs are enough, and what they tell; `seconds`: of the device, until now */
extern bool stop_is_finished(Stop *stop, double seconds);

/* score.c: pairs of all members that have no outcome, and their scores */
extern void time_members(Measure *m);

#endif							/* CUDAL1_TIME_H */
