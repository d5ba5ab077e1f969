/*
 * timing.h
 *		What the parts of timing share, from the lowest to the highest: blocks, audits, the
 *		baseline, traps, rounds, pairs, and what is made of them.
 */
#ifndef CUDAL1_TIMING_H
#define CUDAL1_TIMING_H

#include <math.h>
#include <stddef.h>

#include "common/clock.h"
#include "src/score.h"
#include "supervisor/outcome.h"
#include "supervisor/checks/outputs.h"
#include "supervisor/checks/poison.h"
#include "supervisor/timing/samples.h"
#include "supervisor/session.h"

#define MIN_ROUNDS		8		/* of one of two halves, where time is short */
#define UNSTEADY_STAY	4		/* times the rounds planned, of a GPU's pair that is not steady */
#define STEP_RUNS		5		/* of an audit on a GPU: the first has it turn to the executor */
/* of a block, copying its results at most: writing a result takes half of copying it */
#define TAKING_SHARE	(2.0 / 3)
#define MAX_MET			5		/* times that a reference meets another */
/* seconds of a round that is long: a few are enough, and sides don't settle in turn */
#define LONG_ROUND		0.05
/* of a run, that sending it takes at least where that is what the run takes */
#define HOST_SHARE		0.8

/*
 * What pairs have shown. When a half is tried again, or a pair does not count, seen_take_back()
 * takes all of it back at once.
 */
typedef struct Seen
{
	/* lists that only grow; they stand first, and nothing else between them (SEEN_LISTS) */
	Values		all;			/* every ratio */
	Values		plain;
	/* where the reference counts for no more than it may take beside any process */
	Values		capped;
	/* on a GPU: logarithms of how much slower it was than alone, by half */
	Values		excess;
	Values		times[2];		/* seconds a run, by block */
	Values		pace;			/* the reference's seconds from gate to gate in its other blocks */
	/* by pair: variance of a round's logarithm as medians see it, and of the bucket's by that */
	Values		noise;
	Values		usual;			/* the noise by quartiles, which single rounds don't widen */
	Values		error;
	Values		pair;			/* its number among all of the heat */
	/* numbers */
	int			rounds;
	int			rounds_in_buckets;	/* those of whole pairs */
	int			samples;
	int			unresolved;		/* blocks of the candidate that took the least that counts */
	/* halves on a GPU in which the reference was slower than it may be */
	int			slowed;
} Seen;

#define SEEN_LISTS	(offsetof(Seen, rounds) / sizeof(Values))

