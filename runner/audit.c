/*
 * audit.c
 *		Audits: what a run takes where nothing can be done for several runs at once.
 *
 * Within a block all inputs lie in memory from its start, so code could answer them together in its first run: where calls cost
 * more than they compute, that paid 4 times. In an audit every run's inputs are false in a few random elements (values of other
 * elements, of earlier inputs, so that nothing shows which, and no run's show what another's will be) until the run before has answered.
 * The supervisor waits for that answer on another core without sleeping, so caches stay as warm as in a block.
 *
 * The moment that a run says it is done, and before the next is opened, the supervisor reads a few places of its outputs, drawn by lot,
 * which must be the same when all have ended: who says so early, to get at the next inputs or to answer several together, is
 * found out. It does so for each run alike. One run, drawn by lot too, is compared, but is not read as a whole before the process
 * is stopped: a gate that stayed shut for it alone would tell code which run it can't leave undone, and leave it the time to do it, for as
 * long as it can make the reading take. Making all of them take long only makes its audits longer.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "clock.h"
#include "measure.h"

#define CANARIES		6		/* false elements of an array, at most */
#define MAX_CANARIES	(WIRE_MAX_TENSORS * CANARIES)
#define DRAWS			512		/* of an element and a false value for it, until they differ: most of an array may be zeros */
#define PLACES			4		/* of a run's outputs that are read at once; as many wherever they lie, for the time it takes */
#define PLACE_BYTES		512		/* of each, at most */

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
	uint32_t	runs;
	uint32_t	looked;			/* runs whose places have been read */
	bool		good;
	WireTensor	table[AUDIT_MAX_RUNS][WIRE_MAX_TENSORS];	/* where outputs lay when their run was done */
	struct iovec place[AUDIT_MAX_RUNS * PLACES];
	size_t		places;
	char		seen[AUDIT_MAX_RUNS * PLACES * PLACE_BYTES];
	size_t		seen_bytes;
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

static bool
is_false(const Audit *a, uint32_t run, const char *at)
{
	for (int i = 0; i < a->canaries[run]; i++)
		if (a->canary[run][i].at == at)
			return true;
	return false;
}

static bool
has_slot(const Audit *a, uint32_t slot)
{
	for (uint32_t i = 0; i < a->runs; i++)
		if (a->slots[i] == slot)
			return true;
	return false;
}

/*
 * `inputs`: where the array's like lie in other slots, one for each of the arena's. Code could answer for all values that it sees, so
 * those of an array of few elements must be of no other run of the audit, where the arena has more slots.
 */
static void
falsify(Audit *a, uint32_t run, char *array, const char *inputs, const Tensor *layout)
{
	RandomStream *random = &a->m->random;
	size_t		size = layout->elements > 0 ? layout->bytes / layout->elements : 0;
	size_t		wanted = (layout->elements + 1) / 2 < CANARIES ? (layout->elements + 1) / 2 : CANARIES;

	if (size > 8)
		return;
	for (int draw = 0; wanted > 0 && draw < DRAWS; draw++)
	{
		char	   *at = array + random_below(random, layout->elements) * size;
		uint32_t	slot = (uint32_t) random_below(random, a->arena->slots);
		const char *value = inputs + slot * a->arena->input_slot_bytes + random_below(random, layout->elements) * size;
		Canary	   *c = &a->canary[run][a->canaries[run]];

		if (memcmp(at, value, size) == 0 || is_false(a, run, at) || (draw < DRAWS / 2 && has_slot(a, slot)))
			continue;
		c->at = at;
		c->size = size;
		memcpy(c->truth, at, size);
		memcpy(at, value, size);
		a->canaries[run]++;
		wanted--;
	}
}

