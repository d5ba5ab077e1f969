/*
 * audit.c
 *		Audits: what a run takes by itself, and the bound that this sets on a score.
 *
 * All inputs of a block lie in memory from its start, so its first run can compute what all of
 * its runs need. Where calls cost more than they compute, that paid 25 times. An audit is a block
 * of one run. Its input is staged while the process is stopped. Neither the input nor anything
 * that depends on it is within the process's reach before, so whatever is computed from it is
 * computed within the clock. Code may know an audit when it sees one: its output is read as a
 * whole and compared, so there is nothing in it to leave out.
 *
 * A process that wakes finds cold code, which on a busy host takes longer than many a run. So in
 * PyTorch an audit is the second run of a block. It waits at a gate for its input, awake, or
 * stopped where bringing that takes long. Its clock ends as soon as it says that it is done,
 * because what the executor does for an answer takes as long as a small run, and code that takes
 * its place could leave it out.
 *
 * The first block after another process's finds cold caches. Audits therefore come in spells:
 * some of one side, one after the other, then those of the other side on the same inputs. The first
 * of each does not count. The supervisor waits for the answers without sleeping where it has a core
 * for that.
 *
 * On a GPU an audit is one run of a round of its own, see rounds_round(), and cuda_audit.c.
 */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <string.h>

#include "supervisor/backend.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/timing/timing.h"

#define L2_TIMES		3.0		/* inputs that turn each other out of a GPU's cache, in its size */
#define SPELL			8		/* audits, of a side */
#define COPYING			1e-10	/* seconds a byte takes to be copied, about */
/*
 * of a run, that bringing its input may take without its process being stopped; of a long one,
 * together with its output, that they may take behind a gate
 */
#define GATED_SHARE		0.05
#define GATED_LONGEST	1e-3	/* a run, beside which what the executor does is little */
#define GATED_BYTES		1048576	/* which two results may take, as caches hold them */
/* of the margin, that a candidate is charged with at most for what it may have written before */
#define CHARGE_MOST		0.6
#define EMPTY_BLOCKS	15
#define OVERHEAD		1e-4	/* seconds an audit takes to start and stop its process */
#define GROUPS			8
/* of audits: the longest, which are the host's; where it is busy, at most so many */
#define LONGEST			0.05
#define LONGEST_MOST	0.25
#define SPELL_WARM		0.08	/* of audit_margin: caches of spells are colder */
#define CLEAR			0.1		/* of the reference's time: with less doubt, audits are clear */
/* of it, by which doubt may be lengthened before a standard error is too little to take off luck */
#define MUCH_DOUBT		0.5
#define NOISE			3.0		/* times the reference's: more is the candidate's own */
#define MAX_SLOWER		100.0	/* times as long that blocks of a busy host may take */
#define MAX_SLOWER_GPU	1.5
/*
 * times a run of the reference's, that the margin is a share of at most; a busy host's single runs
 * take three to five times as long as runs in blocks
 */
#define MARGIN_TIMES	2.0

/* whether the supervisor can wait for answers on a core of its own without sleeping */
static bool
has_core(const Measure *m)
{
	cpu_set_t	own,
				shared;

	if (m->gpu)
		return m->spare_core;
	if (sched_getaffinity(0, sizeof(own), &own) != 0)
		return false;
	CPU_AND(&shared, &own, &m->cores);
	return CPU_COUNT(&shared) == 0;
}

/* seconds that the margin is for any candidate on a CPU, if it saves nothing or much */
static double
least_margin(const Rounds *s, double reference)
{
	double		share = s->m->job->profile.audit_margin;

	return fmax(fmin(share * AUDIT_WARM * reference, s->m->backend->cold_seconds),
				share * SPELL_WARM * reference);
}

/*
 * Elements that are the same for all inputs can be written ahead. Where writing an output takes
 * long, they are no more than the root of the share that two outputs have in common, because an
 * element that is some value with probability p is the same in both with p^2 or more. Right code
 * writes all of it within the clock, so the charge stays below the margin, together with the
 * bringing of the input.
 */
