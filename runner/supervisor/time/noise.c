/*
 * noise.c
 *		What lies at a gate where results of a module come.
 *
 * A module's results lie where it wants them, in the same place each time or not. A caller may
 * write to what it was given, so the supervisor does: noise over each result that it has read. It
 * must still be there when the next gate opens, since a process at its gate does nothing. Memory
 * that no result has had may hold whatever the process has prepared there, so a process whose
 * results keep coming in such memory is refused. Right code uses the same memory again, because
 * allocators do: results of 32 kB were seen to wander through 1 MB.
 */
#include "supervisor/time/time.h"

#define SPREAD_TIMES	8		/* results may lie in so many times their own bytes, */
#define SPREAD_BYTES	((uint64_t) 4 << 20)	/* and in these beside */

static void
add(Process *process, WireStretch added)
{
	int			n = 0;

	for (int i = 0; i < process->nstretches; i++)
	{
		WireStretch s = process->stretch[i];

		if (s.to < added.from || s.from > added.to)
		{
			process->stretch[n++] = s;
			continue;
		}
		added.from = added.from < s.from ? added.from : s.from;
		added.to = added.to > s.to ? added.to : s.to;
	}
	/* A process that spreads is refused long before there is no room. */
	if (n < STRETCHES)
		process->stretch[n++] = added;
	process->nstretches = n;
}

static bool
read_watched(Measure *m, Process *process, uint64_t *value)
{
	return m->backend->peek(m, &process->executor, process->watched, process->nwatched, 1, value);
}

bool
noise_watch(Measure *m, Process *process)
{
	process->nwatched = WATCHED;
	for (int i = 0; i < WATCHED; i++)
		process->watched[i] = process->remembered[random_below(&m->random,
															   (uint64_t) process->nremembered)];
	return read_watched(m, process, process->stood);
}

bool
noise_stays(Measure *m, Process *process)
{
	uint64_t	value[WATCHED];

	if (!read_watched(m, process, value))
		return false;
	process->touched += memcmp(value, process->stood,
							   (size_t) process->nwatched * sizeof(*value)) != 0;
	return true;
}

/* Notes the supervisor's noise as the value of watched bytes in the last results. */
static bool
note_noise(Measure *m, Process *process)
{
	const WireStretch *last = process->last;
	uint64_t	value[WATCHED];

	if (!read_watched(m, process, value))
		return false;
	for (int i = 0; i < process->nwatched; i++)
		for (int k = 0; k < m->outputs; k++)
			if (process->watched[i] >= last[k].from && process->watched[i] < last[k].to)
				process->stood[i] = value[i];
	return true;
}

bool
noise_leave(Measure *m, Process *process, uint32_t run)
{
	uint64_t	bytes = 0;
	uint64_t	known = 0;

	for (int output = 0; output < m->outputs; output++)
	{
		WireStretch *s = &process->last[output];

		if (!m->backend->overwrite(m, &process->executor, run, output, s))
			return false;
		bytes += s->to - s->from;
		add(process, *s);
	}
	for (int i = 0; i < process->nstretches; i++)
		known += process->stretch[i].to - process->stretch[i].from;
	process->spread |= known > SPREAD_TIMES * bytes + SPREAD_BYTES;
	return note_noise(m, process);
}
