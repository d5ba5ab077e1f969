/*
 * checks.c
 *		What comes before a clock counts: the reference against itself, the candidate against the
 *		reference, and first times.
 *
 * Both sides run the same fresh inputs, one by one. A reference that disagrees with itself in two
 * processes says nothing about anyone; a candidate that is wrong is not timed.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "supervisor/backend.h"
#include "supervisor/checks.h"
#include "supervisor/layout.h"
#include "supervisor/outcome.h"
#include "supervisor/outputs.h"
#include "supervisor/poison.h"
#include "supervisor/session.h"

#define CHECK_SLOTS		16
#define ESTIMATE_BLOCKS	7
/* the host's memory for outputs, in arenas; a GPU's is kept small for the executors' sake */
#define HOST_OUTPUTS	16
/* of what a slot takes among few, what it takes among many, at least */
#define LEAST_SHARE		8
/* what the first run of a process may take for its libraries, besides ten times the reference's */
#define FIRST_SECONDS	10.0

/* runs `n` single checks on slots 0 .. n - 1 */
static bool
run_checks(Measure *m, Executor *executor, Side side, Arena *arena, uint32_t n,
		   const uint64_t *seeds, char *out, double timeout)
{
	for (uint32_t i = 0; i < n; i++)
	{
		double		elapsed;

		if (!measure_stage(m, arena, side, &i, 1)
			|| !measure_block(m, executor, side, &i, &seeds[i], 1, timeout, &elapsed))
			return false;
		if (m->time[side] == 0 || elapsed < m->time[side])
			m->time[side] = elapsed;
		if (side == SIDE_REFERENCE && m->outputs == 0)
		{
			if (executor->value & 1)
				m->seeds_runs = true;
			if (!layout_from_reference(m, executor))
				return false;
		}
		if (out && !measure_read(m, executor, side, arena, 0, i, out + i * m->output_bytes))
			return false;
		if (!measure_poison(m, executor, side))
			return false;
		measure_progress(m, "checking", 0, 0, NAN, NAN, NAN, NAN, false);
	}
	return true;
}

/*
 * Seconds a run, from blocks of a few runs; on a busy machine single blocks lie, so the median of
 * several speaks. What a block costs besides its runs is the reference's for both.
 */
static bool
estimate(Measure *m, Executor *executor, Side side, Arena *arena, double timeout,
		 double *block_cost)
{
	uint32_t	slots[CHECK_SLOTS];
	uint64_t	seeds[CHECK_SLOTS];
	double		empty[ESTIMATE_BLOCKS];
	double		full[ESTIMATE_BLOCKS];
	uint32_t	n = arena->slots < CHECK_SLOTS ? arena->slots : CHECK_SLOTS;
	size_t		outputs = m->backend->block_outputs(m);
	int			blocks;
	double		first;

	while (outputs > 0 && n > 1 && n * m->output_bytes > outputs)
		n--;
	/* long runs told their time while they were checked */
	if (m->time[side] > MEASURE_SLOW)
		return true;
	for (uint32_t i = 0; i < n; i++)
	{
		slots[i] = i;
		seeds[i] = random_next(&m->random);
	}
	if (side == SIDE_REFERENCE)
	{
		if (!measure_stage(m, arena, side, slots, n))
			return false;
		for (int i = 0; i < ESTIMATE_BLOCKS; i++)
			if (!measure_block(m, executor, side, slots, seeds, 0, timeout, &empty[i]))
				return false;
		*block_cost = cudal1_score_median(empty, ESTIMATE_BLOCKS);
	}
	if (!measure_stage(m, arena, side, slots, 1) || !measure_block(m, executor, side, slots, seeds,
																   1, timeout, &first))
		return false;
	blocks = first > MEASURE_SLOW ? 1 : ESTIMATE_BLOCKS;
	if (first > 0.02)
		n = 1;
	for (int i = 0; i < blocks; i++)
	{
		if (!measure_stage(m, arena, side, slots, n)
			|| !measure_block(m, executor, side, slots, seeds, n, timeout + 10 * n * first,
							  &full[i]))
			return false;
	}
	m->time[side] = fmax(cudal1_score_median(full, (size_t) blocks) - *block_cost, 1e-7) / n;
	return true;
}

