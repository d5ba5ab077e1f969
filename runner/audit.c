/*
 * audit.c
 *		Audits: what a run takes where nothing can be done for several runs at once.
 *
 * Within a block all inputs lie in memory from its start, so code could answer them together in its first run: where calls cost
 * more than they compute, that paid 4 times. In an audit every run's inputs are false in a few random elements (values of other
 * elements, so that nothing shows which) until the run before has answered. The supervisor waits for that answer on another core
 * without sleeping, so caches stay as warm as in a block. Of one run, drawn by lot, it reads the output the moment that run
 * says it is done, before it opens the next: who says so early, to get at the next inputs, is found out.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "clock.h"
#include "measure.h"

#define CANARIES		6		/* false elements of an array, at most */
#define MAX_CANARIES	(WIRE_MAX_TENSORS * CANARIES)

typedef struct Canary
{
	char	   *at;
	size_t		size;
	char		truth[8];
} Canary;

typedef struct Audit
{
	Measure    *m;
	Executor   *executor;
	Side		side;
	Arena	   *arena;
	const uint32_t *slots;
	uint32_t	sample;			/* run whose output is read */
	void	   *out;
	bool		read;
	bool		good;
	int			canaries[AUDIT_MAX_RUNS];
	Canary		canary[AUDIT_MAX_RUNS][MAX_CANARIES];
} Audit;

bool
audit_possible(const Measure *m)
{
	cpu_set_t	own,
				shared;

	if (m->gpu || sched_getaffinity(0, sizeof(own), &own) != 0)
		return false;
	CPU_AND(&shared, &own, &m->cores);
	return CPU_COUNT(&shared) == 0;
}

static void
falsify(Audit *a, uint32_t run, char *array, const Tensor *layout)
{
	size_t		size = layout->elements > 0 ? layout->bytes / layout->elements : 0;
	size_t		wanted = layout->elements / 2 < CANARIES ? layout->elements / 2 : CANARIES;

	for (size_t i = 0; i < wanted && size <= 8; i++)
	{
		Canary	   *c = &a->canary[run][a->canaries[run]];

		c->at = array + random_below(&a->m->random, layout->elements) * size;
		c->size = size;
		memcpy(c->truth, c->at, size);
		memcpy(c->at, array + random_below(&a->m->random, layout->elements) * size, size);
		a->canaries[run]++;
	}
}

/* the arrays that a run reads: inputs, and what it changes in place */
static void
falsify_run(Audit *a, uint32_t run)
{
	Measure    *m = a->m;
	char	   *in_slot = a->arena->inputs + a->slots[run] * a->arena->input_slot_bytes;
	char	   *out_slot = a->arena->outputs + a->slots[run] * a->arena->output_slot_bytes;
	int			in = 0,
				out = 0;

	a->canaries[run] = 0;
	if (m->job->language == LANGUAGE_PYTORCH)
	{
		for (int i = 0; i < m->inputs; i++)
			if (m->input[i].dtype < WIRE_PY_INT)
				falsify(a, run, in_slot + m->input[i].offset, &m->input[i]);
		return;
	}
	for (int i = 0; i < m->job->signature.arguments; i++)
		switch (m->job->signature.argument[i].role)
		{
			case ROLE_IN:
				falsify(a, run, in_slot + m->input[in].offset, &m->input[in]);
				in++;
				break;
			case ROLE_INOUT:
				falsify(a, run, out_slot + m->output[out].offset, &m->output[out]);
				in++;
				out++;
				break;
			case ROLE_OUT:
				out++;
				break;
			case ROLE_SCALAR:
				break;
		}
}

/* backwards, so that an element that was drawn twice ends as it was */
static void
correct_run(Audit *a, uint32_t run)
{
	while (a->canaries[run] > 0)
	{
		Canary	   *c = &a->canary[run][--a->canaries[run]];

		memcpy(c->at, c->truth, c->size);
	}
}

/* between run - 1 and run */
static void
between(void *context, uint32_t run, uint32_t runs)
{
	Audit	   *a = context;

	if (run == a->sample + 1)
	{
		a->read = true;
		a->good = measure_read(a->m, a->executor, a->side, a->arena, a->sample, a->slots[a->sample], a->out);
	}
	if (run < runs)
		correct_run(a, run);
}

/*
 * `n` runs on staged inputs, the output of run `sample` into `out`; seconds of all.
 */
bool
audit_run(Measure *m, Executor *executor, Side side, Arena *arena, const uint32_t *slots, const uint64_t *seeds, uint32_t n,
		  uint32_t sample, void *out, double timeout, double *seconds)
{
	static Audit a;
	ExecutorResult result;

	a.m = m;
	a.executor = executor;
	a.side = side;
	a.arena = arena;
	a.slots = slots;
	a.sample = sample;
	a.out = out;
	a.read = a.good = false;
	if (!measure_stage(m, arena, slots, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
	{
		falsify_run(&a, i);
		executor->control->slots[i] = slots[i];
		executor->control->seeds[i] = seeds[slots[i]];
	}
	result = executor_gated(executor, WIRE_RUN, n, m->seeds_runs ? WIRE_FLAG_SEED_RUNS : 0, between, &a, timeout, seconds);
	m->result.clock_seconds += *seconds;
	/* arrays that both sides read must be true again, however this ended */
	for (uint32_t i = 0; i < n; i++)
		correct_run(&a, i);
	if (!measure_failed(m, side, executor, result, "in a run"))
		return false;
	/* an answer to the block before that to its runs */
	if (!a.read)
		return measure_failed(m, side, executor, EXECUTOR_FORGED, "in a run");
	return a.good;
}
