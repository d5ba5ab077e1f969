/*
 * poison.c
 *		What a PyTorch block has left is overwritten where it lies.
 *
 * A result belongs to its caller, which writes into it, frees it or keeps it. Code that hands
 * memory out again with what was in it saves the work of filling it: an output that is mostly
 * zeros, of which only those places are cleared that the run before had set, took a tenth of an
 * honest run. So random bytes are written into a few random places of every output, while its
 * process is stopped and after what is to be compared was read. A few are enough: code that leaves
 * any line as it was must have read it, and reading a line takes about as long as filling it. To
 * fill all of them would take as long as the runs did.
 *
 * Pages that were never touched are zeros that the kernel makes when they are read. The executor
 * makes those of its outputs within the window (guard.c), so here there are none. The kernel counts
 * the faults of the supervisor's writing as the supervisor's own: they tell the pages that no run
 * has written.
 *
 * Memory that was filled before the clock ran, when the code was loaded or in blocks that are not
 * timed, lasts until it is used up. So what lies where none of the last blocks' outputs lay, and
 * was not overwritten after one of them, costs what filling it takes (measure_fill). Results that
 * are freed and allocated anew lie where the last ones did, but for what an allocator moves, on
 * both sides alike. A process can't move pages to other addresses, since mremap is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "common/proc.h"
#include "supervisor/backend.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/outcome.h"
#include "supervisor/checks/outputs.h"
#include "supervisor/checks/poison.h"

#define PLACES			GPU_MAX_SAMPLES	/* overwritten after a block, at most */
#define PLACES_EACH		8		/* of an output */
#define PLACE_BYTES		64
#define LEAST_UNWRITTEN	8		/* pages, before any are blamed on a side */
#define UNWRITTEN_SHARE	50		/* of the places, one in ... */
#define MAPS_EVERY		8		/* blocks, on average */
#define PIECES_MOST		256		/* of a view with gaps */
#define SMALLER			0.5		/* a block with less than that of the bytes of the one before */
#define FILL_LEAST		((size_t) 1 << 20)
#define FILL_MOST		((size_t) 64 << 20)
#define FILLS			5
#define DEARER			1.25	/* so that a host's noise never makes early filling pay */
#define WORTH			0.02	/* of a run, that not filling its outputs would save */

/* where the outputs of a block lie */
typedef struct Places
{
	Stretch    *v;
	size_t		n;
	size_t		room;
	uint64_t	scattered;		/* bytes of views in too many pieces, which count as fresh */
} Places;

static bool
blame(Measure *m, Side side, const char *text)
{
	measure_cause(m, side, "memory");
	return conclude(m, outcome_of(side, OUTCOME_WRONG_OUTPUT), "%s: %s", name_of_side(side), text);
}

static long
faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* random bytes into these places */
static bool
overwrite(Measure *m, Executor *executor, Side side, const struct iovec *places, size_t n)
{
	size_t		bytes = 0;
	char	   *noise;
	long		before;

	if (n == 0)
		return true;
	if (m->backend->overwrite)
		return m->backend->overwrite(m, executor, side, places, n);
	for (size_t i = 0; i < n; i++)
		bytes += places[i].iov_len;
	noise = (char *) m->noise + random_below(&m->random, NOISE_BYTES - bytes + 1);
	before = faults();
	if (!executor_write_places(executor, places, n, noise))
	{
		/* a process that has been killed is found so by its next command */
		if (errno == ESRCH)
			return true;
		return blame(m, side,
			"a result lies in memory that can't be written; a caller may write to what "
			"it is given");
	}
	executor->memory.places += n;
	executor->memory.unwritten += (uint64_t) (faults() - before);
	if (executor->memory.unwritten < LEAST_UNWRITTEN
		|| executor->memory.unwritten * UNWRITTEN_SHARE < executor->memory.places)
		return true;
	measure_detector(m, "unwritten");
	return blame(m, side,
		"pages of its results had not been written when the run was over; zeros that "
		"the kernel would make for the caller are no result");
}

/*
 * whether any of these lies in memory that other mappings share: a mapping of a file, or of the
 * inputs
 */
static bool
is_shared(const Executor *executor, const Stretch *lie, size_t n)
{
	char		line[512];
	FILE	   *maps = proc_open(executor->pid, "maps");
	bool		found = false;

	while (maps && !found && fgets(line, sizeof(line), maps))
	{
		unsigned long long from;
		unsigned long long to;
		char		rights[8];

		if (sscanf(line, "%llx-%llx %7s", &from, &to, rights) != 3 || rights[3] != 's')
			continue;
		for (size_t i = 0; i < n; i++)
			found = found || (lie[i].from < to && from < lie[i].to);
	}
	if (maps)
		fclose(maps);
	return found;
}