/*
 * on a GPU, where inputs are made many at once, a call costs more than what it makes: how long
 * another slot takes
 */
static bool
one_more_input(Measure *m, Arena *arena, const uint32_t *order, uint32_t slots)
{
	double		all = slots * m->generate_time;
	double		start = clock_now();

	if (slots < 2)
		return true;
	if (!measure_generate(m, arena, order, 1))
		return false;
	m->generate_time = fmax((all - (clock_now() - start)) / (slots - 1), all / slots / LEAST_SHARE);
	return true;
}

/* which share of the outputs does not depend on the inputs, as of an array that is mostly zeros */
static bool
find_repeated(Measure *m, const char *expected, uint32_t n)
{
	double		same = 0;
	size_t		at = 0;

	m->repeated = 1;
	if (n < 2)
		return true;
	for (int i = 0; i < m->outputs; i++)
	{
		const Tensor *t = &m->output[i];
		const char *one = expected + at;
		const char *other = one + m->output_bytes;
		Comparison	c;

		if (!m->backend->compare(m, one, other, i, &c))
			return false;
		if (t->elements > 0)
			same += (double) t->bytes * (1 - (double) c.mismatches / (double) t->elements);
		at += measure_gathered(t);
	}
	if (m->output_bytes > 0)
		m->repeated = same / (double) m->output_bytes;
	return true;
}