static double
written_before(const Rounds *s)
{
	const Measure *m = s->m;
	double		run = m->time[SIDE_REFERENCE];
	double		all = (double) m->output_bytes * COPYING;
	double		brought = s->stops ? 0 : (double) m->input_slot_bytes * COPYING;

	if (s->stops || all + brought >= GATED_SHARE * run)
		all *= sqrt(m->repeated);
	return fmax(fmin(all, CHARGE_MOST * least_margin(s, run) - brought), 0);
}

/*
 * Whether an audit is the second run of a block, which waits at a gate. Where it is short, what the
 * executor does for a block of one run takes longer than the run, and code could leave that out. So
 * its process waits there also where copying takes long. Writing a part of its result ahead saves
 * no more than that.
 */
static bool
has_gate(const Rounds *s)
{
	const Measure *m = s->m;
	double		run = m->time[SIDE_REFERENCE];
	double		copying = (double) (m->input_slot_bytes + m->output_bytes) * COPYING;

	if (m->job->language != LANGUAGE_PYTORCH || m->gpu || !s->attentive || s->slots < 2)
		return false;
	return run < GATED_LONGEST ? 2 * m->output_bytes <= GATED_BYTES : copying < GATED_SHARE * run;
}

/*
 * As many audits as there is time for, in spells whose outputs can be kept. Where a block is one
 * run it is an audit itself.
 */
void
audit_plan(Rounds *s)
{
	const Measure *m = s->m;
	const Profile *p = &m->job->profile;
	double		audit = m->time[0] + m->time[1] + 3 * OVERHEAD;
	double		halves = m->backend->halves * p->pairs;
	double		a_half;

	if (!m->gpu)
		audit += m->generate_time + m->check_time;
	a_half = ceil(fmin(p->audits, p->audit_seconds / audit) / halves);
	s->attentive = has_core(m);
	s->audits_a_half = 0;
	if (a_half < 1 || (s->runs[0] == 1 && s->runs[1] == 1))
		return;
	s->stops = (double) m->input_slot_bytes * COPYING >= GATED_SHARE * m->time[SIDE_REFERENCE];
	s->gated = has_gate(s);
	s->spell = m->gpu ? 1 : (uint32_t) fmin(fmin(SPELL, a_half),
											fmin(s->slots - s->gated, s->kept_max));
	s->audits_a_half = (int) ceil(a_half / s->spell);
}

void
audit_note(Rounds *s, const double *taken)
{
	values_append(&s->audit[SIDE_REFERENCE], taken[SIDE_REFERENCE]);
	values_append(&s->audit[SIDE_CANDIDATE], taken[SIDE_CANDIDATE]);
	values_append(&s->audit_more, taken[SIDE_CANDIDATE] - taken[SIDE_REFERENCE]);
	s->audits++;
}

void
audit_take_back(Rounds *s)
{
	s->audit[SIDE_REFERENCE].n--;
	s->audit[SIDE_CANDIDATE].n--;
	s->audit_more.n--;
	s->audits--;
}

/*
 * In a set the reference has a part in each member's audits, and a member in its own alone, so that
 * its code is colder than the reference's. So there a member's audits follow each other, and the
 * first of a row does not count.
 */
uint32_t
audits_in_a_row(const Rounds *s)
{
	return s->m->gpu && s->m->shares ? AUDITS_IN_A_ROW : 1;
}

/* whether there are slots enough to make the inputs of a row at once, and stage others with each */
bool
audits_made_ahead(const Rounds *s)
{
	return audits_in_a_row(s) > 1 && s->slots > 2 * (1 + AUDITS_IN_A_ROW);
}

/*
 * CPU seconds of a block of `n` runs, none or one. Moving code takes as long as many a run, and a
 * process may keep its own from being moved, so none is.
 */
static bool
block(Rounds *s, Half *half, Side side, const uint32_t *slot, uint32_t n, double *seconds)
{
	Executor   *executor = half->executor[side];
	double		elapsed;
	bool		good;

	executor->attentive = s->attentive;
	executor->stays = true;
	good = measure_block(s->m, executor, side, slot, &s->seeds[*slot], n,
						 rounds_timeout(s, side, 1), &elapsed);
	executor->stays = false;
	executor->attentive = s->m->spare_core;
	*seconds = executor->worked;
	return good;
}