typedef struct Rounds
{
	Measure    *m;
	Member	   *member;			/* whose they are */
	Arena		arena;
	bool		fresh;			/* which no pair has used */
	uint32_t	runs[2];		/* runs in a block of each side */
	uint32_t	at_once;		/* of the longest block of a round */
	double		most;			/* that there is memory and time for */
	int			resized;
	/* pairs whose blocks were uneven when they could not be resized any more */
	int			uneven;
	double		least;			/* what pairs that did not count gave at least */
	/* blocks of a process before it is timed, alone and beside another */
	int			settling;
	uint32_t	slots;
	uint32_t   *order;			/* a permutation of the slots */
	uint64_t   *seeds;
	/* the last slots of the order: inputs that were made ahead, and that no process has seen */
	uint32_t	ahead;
	char	   *kept[2];		/* outputs drawn for comparison */
	uint32_t	kept_max;
	int			rounds_a_half;	/* of the pairs that follow: their stay */
	int			audits_a_half;	/* on a CPU, spells of them */
	int			whole_half;		/* rounds of a half that takes what the profile gives it */
	int			whole_audits;	/* and its audits of either kind */
	int			whole_steps;
	double		whole;			/* rounds that a half of a whole pair has had */
	double		share;			/* of a whole pair's seconds that a pair takes now */
	double		worth;			/* whole pairs that would have taken as long as those made */
	int			looks;			/* that have been */
	double		pair_seconds;	/* all pairs', with what did not count */
	double		round_seconds;	/* of these, in rounds */
	int			rounds_made;
	uint32_t	spell;			/* audits of a side, one after the other */
	bool		gated;			/* an audit is the second run of its block, its input late */
	bool		stops;			/* inputs are brought while a process is stopped */
	Seen		seen;
	Seen		before;			/* the same before the pair under way */
	Values		buckets;		/* seen.plain or seen.capped, as the halves so far speak */
	Values		audit[2];		/* seconds a run, of audits */
	/* what the candidate took more than the reference, audit by audit */
	Values		audit_more;
	Values		audit_idle;		/* on a CPU: seconds of audits in which no code is called */
	int			preempted;		/* of the reference's, on a CPU */
	int			audits;			/* runs in them */
	int			traps;
	Values		steps[2][3];	/* seconds from gate to answer in traps, by kind: cuda.h's STEPS */
	Values		trapped[2];		/* what a run cost by those of each trap that has both sides' */
	/* the most seconds that a command of the supervisor's took in traps */
	double		turn;
	/* seconds that the GPU's turning to an executor and back takes a block */
	double		turns;
	int			late;			/* traps in which outputs of the candidate came late */
	/* PyTorch on a GPU: seconds that a run takes in which no module is called */
	Values		loop;
	/* on a GPU: seconds a run, of audits whose inputs come late, by audit */
	Values		late_runs[2];
	Values		late_more;		/* what the candidate took more than the reference */
	Values		late_idle;		/* and of such runs in which no code is called */
	int			steps_a_half;	/* such audits */
	bool		late_whole;		/* all of their inputs is late, not a part */
	bool		attentive;		/* the supervisor waits for audits without sleeping */
	double		started;
	double		budget;			/* seconds from the first check on; INFINITY: none */
	bool		over_budget;	/* that ended the measurement */
	bool		pool_short;		/* on a GPU: a pool was too small in a pair: a later one has all */
	double		lower;
	double		upper;
	double		half_width;
	int			disturbed;		/* attempts at the half under way that were */
	int			attempts;		/* that it has */
	int			priced;			/* halves in which all of them were disturbed */
	/*
	 * the reference's seconds a run before a candidate existed, on a GPU in the last pair that the
	 * reference began
	 */
	double		alone;
	double		core;			/* on a GPU: how much slower its core is in rounds than then */
	uint64_t	weights;		/* of the models of a half */
	/* the least seconds of copying a run's result by itself, of all halves; 0: none yet */
	double		taking;
	Values		takings;		/* on a GPU: what it adds to the reference's runs, by half */
	/* how much slower the reference is in turn with another reference than alone; 0: not known */
	double		neighbour;
	double		doubt;			/* standard error of its logarithm */
	double		met[MAX_MET];	/* each time that it met another; the median of these is taken */
	size_t		nmet;
	const struct Rounds *heat;	/* those of all its members; NULL: of A/A pairs */
	int			nheat;
	struct Rounds *aa;			/* pairs of the reference with itself; NULL: none */
	const struct Rounds *of;	/* of such pairs: the candidate's */
} Rounds;

typedef struct Half
{
	Executor   *executor[2];	/* of each side */
	Executor	process[2];		/* these, unless halves share a reference */
	double		empty[2];		/* cost of a block without runs that stages what this side's do */
	double		empty_single;	/* of an audit's block; on a CPU, CPU seconds */
	bool		audited;		/* has had a spell of audits, which did not count */
	uint64_t	refused;		/* by the candidate's pool before the rounds */
	bool		warm_inputs;	/* there are inputs for blocks that no score is made of */
	double		turn;			/* of that, what the GPU's turning to the executor and back takes */
	double		taking;			/* seconds that copying its result adds to a run of a block */
	/* reading samples takes longer than this where the GPU had to turn back */
	double		read_turned;
	Values		block[2];		/* seconds a run */
	/* the reference's alone, of rounds that the candidate began, and of those that it began */
	Values		own[2];
	/* on a GPU, while the reference was alone, and in rounds: laps of its core, and its paces */
	Values		laps[2];
	Values		pace[2];
	/* of rounds that the candidate began, and of those that the reference began */
	Values		ratio[2];
	/* the same if the candidate slows the reference; empty: no different */
	Values		capped[2];
} Half;

/* set.h: members whose pairs share a reference */
typedef struct Set Set;

/* no processes yet, nothing measured */
static inline void
half_init(Half *half)
{
	*half = (Half) {0};
	for (int side = 0; side < 2; side++)
	{
		half->executor[side] = &half->process[side];
		executor_init(half->executor[side]);
	}
}

/* blocks.c: blocks of runs on fresh inputs */
/* seconds that a block of `n` runs may take */
extern double rounds_timeout(const Rounds *s, Side side, uint32_t n);
extern void rounds_shuffle(Rounds *s, uint32_t *v, uint32_t n);

/* fresh inputs for the first `n` of s->order, which is drawn anew; false after conclude() */
extern bool rounds_inputs(Rounds *s, uint32_t n);

/* for each of the next `n` audits on a GPU; and the slot of one of them becomes the first */
extern bool rounds_inputs_ahead(Rounds *s, uint32_t n);
extern void rounds_take_ahead(Rounds *s);

/*
 * One block of a side over `n` of the slots; keeps the outputs of its first `keep` slots, from
 * place `from` on. `staged`, if more: how many of the slots are staged as if they would be run.
 * False after conclude()
 */
extern bool rounds_block_among(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n,
							   uint32_t staged, uint32_t keep, uint32_t from, double *seconds);