bool
checks_run(Measure *m)
{
	const Profile *p = &m->job->profile;
	bool		python = m->job->language == LANGUAGE_PYTORCH;
	uint32_t	n = (uint32_t) p->first_checks;
	uint32_t	slots = n > CHECK_SLOTS ? n : CHECK_SLOTS;
	size_t		budget = m->backend->arena_bytes(m);
	Arena		arena;
	Executor	reference,
				other,
				candidate;
	uint64_t	weights = random_next(&m->random);
	uint64_t   *seeds = calloc(slots, sizeof(*seeds));
	uint32_t   *order = calloc(slots, sizeof(*order));
	char	   *expected = NULL;
	char	   *found = NULL;
	bool		good = false;
	double		start;
	double		first;
	double		block_cost = 0;

	arena_init(&arena);
	executor_init(&reference);
	executor_init(&other);
	executor_init(&candidate);
	if (!seeds || !order)
	{
		conclude(m, OUTCOME_LOST, "no memory");
		goto done;
	}
	/*
	 * a GPU holds inputs three times, and of those by the gigabyte fewer: what is not compared here
	 * is in the rounds
	 */
	while (slots > (m->gpu ? 1 : n)
		   && slots * ((m->gpu ? 3 : 1) * m->input_slot_bytes + (m->gpu ? 2 : 1)
					   * m->output_slot_bytes) > budget)
		slots--;
	n = n < slots ? n : slots;
	for (uint32_t i = 0; i < slots; i++)
	{
		seeds[i] = random_next(&m->random);
		order[i] = i;
	}
	/* a first run may warm up for long: libraries initialise, code compiles itself */
	if (!measure_arena(m, &arena, slots, 0))
		goto done;
	/* once to touch the memory, once to see what it takes */
	if (!measure_generate(m, &arena, order, slots))
		goto done;
	start = clock_now();
	if (!measure_generate(m, &arena, order, slots))
		goto done;
	m->generate_time = (clock_now() - start) / slots;
	if (m->gpu && !one_more_input(m, &arena, order, slots))
		goto done;
	if (!measure_launch(m, &reference, SIDE_REFERENCE, 0, &arena, weights))
		goto done;
	start = clock_now();
	if (!run_checks(m, &reference, SIDE_REFERENCE, &arena, 1, seeds, NULL, p->build_seconds))
		goto done;
	first = clock_now() - start;
	/*
	 * of outputs by the gigabyte fewer are kept; those that are missing here are compared in the
	 * rounds
	 */
	while (n > 1 && 2 * n * m->output_bytes > (m->gpu ? budget / 2 : HOST_OUTPUTS * budget))
		n--;
	expected = measure_alloc(m, n * m->output_bytes);
	found = measure_alloc(m, n * m->output_bytes);
	if (!expected || !found)
	{
		conclude(m, OUTCOME_LOST, "no memory for outputs of %zu bytes", m->output_bytes);
		goto done;
	}
	if (m->seeds_runs)
	{
		/* the first run told whether random numbers are consumed; start again with the seed set */
		measure_end(m, &reference);
		if (!measure_launch(m, &reference, SIDE_REFERENCE, 0, &arena, weights))
			goto done;
	}
	if (!run_checks(m, &reference, SIDE_REFERENCE, &arena, n, seeds, expected, p->build_seconds))
		goto done;
	if (!measure_launch(m, &other, SIDE_REFERENCE, 1, &arena, weights)
		|| !run_checks(m, &other, SIDE_REFERENCE, &arena, n < 2 ? n : 2, seeds, found,
					   p->build_seconds))
		goto done;
	for (uint32_t i = 0; i < (n < 2 ? n : 2); i++)
		if (!measure_compare(m, expected + i * m->output_bytes, found + i * m->output_bytes,
							 SIDE_REFERENCE))
			goto done;
	measure_end(m, &other);
	if (!find_repeated(m, expected, n)
		|| !estimate(m, &reference, SIDE_REFERENCE, &arena, p->build_seconds, &block_cost))
		goto done;
	m->start_time = m->result.startup_seconds / (m->seeds_runs ? 3 : 2);

	/*
	 * now the candidate: its first run initialises libraries, and has the build's limit where it
	 * compiles itself
	 */
	first = m->built[SIDE_CANDIDATE].folder[0] ? p->build_seconds : fmin(p->build_seconds,
																		 fmax(measure_run_limit(m),
																			  FIRST_SECONDS + 10
																			  * first));
	if (!measure_launch(m, &candidate, SIDE_CANDIDATE, 1, &arena, weights)
		|| !run_checks(m, &candidate, SIDE_CANDIDATE, &arena, 1, seeds, found,
					   python ? first : measure_run_limit(m))
		|| !run_checks(m, &candidate, SIDE_CANDIDATE, &arena, n, seeds, found,
					   measure_run_limit(m)))
		goto done;
	start = clock_now();
	for (uint32_t i = 0; i < n; i++)
		if (!measure_compare(m, expected + i * m->output_bytes, found + i * m->output_bytes,
							 SIDE_CANDIDATE))
			goto done;
	m->check_time = (clock_now() - start) / n;
	m->checked_seconds = 0;
	if (!estimate(m, &candidate, SIDE_CANDIDATE, &arena, measure_run_limit(m), &block_cost))
		goto done;
	/*
	 * a run shorter than what a block costs is not resolved here, and may be estimated as next to
	 * nothing
	 */
	if (m->time[SIDE_CANDIDATE] > p->run_limit_factor * fmax(m->time[SIDE_REFERENCE], block_cost))
	{
		conclude(m, OUTCOME_TIMEOUT,
				 "the code takes %.3g s a run, more than %g times the reference",
				 m->time[SIDE_CANDIDATE], p->run_limit_factor);
		goto done;
	}
	good = true;
done:
	measure_end(m, &reference);
	measure_end(m, &other);
	measure_end(m, &candidate);
	arena_destroy(&arena);
	measure_free(m, expected);
	measure_free(m, found);
	free(seeds);
	free(order);
	return good;
}
