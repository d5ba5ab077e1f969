/*
 * noise.c
 *		What lies at a gate where results of a module come.
 *
 * A module's results lie where it wants them, in the same place each time or not. A caller may
 * write to what it was given, so the supervisor does: noise over each result that it has read. It
 * must still be there when the next gate opens, since a process at its gate does nothing. Memory
 * that no result has had may hold whatever the process has prepared there, so a process whose
 * results keep coming in such memory is refused.
 */
#include <string.h>

#include "supervisor/backend.h"
#include "supervisor/time/time.h"

#define NEW_LEAST		32768	/* bytes of a result that may be new; and at least */
#define NEW_SHARE		8		/* a result of which one byte in so many was no result's before */

/* Bytes of a stretch that have been noise. */
static uint64_t
known_bytes(const Process *process, const WireStretch *of)
{
	uint64_t	bytes = 0;

	for (int i = 0; i < process->nstretches; i++)
	{
		const WireStretch *s = &process->stretch[i];
		uint64_t	from = of->from > s->from ? of->from : s->from;
		uint64_t	to = of->to < s->to ? of->to : s->to;

		bytes += to > from ? to - from : 0;
	}
	return bytes;
}

/* Adds a stretch; those that it overlaps become part of it. */
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
	if (n == STRETCHES)
		n = 0;
	process->stretch[n] = added;
	process->nstretches = n + 1;
}

int
noise_written(const Measure *m, const Process *process, int output, const uint64_t *address,
			  int n)
{
	int			i = 0;

	/* the executor makes the pages of these */
	if (m->output[output].bytes < WIRE_LARGE_OUTPUT)
		return n;
	while (i < n && executor_has_written(&process->executor, address[i]))
		i++;
	return i;
}

bool
noise_leave(Measure *m, Process *process, uint32_t run)
{
	bool		new = false;

	for (int output = 0; output < m->outputs; output++)
	{
		WireStretch stretch;

		if (!m->backend->overwrite(m, &process->executor, process->side, run, output, &stretch))
			return false;
		if (stretch.to - stretch.from < NEW_LEAST)
			continue;
		new = new || (stretch.to - stretch.from - known_bytes(process, &stretch)) * NEW_SHARE
			> stretch.to - stretch.from;
		add(process, stretch);
	}
	process->new += new;
	return true;
}