extern bool rounds_block(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n,
						 uint32_t keep, double *seconds);

/* where blocks don't: moves a process's code, while no clock runs; false after conclude() */
extern bool rounds_move(Rounds *s, Half *half, Side side);

/* the first `keep` outputs that both sides kept; false after conclude() */
extern bool rounds_compare(Rounds *s, uint32_t keep);

/* the score so far, or NAN */
extern double rounds_estimate(const Rounds *s);

/* frees what was seen, but for the buckets, which belong to the result */
extern void rounds_forget(Rounds *s);

/* one more of what the evidence counts */
extern void rounds_count(Rounds *s, const char *what);

/* audit.c: runs by themselves, and the bound that they set on a score */
/* of audit_margin: the caches of audits are nearly those of a block */
#define AUDIT_WARM	0.4
#define MIN_AUDITS	8			/* to set a bound */
#define MATTERS		1.5			/* scores above this must be confirmed */
extern void audit_plan(Rounds *s);
extern bool audit_empty(Rounds *s, Half *half);
extern bool audit_spell(Rounds *s, Half *half, bool reference_first);
extern void audit_note(Rounds *s, const double *taken);
/* on a GPU: the last one does not count */
extern void audit_take_back(Rounds *s);

/* on a GPU: audits of a member of a set that follow each other, 1 where they do not */
#define AUDITS_IN_A_ROW	8
extern uint32_t audits_in_a_row(const Rounds *s);
extern bool audits_made_ahead(const Rounds *s);
extern double audit_doubt(const Rounds *s, bool *clear);
extern double audit_bound(Rounds *s, double doubt, bool clear, double *shown);

/* PyTorch on a GPU: the same by audits whose inputs come late, or NAN */
extern double audit_late_bound(const Rounds *s, double *shown);

/* and where a candidate's runs save so much of the host's time */
extern double audit_host_bound(Rounds *s, double host, double *shown);

/* whether the bound is below a score only as it takes longer audits for longer runs of any code */
extern bool audit_by_share(const Rounds *s, double doubt, double score);

/* the bound of audits on a CPU with the margin and no doubt, or infinity */
extern double audit_undoubted(const Rounds *s);

/*
 * whether a score must be confirmed by audits that are clear: a high one, or one that the margin
 * does not grant to code that saves nothing
 */
extern bool audit_matters(const Rounds *s, double score);

/* whether it must be, and they are not */
extern bool audit_unclear(const Rounds *s, double score, bool clear);
extern double audit_late_seconds(const Rounds *s, Side side);

/* on a GPU: slots that an audit stages */
extern uint32_t audit_staged(const Rounds *s);

/* baseline.c: how fast the reference is by itself, and what is done where the candidate slows it */
/*
 * what the block just made took, less what the reference's tell of its constant cost; and for a
 * block of `n` runs what of that counts
 */
extern double baseline_net(const Rounds *s, const Half *half, double seconds, double empty);
extern double baseline_least(const Rounds *s, uint32_t n, double empty);
/* seconds of `n` runs without those of copying their results, each of which takes `taking` */
static inline double
baseline_untaken(double taking, uint32_t n, double seconds)
{
	return seconds - fmin(n * taking, TAKING_SHARE * fmax(seconds, 0));
}

extern double baseline_counted(const Rounds *s, const Half *half, uint32_t n, double seconds,
							   double empty);
extern bool baseline_warm(Rounds *s, Half *half, Side side);
extern bool baseline_settle_all(Set *set);
/*
 * after baseline_warm() of a set's first member, which had seen this much: the same for all others
 */
extern bool baseline_share(Set *set, const Rounds *before);
extern bool baseline_far_slower(const Rounds *s, const Half *half, const Values *alone);
/* on a GPU: notes, after a block, how long a lap of arithmetic took on the executors' core */
extern void baseline_note_core(const Rounds *s, Values *laps);
/*
 * how much slower the core was in a half's rounds than while its reference was alone, as far as the
 * reference, being bound by it, shows that; 1 where it is not known
 */
extern double baseline_core_slower(const Half *half, const Values *alone);
extern bool baseline_time(Rounds *s, Half *half, Values *alone);
extern bool baseline_time_again(Rounds *s, Half *half, Values *alone);
extern bool baseline_meet_neighbour(Rounds *s, Half *half, const Values *alone);
extern bool baseline_is_slowed(Rounds *s, const Half *half, Values *alone);
extern void baseline_note_beside(Rounds *s, const Half *half, const Values *alone);
extern void baseline_price(Rounds *s, Half *half, const Values *alone);
extern void baseline_cap(Rounds *s, Half *half, Values *alone);
extern bool baseline_was_slowed(const Rounds *s, double *slower, double *error);