/* a run that waits for its input and its seed until the run before it is done */
typedef struct Coming
{
	Rounds	   *s;
	Executor   *executor;
	Side		side;
	uint32_t	slot;
	char	   *kept;			/* where its output goes */
	bool		good;
} Coming;

static void
bring(void *context)
{
	Coming	   *c = context;

	c->executor->control->seeds[1] = c->s->seeds[c->slot];
	c->good = measure_stage(c->s->m, &c->s->arena, c->side, &c->slot, 1);
}

/* before the process goes on, because the clock has ended */
static void
take_output(void *context)
{
	Coming	   *c = context;

	c->good = c->good
		&& measure_read(c->s->m, c->executor, c->side, &c->s->arena, 0, c->slot, c->kept);
}

/*
 * CPU seconds of a run behind the gate, in a block that begins with a run on the slot `before`.
 * Its output goes into `kept`, or nowhere. The candidate is charged with what it could have written
 * of it before.
 */
static bool
gated_block(Rounds *s, Half *half, Side side, uint32_t before, uint32_t slot, char *kept,
			double *seconds)
{
	Executor   *executor = half->executor[side];
	Coming		coming = {.s = s,.executor = executor,.side = side,.slot = slot,.kept = kept};
	Gate		gate = {.open = bring,.close = kept ? take_output : NULL,.context = &coming,
		.stops = s->stops};
	uint32_t	slots[2] = {before, slot};
	uint64_t	seeds[2] = {s->seeds[before], 0};
	double		elapsed;
	bool		good;

	executor->attentive = s->attentive;
	executor->gate = &gate;
	good = measure_block(s->m, executor, side, slots, seeds, 2, rounds_timeout(s, side, 2),
						 &elapsed);
	executor->gate = NULL;
	executor->attentive = s->m->spare_core;
	*seconds = executor->worked;
	if (executor->hostile)
		*seconds += written_before(s);
	return good && coming.good;
}

/* what an audit costs the reference besides its run, for both sides */
bool
audit_empty(Rounds *s, Half *half)
{
	double		empty[EMPTY_BLOCKS];

	for (int i = 0; i < EMPTY_BLOCKS; i++)
		if (!block(s, half, SIDE_REFERENCE, s->order, 0, &empty[i]))
			return false;
	half->empty_single = cudal1_score_median(empty, EMPTY_BLOCKS);
	return true;
}

/*
 * one run of a side on a slot that is not staged yet, less what any audit's block takes; its output
 * goes into `kept`, or nowhere
 */
static bool
run_alone(Rounds *s, Half *half, Side side, uint32_t slot, char *kept, double *seconds)
{
	uint32_t	before;
	bool		good;

	if (!s->gated)
	{
		good = measure_stage(s->m, &s->arena, side, &slot, 1)
			&& block(s, half, side, &slot, 1, seconds);
		*seconds -= half->empty_single;
		return good && (!kept || measure_read(s->m, half->executor[side], side, &s->arena, 0,
											  slot, kept));
	}
	before = s->order[s->spell];
	good = measure_stage(s->m, &s->arena, side, &before, 1)
		&& gated_block(s, half, side, before, slot, kept, seconds);
	measure_unstage(s->m, &s->arena, before);
	return good;
}

/*
 * An audit, its output into `kept`. Both sides share their slots, so nothing of the run may stay
 * there: the side that goes second would find the inputs and the answers of the whole spell.
 */
static bool
one_run(Rounds *s, Half *half, Side side, uint32_t slot, char *kept, double *seconds)
{
	if (!run_alone(s, half, side, slot, kept, seconds)
		|| !measure_poison(s->m, half->executor[side], side))
		return false;
	*seconds += measure_fill(s->m, half->executor[side]);
	measure_unstage(s->m, &s->arena, slot);
	return true;
}

/* always the same slots, whose pages both sides have touched */
static bool
make_inputs(Rounds *s)
{
	uint32_t	n = s->spell + s->gated;

	for (uint32_t i = 0; i < n; i++)
	{
		s->order[i] = i;
		s->seeds[i] = random_next(&s->m->random);
	}
	return measure_generate(s->m, &s->arena, s->order, n);
}

