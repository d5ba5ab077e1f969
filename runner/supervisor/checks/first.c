/*
 * first.c
 *		What the checks before any pair ask of either side.
 */
#include <math.h>

#include "supervisor/checks/checks.h"

/* Learns from a first run of the reference what holds for all others. */
static bool
learn_outputs(Measure *m, Executor *executor)
{
	if (m->outputs > 0)
		return true;
	m->facts.seeds_runs = (executor->value & WIRE_VALUE_RANDOM) != 0;
	if (m->facts.same_inputs && !m->facts.seeds_runs)
		return conclude(m, OUTCOME_UNVERIFIED, "each call of get_inputs gives the same inputs, "
						"or each process those of another, so code could know them before; draw "
						"them, for instance by torch.rand");
	return layout_from_reference(m, executor);
}

bool
checks_run_slot(Measure *m, Executor *executor, Side side, Arena *arena, uint32_t slot,
				uint64_t seed, char *out, double timeout, double *elapsed)
{
	double		seconds;

	if (!m->backend->stage(m, arena, side, slot)
		|| !measure_single(m, executor, side, slot, seed, timeout, &seconds))
		return false;
	if (elapsed)
		*elapsed = seconds;
	if (side == SIDE_REFERENCE && !learn_outputs(m, executor))
		return false;
	if (out && !measure_read(m, executor, side, arena, 0, slot, out))
		return false;
	measure_phase(m, "checking", false);
	return true;
}

bool
checks_runs(Measure *m, Executor *executor, Side side, Arena *arena, uint32_t n, bool backwards,
			const uint64_t *seeds, char *out, double timeout)
{
	for (uint32_t run = 0; run < n; run++)
	{
		uint32_t	i = backwards ? n - 1 - run : run;
		double		elapsed;

		if (!checks_run_slot(m, executor, side, arena, i, seeds[i],
							 out ? out + i * m->output_bytes : NULL, timeout, &elapsed))
			return false;
		if (m->member->time[side] == 0 || elapsed < m->member->time[side])
			m->member->time[side] = elapsed;
	}
	return true;
}

bool
checks_count_alike(Checks *c, const char *expected, uint32_t n, uint32_t *alike)
{
	size_t		bytes = c->m->output_bytes;
	double		error = 0;

	for (*alike = 0; *alike < n; ++*alike)
	{
		if (!measure_agree(c->m, expected + *alike * bytes, c->found + *alike * bytes,
						   c->m->tolerance, &c->agreement))
			return false;
		error = fmax(error, c->agreement.error);
		if (c->agreement.wrong >= 0)
			break;
	}
	c->agreement.error = error;
	return true;
}

bool
checks_calls_in_a_row(Checks *c, Executor *executor, Side side, uint32_t n, char *out, double limit)
{
	Measure    *m = c->m;
	double		time = m->member->time[side];
	bool		good;

	m->facts.restores = false;
	good = measure_launch(m, executor, side, 1, &c->arena, c->weights)
		&& checks_runs(m, executor, side, &c->arena, n, false, c->seeds, out, limit);
	m->facts.restores = true;
	m->member->time[side] = time;
	measure_end(m, executor);
	return good;
}