/*
 * trap.c: on a GPU, a block that tells whether runs are worked on one by one; false after
 * conclude()
 */
extern bool rounds_trap(Rounds *s, Half *half);

/*
 * What a run costs by the medians of its kinds of steps. Code that waits for its kernels waits for
 * the GPU's turning to it, too, where that has rested.
 */
static inline double
steps_cost(const Rounds *s, double late, double rested, double next)
{
	rested -= rested > s->turns / 2 ? s->turns / 2 : 0;
	return fmax(rested, fmax(late, next));
}

/* round.c: false after conclude() */
/* all sides on the same fresh inputs, in this order of set_orders(). `single`: an audit */
extern bool rounds_round(Set *set, const uint8_t *order, bool single);
extern bool rounds_audit(Rounds *s, Half *half, bool reference_first);
/* on a GPU, an audit whose runs begin one by one */
extern bool rounds_step_audit(Rounds *s, Half *half, bool reference_first);

/*
 * plan.c: sizes of blocks and numbers of rounds; the memory that holds them, where there is none
 * yet, or of it what a set's other members have of their own. False after conclude()
 */
/* `reference`: seconds of its run */
extern double plan_block_seconds(const Measure *m, double reference);
extern void plan_rounds(Rounds *s);
/* whether blocks are so short that moving code in them would show; of the member that is current */
extern void plan_moves(const Rounds *s);
extern bool plan_memory(Rounds *s);
extern bool plan_kept(Rounds *s);
extern void plan_end(Rounds *s);
/*
 * PyTorch on a GPU, bytes: what its allocator takes for the outputs of a run; a pool with room for
 * the outputs of so many blocks and for so many bytes more; the pool of each process of a pair of
 * one candidate. A block's results are given back when the next one begins. Those that come back
 * were copied before, to places that are kept for later blocks.
 */
#define TAKEN_BLOCKS	2
extern double plan_run_bytes(const Measure *m);
extern double plan_pool_room(const Rounds *s, double blocks, double bytes);
extern size_t plan_pool(const Rounds *s);

/*
 * Runs in a block of each side, by their seconds a run; the same with the longest blocks of the
 * reference, which fewer members could share; how many times as long as the other's one side's
 * blocks take then.
 */
extern void plan_longest(const Rounds *s, const double *time, uint32_t *runs);
extern void plan_blocks(const Rounds *s, const double *time, uint32_t *runs);
extern double plan_unevenness(const uint32_t *runs, const double *time);

/* on a GPU: whether there are traps, and whether they say what runs cost */
extern bool rounds_has_traps(const Rounds *s);
extern bool rounds_traps_due(const Rounds *s);

/* stopping.c: when there are pairs enough */
typedef enum Stopping
{
	STOPPING_NOT,
	STOPPING_DONE,
	STOPPING_FUTILE,			/* the reward will be below 1.00 whatever follows */
} Stopping;

/* after a pair; sets the interval */
extern Stopping stopping_rule(Rounds *s);

/*
 * seconds that a measurement is worth: as the job says, by what its task took before, or what the
 * first look takes at the reference's speed
 */
extern double stopping_budget(const Rounds *s);
extern bool stopping_over_budget(const Rounds *s);

/* pairs at the last look, as stays are now */
extern size_t stopping_last(const Rounds *s);

/* takes back what was seen since `before` */
extern void seen_take_back(Seen *seen, const Seen *before);

/*
 * pair.c: fresh processes of all sides, a bucket for each member; false after conclude(), or where
 * the set is dissolved
 */
extern bool rounds_pair(Set *set);
extern void rounds_choose_buckets(Rounds *s);
extern void rounds_show(const Rounds *s, bool force);

/* aa.c: pairs of the reference with itself */
#define AA_PAIRS	7
extern bool aa_pair(Rounds *s);
extern bool aa_due(Rounds *s);
extern bool aa_complete(Rounds *s);
extern void aa_free(Rounds *aa);

/* more.c: what a verdict lacks after the last pair; false after conclude() */
extern bool more_comparisons(Rounds *s);
extern bool more_audits(Rounds *s);
extern bool more_traps(Rounds *s);

/* verdict.c */
/* whether traps have told what runs cost */
extern bool verdict_steps_known(const Rounds *s);

/* blocks are uneven, time and again: false after conclude() */
extern bool verdict_uneven(Rounds *s);
/* the half-width from which an interval is wide; INFINITY where none is */
extern double verdict_wide_from(const Rounds *s);
/* whether the reward of a wide interval depends on which side made it wide */
extern bool verdict_asks_aa(const Rounds *s, double half_width);
extern void verdict_conclude(Rounds *s, bool left);

#endif							/* CUDAL1_TIMING_H */