/* the first of a spell finds what the other side, or a block, has left in the caches */
static bool
both_sides(Rounds *s, Half *half, bool reference_first, bool counts)
{
	double		taken[SPELL][2] = {{0}};
	uint32_t	first = counts ? s->spell > 2 : s->spell;

	/* code that has just been moved is cold, so only where the first does not count */
	if ((first > 0 && (!rounds_move(s, half, SIDE_REFERENCE)
					   || !rounds_move(s, half, SIDE_CANDIDATE)))
		|| !make_inputs(s))
		return false;
	for (int turn = 0; turn < 2; turn++)
	{
		Side		side = (turn == 0) == reference_first ? SIDE_REFERENCE : SIDE_CANDIDATE;

		for (uint32_t i = 0; i < s->spell; i++)
		{
			if (!one_run(s, half, side, s->order[i], s->kept[side] + i * s->m->output_bytes,
						 &taken[i][side]))
				return false;
			if (side == SIDE_REFERENCE && i >= first)
				s->preempted += half->executor[side]->preempted;
		}
	}
	for (uint32_t i = first; i < s->spell; i++)
		audit_note(s, taken[i]);
	return rounds_compare(s, s->spell);
}

/*
 * What an audit takes where no code is called, in the reference's process, whose code is trusted:
 * the process wakes, finds the caches as others have left them, and answers.
 */
static bool
idle_audits(Rounds *s, Half *half)
{
	Executor   *executor = half->executor[SIDE_REFERENCE];
	bool		good = true;

	executor->idle = true;
	for (uint32_t i = 0; i < s->spell && good; i++)
	{
		uint32_t	slot = s->order[i];
		double		seconds;

		good = run_alone(s, half, SIDE_REFERENCE, slot, NULL, &seconds);
		measure_unstage(s->m, &s->arena, slot);
		if (good && i >= (s->spell > 2))
			values_append(&s->audit_idle, seconds);
	}
	executor->idle = false;
	return good;
}

/*
 * Inputs made in place would all lie there from the spell's start. The first spell of a half does
 * not count: a process that has more runs in its blocks has touched more pages of the slots.
 */
bool
audit_spell(Rounds *s, Half *half, bool reference_first)
{
	bool		direct = s->arena.direct;
	bool		good = true;

	s->arena.direct = false;
	if (!half->audited)
		good = both_sides(s, half, reference_first, false);
	half->audited = true;
	good = good && both_sides(s, half, reference_first, true) && idle_audits(s, half);
	s->arena.direct = direct;
	return good;
}

/*
 * The mean of all but the longest few, as many as other processes have cut in two of the
 * reference's. A lower quantile would be steadier where a host is busy, but code that does little
 * for some inputs would be judged by those alone.
 */
static double
usual(const Rounds *s, const double *seconds, size_t n)
{
	double		cut = (double) s->preempted / fmax(1, (double) s->audit[SIDE_REFERENCE].n);
	double		limit = cudal1_score_percentile(seconds, n,
												1 - fmin(fmax(LONGEST, cut), LONGEST_MOST));
	double		sum = 0;
	size_t		counted = 0;

	for (size_t i = 0; i < n; i++)
		if (seconds[i] <= limit)
		{
			sum += seconds[i];
			counted++;
		}
	return sum / (double) counted;
}

/*
 * What the candidate takes more than the reference in audits, seconds a run, and its standard
 * error, which groups of audits tell. Audits on a GPU have a floor of their own, and there the
 * differences of pairs are steadier. Noise is the host's only as far as the reference has it, too:
 * otherwise code that is slow in some processes and not in others would make audits say nothing.
 */
