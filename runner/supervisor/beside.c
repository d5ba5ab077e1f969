/*
 * beside.c
 *		Processes that load their code side by side on a GPU.
 */
#include "supervisor/backend.h"
#include "supervisor/beside.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/heat.h"
#include "supervisor/session.h"

#define LEAST_TIMES		4		/* what the reference took, that each pool has at least */
#define LEAST_POOL		((size_t) 2 << 30)

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

/* the same with each of them; `spending`: what it is that is waited for then, or SPENDINGS */
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

int
measure_room_beside(Measure *m, int n, size_t kept)
{
	size_t		left = (size_t) (GPU_SHARE * (double) gpu_memory_left(m));
	size_t		least = LEAST_TIMES * m->reference.pool_used;

	left = left > kept ? left - kept : 0;
	least = m->job->language != LANGUAGE_PYTORCH ? 0 : least > LEAST_POOL ? least : LEAST_POOL;
	while (n > 1 && left < (size_t) n * (least + m->reference.gpu_bytes))
		n--;
	left /= (size_t) n;
	left = left > m->reference.gpu_bytes ? left - m->reference.gpu_bytes : 0;
	m->gpu->set_pool_bytes = left < m->gpu->pool_bytes ? left : m->gpu->pool_bytes;
	return n;
}
