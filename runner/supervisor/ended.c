/*
 * ended.c
 *		Processes that are ended, and on a GPU may not be gone yet.
 */
#include <stdlib.h>

#include "supervisor/backend.h"

/*
 * A GPU's context takes the driver a tenth of a second to end, and a process as long to load its
 * code. So the one ends while the next is loaded: no clock runs until measure_reap() has seen all
 * of them gone.
 */
void
measure_end(Measure *m, Executor *executor)
{
	double		started;

	if (m->live.ndying == EXECUTORS_AWAITED)
		measure_reap(m);
	started = clock_now();
	m->live.candidates -= executor->hostile;
	if (m->backend->apart && executor->pidfd >= 0)
	{
		Executor   *dying = measure_zeroed(1, sizeof(*dying));

		executor_kill(executor);
		executor_give_back(executor);
		*dying = *executor;
		m->live.dying[m->live.ndying++] = dying;
		executor_init(executor);
	}
	else
		executor_end(executor);
	m->result->startup_seconds += measure_spent(m, SPENT_END, started) - started;
}

void
measure_reap(Measure *m)
{
	double		started = clock_now();

	if (m->live.ndying == 0)
		return;
	while (m->live.ndying > 0)
	{
		Executor   *dying = m->live.dying[--m->live.ndying];

		executor_end(dying);
		free(dying);
	}
	m->result->startup_seconds += measure_spent(m, SPENT_END, started) - started;
}