static double
more_seconds(const Rounds *s, double *error)
{
	double		of_group[GROUPS];
	double		of_reference[GROUPS];
	const double *reference = s->audit[SIDE_REFERENCE].v;
	const double *candidate = s->audit[SIDE_CANDIDATE].v;
	size_t		n = s->audit_more.n;

	if (s->m->gpu || n < 4 * GROUPS)
		*error = fmin(cudal1_score_median_error(s->audit_more.v, n),
					  NOISE * cudal1_score_median_error(reference, n));
	else
	{
		for (size_t g = 0; g < GROUPS; g++)
		{
			size_t		from = g * n / GROUPS;
			size_t		size = (g + 1) * n / GROUPS - from;

			of_reference[g] = usual(s, reference + from, size);
			of_group[g] = usual(s, candidate + from, size) - of_reference[g];
		}
		*error = sqrt(fmin(cudal1_score_variance(of_group, GROUPS),
						   NOISE * NOISE * cudal1_score_variance(of_reference, GROUPS)) / GROUPS);
	}
	if (s->m->gpu)
		return values_median(&s->audit_more);
	return usual(s, candidate, n) - usual(s, reference, n);
}

/*
 * Seconds that an audit takes more than a run in a block, whatever the code is: what runs of no
 * code took in audits on this host, but no less than cold code takes on a quiet one.
 */
static double
cold_seconds(const Rounds *s)
{
	double		block = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		cold = fmax(s->m->backend->cold_seconds,
							SPELL_WARM * s->m->job->profile.audit_margin * block);

	return s->audit_idle.n < MIN_AUDITS ? cold
		: fmax(cold, usual(s, s->audit_idle.v, s->audit_idle.n));
}

/*
 * How many times as long the reference takes in blocks as in audits: twice on a busy host, and 30
 * times where a host shares out its cores. What a candidate takes less is then that much less in
 * blocks, too, so audits bound a share of the reference's time, not seconds. Where audits take
 * longer, cold code and caches add the same to any run; beyond them, runs are longer by a share.
 * On a GPU audits with late inputs take longer than blocks, too, so only savings are scaled there.
 */
static double
longer_in_blocks(const Rounds *s, double cold, double more)
{
	const Values *audits = &s->audit[SIDE_REFERENCE];
	double		block = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		audit = s->m->gpu ? values_median(audits) : usual(s, audits->v, audits->n);

	if (audit <= 0)
		return 1;
	if (s->m->gpu)
		return more < 0 ? fmin(fmax(block / audit, 1), MAX_SLOWER_GPU) : 1;
	if (block >= audit)
		return fmin(block / audit, MAX_SLOWER);
	return block / fmax(audit - cold, block);
}

/*
 * On a GPU: what a run of a side takes by audits whose inputs come late, less what such runs take
 * without any code, but at most half: code that has launched ahead takes nothing of that. Negative
 * where it is not known. In other audits, and in blocks of a single run, the GPU's turns are taken
 * off, and work of the CPU could hide in them.
 */
double
audit_late_seconds(const Rounds *s, Side side)
{
	double		late;

	if (s->late_runs[side].n < MIN_AUDITS || s->late_idle.n == 0)
		return -1;
	late = values_median(&s->late_runs[side]);
	return late - fmin(values_median(&s->late_idle), late / 2);
}

static void
note_late(Rounds *s)
{
	json_object_set_new(s->m->result->evidence, "late_seconds",
						json_pack("[f, f, f]", values_median(&s->late_runs[0]),
								  values_median(&s->late_runs[1]), values_median(&s->late_idle)));
}

/*
 * Where blocks are single runs; NAN where there are no such audits. Late inputs lie in the GPU's
 * cache, so both sides are faster there than in blocks whose inputs do not, and only their times
 * in audits can be compared: with the reference's time in blocks, code that works nowhere but in
 * audits had 1.9.
 */
static double
late_bound(Rounds *s, double *shown)
{
	double		candidate = audit_late_seconds(s, SIDE_CANDIDATE);
	double		reference;

	if (s->runs[0] > 1 || s->runs[1] > 1 || candidate <= 0)
		return NAN;
	note_late(s);
	reference = fmin(audit_late_seconds(s, SIDE_REFERENCE),
					 values_median(&s->seen.times[SIDE_REFERENCE]));
	*shown = reference / candidate;
	return *shown / (1 - AUDIT_WARM * s->m->job->profile.audit_margin);
}