/* the arrays that a run reads: inputs, and what it changes in place */
static void
falsify_run(Audit *a, uint32_t run)
{
	Measure    *m = a->m;
	const Arena *arena = a->arena;
	char	   *in_slot = arena->inputs + a->slots[run] * arena->input_slot_bytes;
	char	   *out_slot = arena->outputs + a->slots[run] * arena->output_slot_bytes;
	int			in = 0,
				out = 0;

	a->canaries[run] = 0;
	if (m->job->language == LANGUAGE_PYTORCH)
	{
		for (int i = 0; i < m->inputs; i++)
			if (m->input[i].dtype < WIRE_PY_INT)
				falsify(a, run, in_slot + m->input[i].offset, arena->master + m->input[i].offset, &m->input[i]);
		return;
	}
	for (int i = 0; i < m->job->signature.arguments; i++)
		switch (m->job->signature.argument[i].role)
		{
			case ROLE_IN:
				falsify(a, run, in_slot + m->input[in].offset, (arena->direct ? arena->inputs : arena->master) + m->input[in].offset,
						&m->input[in]);
				in++;
				break;
			case ROLE_INOUT:
				falsify(a, run, out_slot + m->output[out].offset, arena->master + m->input[in].offset, &m->output[out]);
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

static void
correct_run(Audit *a, uint32_t run)
{
	while (a->canaries[run] > 0)
	{
		Canary	   *c = &a->canary[run][--a->canaries[run]];

		memcpy(c->at, c->truth, c->size);
	}
}

/* C: outputs in shared memory, described as PyTorch's are */
static void
slot_table(Audit *a, uint32_t run)
{
	for (int i = 0; i < a->m->outputs; i++)
	{
		const Tensor *layout = &a->m->output[i];
		WireTensor *t = &a->table[run][i];
		int64_t		stride = 1;

		t->address = (uint64_t) (uintptr_t) (a->arena->outputs + a->slots[run] * a->arena->output_slot_bytes + layout->offset);
		for (int d = (int) layout->ndim - 1; d >= 0; d--)
		{
			t->stride[d] = stride;
			stride *= layout->shape[d];
		}
	}
}

/* `n` of the places, wherever this language keeps its outputs */
static bool
read_places(const Audit *a, const struct iovec *places, size_t n, char *out)
{
	if (a->m->job->language == LANGUAGE_PYTORCH)
		return n == 0 || executor_read_places(a->executor, places, n, out);
	for (size_t i = 0; i < n; i++)
	{
		memcpy(out, places[i].iov_base, places[i].iov_len);
		out += places[i].iov_len;
	}
	return true;
}

/* a few places of a run that says it is done */
static bool
look(Audit *a, uint32_t run)
{
	Measure    *m = a->m;
	bool		python = m->job->language == LANGUAGE_PYTORCH;
	size_t		first = a->places;
	size_t		bytes = 0;

	if (!python)
		slot_table(a, run);
	else if (!measure_table(m, a->executor, a->side, run, a->table[run]))
		return false;
	for (int i = 0; python && i < m->outputs; i++)
		if (!measure_check_layout(m, a->side, i, &a->table[run][i]))
			return false;
	for (int i = 0; i < PLACES; i++)
	{
		int			output = (int) random_below(&m->random, (uint64_t) m->outputs);

		if (m->output[output].elements == 0)
			continue;
		if (!executor_find_piece(&a->table[run][output], &m->output[output], random_next(&m->random), PLACE_BYTES, &a->place[a->places]))
			return measure_failed(m, a->side, a->executor, EXECUTOR_FORGED, "as an output was read");
		bytes += a->place[a->places++].iov_len;
	}
	if (!read_places(a, a->place + first, a->places - first, a->seen + a->seen_bytes))
		return measure_failed(m, a->side, a->executor, EXECUTOR_FORGED, "as an output was read");
	a->seen_bytes += bytes;
	a->looked++;
	return true;
}

/* the same places again, of a stopped process */
static bool
look_again(const Audit *a)
{
	static char again[sizeof(a->seen)];

	if (!read_places(a, a->place, a->places, again))
		return measure_failed(a->m, a->side, a->executor, EXECUTOR_FORGED, "as an output was read");
	if (memcmp(again, a->seen, a->seen_bytes) != 0)
		return conclude(a->m, a->side == SIDE_CANDIDATE ? OUTCOME_WRONG_OUTPUT : OUTCOME_UNVERIFIED,
						"an output of %s changed after its run had said that it was done", a->side == SIDE_CANDIDATE ? "the code" : "the reference");
	return true;
}

/* between run - 1 and run */
static void
between(void *context, uint32_t run, uint32_t runs)
{
	Audit	   *a = context;

	if (run > 0 && a->good)
		a->good = look(a, run - 1);
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
	a.runs = n;
	a.good = true;
	a.looked = 0;
	a.places = a.seen_bytes = 0;
	if (!measure_stage(m, arena, side, slots, n))
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
	if (!a.good)
		return false;
	/* an answer to the block before that to its runs */
	if (a.looked < n)
		return measure_failed(m, side, executor, EXECUTOR_FORGED, "in a run");
	if (!look_again(&a))
		return false;
	return m->job->language == LANGUAGE_PYTORCH ? measure_read_table(m, executor, side, a.table[sample], out)
		: measure_read(m, executor, side, arena, sample, slots[sample], out);
}