static int
in_order(const void *a, const void *b)
{
	uint64_t	x = ((const Stretch *) a)->from;
	uint64_t	y = ((const Stretch *) b)->from;

	return x < y ? -1 : x > y;
}

/* in order and apart; how many are left */
static size_t
join(Stretch *v, size_t n)
{
	size_t		to = 0;

	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), in_order);
	for (size_t i = 1; i < n; i++)
		if (v[i].from > v[to].to)
			v[++to] = v[i];
		else if (v[i].to > v[to].to)
			v[to].to = v[i].to;
	return to + 1;
}

static uint64_t
bytes_of(const Stretch *v, size_t n)
{
	uint64_t	bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += v[i].to - v[i].from;
	return bytes;
}

/* adds where an output lies: a view with gaps in pieces, of which there may be too many */
static bool
add_places(Places *lie, const WireTensor *tensor, const Tensor *layout, uint64_t span)
{
	struct iovec piece = {(void *) (uintptr_t) tensor->address, span};
	uint64_t	pieces = 1;

	if (span > layout->bytes && executor_find_piece(tensor, layout, 0, SIZE_MAX, &piece))
		pieces = layout->bytes / piece.iov_len;
	if (pieces > PIECES_MOST)
	{
		piece = (struct iovec) {(void *) (uintptr_t) tensor->address, span};
		pieces = 1;
		lie->scattered += layout->bytes;
	}
	if (lie->n + pieces > lie->room)
	{
		size_t		room = 2 * (lie->n + pieces);
		Stretch    *v = realloc(lie->v, room * sizeof(*v));

		if (!v)
			return false;
		lie->v = v;
		lie->room = room;
	}
	for (uint64_t i = 0; i < pieces; i++)
	{
		if (pieces > 1)
			executor_find_piece(tensor, layout, i * (layout->elements / pieces), SIZE_MAX, &piece);
		lie->v[lie->n].from = (uint64_t) (uintptr_t) piece.iov_base;
		lie->v[lie->n].to = lie->v[lie->n].from + piece.iov_len;
		lie->n++;
	}
	return true;
}

/*
 * Notes where the outputs of a block lie, and how much of them where none of the last blocks lay.
 * An audit's single run, after which the next block lies where the last one did, is not remembered;
 * takes `lie`.
 */
static void
note_memory(OutputMemory *memory, const Places *lie)
{
	uint64_t	both;
	uint64_t	before;
	size_t		total = lie->n;
	Stretch    *together;

	for (int i = 0; i < EXECUTOR_RECENT; i++)
		total += memory->stretches[i];
	together = malloc((total + 1) * sizeof(*together));
	if (!together)
	{
		free(lie->v);
		return;
	}
	total = 0;
	for (int i = 0; i < EXECUTOR_RECENT; i++)
		for (size_t j = 0; j < memory->stretches[i]; j++)
			together[total++] = memory->recent[i][j];
	total = join(together, total);
	before = bytes_of(together, total);
	memcpy(together + total, lie->v, lie->n * sizeof(*together));
	both = bytes_of(together, join(together, total + lie->n));
	free(together);
	memory->fresh = both - before + lie->scattered;
	if (bytes_of(lie->v, lie->n) < SMALLER * bytes_of(memory->recent[0], memory->stretches[0]))
	{
		free(lie->v);
		return;
	}
	free(memory->recent[EXECUTOR_RECENT - 1]);
	for (int i = EXECUTOR_RECENT - 1; i > 0; i--)
	{
		memory->recent[i] = memory->recent[i - 1];
		memory->stretches[i] = memory->stretches[i - 1];
	}
	memory->recent[0] = lie->v;
	memory->stretches[0] = lie->n;
}

/*
 * whether filling its outputs is a part of a run that is worth to be saved, and could be, since
 * they hardly differ from run to run
 */
static bool
is_worth(const Measure *m)
{
	double		least = m->time[0] < m->time[1] ? m->time[0] : m->time[1];

	return least > 0 && m->repeated * (double) m->output_bytes
		/ m->backend->fill_rate > WORTH * least;
}

/* seconds a byte, of an array as large as a block's outputs, whose pages are there */
static double
fill_speed(Measure *m, size_t bytes)
{
	double		taken[FILLS];
	char	   *array;

	bytes = bytes < FILL_LEAST ? FILL_LEAST : bytes > FILL_MOST ? FILL_MOST : bytes;
	array = m->gpu ? NULL : malloc(bytes);
	if (!array)
		return 1 / m->backend->fill_rate;
	for (int i = -1; i < FILLS; i++)
	{
		double		started = clock_now();

		memset(array, i, bytes);
		/* a compiler may not leave it out */
		__asm__ volatile("" : : "r"(array) : "memory");
		if (i >= 0)
			taken[i] = clock_now() - started;
	}
	free(array);
	return cudal1_score_median(taken, FILLS) / (double) bytes;
}