/*
 * Seconds by which an honest candidate may take longer in audits than in blocks. `less`: what
 * audits show that it takes less than the reference. Its code and its own data are colder there.
 * That costs some time of any run, and a share of long ones. Where it has saved most of the
 * reference's work, its own run is colder than what is saved. PyTorch on a GPU finds the host's
 * caches cold, and so does a process whose supervisor slept.
 */
static double
margin(const Rounds *s, double less)
{
	const Measure *m = s->m;
	double		share = m->job->profile.audit_margin;
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);

	if (m->gpu)
		return share * (m->job->language != LANGUAGE_PYTORCH ? AUDIT_WARM * reference
						: fmin(values_median(&s->audit[SIDE_REFERENCE]), MARGIN_TIMES * reference));
	if (!s->attentive)
		return share * reference;
	return fmax(least_margin(s, reference), share * AUDIT_WARM * less);
}

/*
 * seconds that noise may account for; `clear`: too little to make code seem fast that is not. Where
 * blocks take longer than audits, the doubt is so much longer in blocks, too. Audits of short runs
 * on a busy host may be next to nothing, less what any audit takes, and then say nothing.
 */
double
audit_doubt(const Rounds *s, bool *clear)
{
	double		error = 0;
	double		doubt;
	double		more;
	double		longer;

	*clear = false;
	if (s->audit_more.n < MIN_AUDITS)
		return 0;
	more = more_seconds(s, &error);
	doubt = s->m->job->profile.audit_sigma * error;
	longer = s->m->gpu ? 1 : fmax(longer_in_blocks(s, cold_seconds(s), more), 1);
	*clear = longer * doubt <= CLEAR * values_median(&s->seen.times[SIDE_REFERENCE]);
	return doubt;
}

static double
ratio_left(double reference, double left)
{
	return left > 0 ? reference / left : INFINITY;
}

/*
 * The most that a score can be, or NAN: what the candidate gains only in blocks is taken away.
 * `shown`: what audits say of the candidate, without the doubt and the margin, which are for honest
 * code. Where audits are not clear their luck would pay, so that is the end of a standard error.
 */
double
audit_bound(Rounds *s, double doubt, bool clear, double *shown)
{
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		cold = s->m->gpu ? 0 : cold_seconds(s);
	double		longer;
	double		luck;
	double		error;
	double		more;
	double		change;

	*shown = NAN;
	if (s->audit_more.n < MIN_AUDITS)
		return late_bound(s, shown);
	more = fmax(more_seconds(s, &error),
				audit_late_seconds(s, SIDE_CANDIDATE)
				- values_median(&s->audit[SIDE_REFERENCE]));
	longer = longer_in_blocks(s, cold, more);
	change = longer * (more - doubt);
	if (s->late_idle.n > 0)
		note_late(s);
	json_object_set_new(s->m->result->evidence, "audit_seconds",
						json_pack("[f, f, f, f]", values_median(&s->audit[0]),
								  values_median(&s->audit[1]), more, error));
	if (!s->m->gpu)
		json_object_set_new(s->m->result->evidence, "cold_seconds", json_real(cold));
	luck = clear || s->m->gpu ? 0 : (longer - 1) * doubt > MUCH_DOUBT * reference ? doubt : error;
	*shown = ratio_left(reference, reference + longer * (more + luck));
	return ratio_left(reference, reference + change - margin(s, -change));
}

/*
 * PyTorch on a GPU: what the candidate takes more than the reference in audits whose inputs come
 * late as a whole, and its error. False: not known, or there are no single runs beside them.
 *
 * A run there has a launch in it, and the wait for its end. Code that has launched ahead has
 * neither, so both sides count with them, and the difference is the same share of the reference's
 * time as it is there.
 */
static bool
late_more(const Rounds *s, double *more, double *error)
{
	const Values *late = &s->late_runs[SIDE_REFERENCE];
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		scale;

	if (s->loop.n == 0 || !s->late_whole || s->late_more.n < MIN_AUDITS
		|| s->audit_more.n < MIN_AUDITS)
		return false;
	scale = reference / fmax(values_median(late), reference);
	*more = scale * values_median(&s->late_more);
	*error = scale * fmin(cudal1_score_median_error(s->late_more.v, s->late_more.n),
						  NOISE * cudal1_score_median_error(late->v, late->n));
	return true;
}

