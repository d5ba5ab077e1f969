/*
 * beside.c
 *		Processes that load their code side by side on a GPU.
 */
#include "supervisor/backend.h"
#include "supervisor/beside.h"
#include "supervisor/heat.h"
#include "supervisor/session.h"

static bool
begin_launch(Measure *m, const Start *start)
{
	return measure_begin_launch(m, start->executor, start->side, start->seat, start->arena,
								start->weights);
}

static bool
begin_first(Measure *m, const Start *start)
{
	return measure_begin_first(m, start->executor, start->arena, start->slot, start->seed,
							   start->timeout);
}

static bool
end_launch(Measure *m, const Start *start)
{
	return measure_end_launch(m, start->executor);
}

/* Calls act() for each process, then waits for all and books the time under `spending`. */
static bool
each(Measure *m, const Beside *beside, bool (*act) (Measure *, const Start *), Spending spending)
{
	Executor   *begun[EXECUTORS_AWAITED];
	int			n = 0;

	for (int i = 0; i < beside->n; i++)
	{
		Start		start;

		if (!beside->enter(beside->context, i, &start))
			continue;
		if (act(m, &start))
			begun[n++] = start.executor;
		else if (!beside->goes_on || !beside->goes_on(beside->context, i))
			return false;
	}
	if (beside->enter_all)
		beside->enter_all(beside->context);
	else
		heat_enter_all(m);
	if (spending != SPENDINGS)
		measure_await_launches(m, begun, n, spending);
	return true;
}

bool
measure_load_beside(Measure *m, const Beside *beside)
{
	return each(m, beside, begin_launch, SPENT_LOAD)
		&& (!m->backend->first_input || each(m, beside, begin_first, SPENT_FIRST))
		&& each(m, beside, end_launch, SPENDINGS);
}