double
measure_fill(Measure *m, const Executor *executor)
{
	const OutputMemory *memory = &executor->memory;

	if (memory->fresh == 0)
		return 0;
	if (m->fill == 0)
		m->fill = fill_speed(m, bytes_of(memory->recent[0], memory->stretches[0]));
	return DEARER * m->repeated * (double) memory->fresh * m->fill;
}

/* whether an output shares no place with an earlier one of its run, as executors see to */
static bool
check_apart(Measure *m, Side side, const WireTensor *table, int output)
{
	const Tensor *layout = &m->output[output];
	const WireTensor *t = &table[output];

	for (int i = 0; i < output; i++)
		if (layout->elements > 0 && m->output[i].elements > 0
			&& !tensor_apart(table[i].address, &m->output[i], table[i].stride, t->address, layout,
							 t->stride))
			return blame(m, side, "two results of a run share memory");
	return true;
}

static bool
poison(Measure *m, Executor *executor, Side side)
{
	struct iovec places[PLACES];
	size_t		n = 0;
	uint32_t	runs = executor->memory.runs;
	uint64_t	large = 0;
	uint64_t	each;
	uint64_t	bytes = 0;
	Places		lie = {0};

	executor->memory.runs = 0;
	for (int i = 0; i < m->outputs; i++)
		large += m->output[i].bytes >= WIRE_LARGE_OUTPUT;
	if (runs * large == 0)
		return true;
	each = PLACES / (runs * large);
	each = each < 1 ? 1 : each > PLACES_EACH ? PLACES_EACH : each;
	for (uint32_t run = 0; run < runs; run++)
	{
		WireTensor	table[WIRE_MAX_TENSORS];
		size_t		earlier = lie.n;

		if (!measure_table(m, executor, side, run, table))
			goto failed;
		for (int i = 0; i < m->outputs; i++)
		{
			const Tensor *layout = &m->output[i];
			uint64_t	span;

			if (!measure_check_layout(m, side, i, &table[i]) || !check_apart(m, side, table, i))
				goto failed;
			if (layout->bytes < WIRE_LARGE_OUTPUT)
				continue;
			if (!tensor_span(layout, table[i].stride, &span)
				|| table[i].address + span * tensor_dtype_size(layout->dtype) < table[i].address)
			{
				measure_failed(m, side, executor, EXECUTOR_FORGED, "as an output was overwritten");
				goto failed;
			}
			if (!add_places(&lie, &table[i], layout, span * tensor_dtype_size(layout->dtype)))
			{
				conclude(m, OUTCOME_LOST, "no memory");
				goto failed;
			}
			for (uint64_t j = 0; j < each; j++)
			{
				/* with more outputs than places, each has its chance */
				if (random_below(&m->random, runs * large) >= PLACES)
					continue;
				if (n == PLACES)
					break;
				executor_find_piece(
					&table[i], layout, random_next(&m->random), PLACE_BYTES, &places[n++]);
			}
		}
		lie.n = earlier + join(lie.v + earlier, lie.n - earlier);
		bytes += bytes_of(lie.v + earlier, lie.n - earlier);
	}
	lie.n = join(lie.v, lie.n);
	if (bytes_of(lie.v, lie.n) < bytes)
	{
		blame(m, side, "results of two runs lie in the same memory; what is returned again and "
			  "again is kept in a buffer of the module, or copied");
		goto failed;
	}
	if (!overwrite(m, executor, side, places, n))
		goto failed;
	if (!m->gpu && random_below(&m->random, MAPS_EVERY) == 0 && is_shared(executor, lie.v, lie.n))
	{
		measure_detector(m, "shared");
		blame(m, side,
			"a result lies in memory that it shares with the inputs, with a file or with "
			"another result");
		goto failed;
	}
	if (is_worth(m))
		note_memory(&executor->memory, &lie);
	else
	{
		executor->memory.fresh = 0;
		free(lie.v);
	}
	return true;
failed:
	free(lie.v);
	return false;
}

bool
measure_poison(Measure *m, Executor *executor, Side side)
{
	double		started = clock_now();
	bool		good = !m->backend->outputs_apart || poison(m, executor, side);

	measure_spent(m, SPENT_POISON, started);
	return good;
}