/*
 * The bound that late audits set, or NAN. Work on a GPU and of its host follow each other in them,
 * so that scaling takes something from right code: what is shown has the margin, and no errors.
 */
double
audit_late_bound(const Rounds *s, double *shown)
{
	const Profile *p = &s->m->job->profile;
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		more;
	double		error;

	*shown = NAN;
	if (!late_more(s, &more, &error))
		return NAN;
	more += reference * (1 - AUDIT_WARM * p->audit_margin);
	*shown = ratio_left(reference, more);
	return ratio_left(reference, more - p->audit_sigma * error);
}

/*
 * Single runs tell what kernels take, and hide what the host takes, because it sends a run while
 * the GPU turns to the process. So where the host is what the reference's runs take, the candidate
 * may also save `host` seconds a run, which steps in traps tell, as far as late audits confirm it.
 * The bound, or NAN. What is above it counts with the whole of its late runs.
 */
double
audit_host_bound(Rounds *s, double host, double *shown)
{
	const Profile *p = &s->m->job->profile;
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		more[2];
	double		error[2];

	*shown = NAN;
	if (!late_more(s, &more[1], &error[1]))
		return NAN;
	more[0] = more_seconds(s, &error[0]) - host;
	*shown = ratio_left(reference, fmax(reference + more[0],
										values_median(&s->late_runs[SIDE_CANDIDATE])));
	json_object_set_new(s->m->result->evidence, "host_seconds",
						json_pack("[f, f, f]", host, more[1], error[1]));
	return ratio_left(reference, reference * (1 - AUDIT_WARM * p->audit_margin)
					  + fmax(more[0] - p->audit_sigma * error[0],
							 more[1] - p->audit_sigma * error[1]));
}

/*
 * Cold code adds the same to a run of either side, and cold caches lengthen runs by a share. Where
 * the reference's audits take longer than both explain for a quiet host, it can't be told which it
 * is. The bound takes it for a share, because code could gain by the other one.
 */
bool
audit_by_share(const Rounds *s, double doubt, double score)
{
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		error;
	double		change;

	if (s->m->gpu || s->audit_more.n < MIN_AUDITS
		|| longer_in_blocks(s, cold_seconds(s), 0) >= 1)
		return false;
	change = more_seconds(s, &error) - doubt;
	return ratio_left(reference, reference + change - margin(s, -change)) >= score;
}

double
audit_undoubted(const Rounds *s)
{
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);
	double		error;
	double		more;
	double		longer;
	double		change;

	if (s->m->gpu || s->audit_more.n < MIN_AUDITS)
		return INFINITY;
	more = more_seconds(s, &error);
	longer = longer_in_blocks(s, cold_seconds(s), more);
	/* luck that is lengthened would pay */
	change = longer * (more + fmin(fmax(longer - 1, 0), 1) * error);
	return ratio_left(reference, reference + change - margin(s, -change));
}

bool
audit_matters(const Rounds *s, double score)
{
	double		reference = values_median(&s->seen.times[SIDE_REFERENCE]);

	return score > MATTERS || (!s->m->gpu && s->audit_more.n >= MIN_AUDITS
							   && score > ratio_left(reference, reference - margin(s, 0)));
}

bool
audit_unclear(const Rounds *s, double score, bool clear)
{
	return !s->m->gpu && s->audits_a_half > 0 && !clear && audit_matters(s, score);
}

/*
 * slots that an audit on a GPU stages: what both sides' blocks do, but no more than turn each other
 * out of its cache
 */
uint32_t
audit_staged(const Rounds *s)
{
	const Measure *m = s->m;
	uint32_t	most = s->runs[0] < s->runs[1] ? s->runs[0] : s->runs[1];
	double		enough = 1 + L2_TIMES * (double) m->gpu->l2_bytes
		/ (double) (m->input_slot_bytes + m->output_bytes + 1);

	if (audits_made_ahead(s))
		most = most < s->slots - 1 - AUDITS_IN_A_ROW ? most : s->slots - 1 - AUDITS_IN_A_ROW;
	return (uint32_t) fmin(most, enough);
}
