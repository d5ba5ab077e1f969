/*
 * cuda_trap.c
 *		Blocks that tell whether a run's work is done in that run, and what it costs.
 *
 * All inputs of a block lie in memory from its start, so code could answer them together in its first run, which pays tenfold where
 * calls cost more than they compute. Runs therefore start one by one, when the supervisor opens a gate, in every block alike. In a few,
 * drawn by lot, every other run of a stretch finds its true input only when the run before it has answered. What is made of the false one is
 * wrong. Code could let them all answer, and work when every input is true: so the executor is stopped when one of them has answered, and
 * what it has launched by then must be enough.
 *
 * Code can tell such a block by its waits, and take care in it: but then the steps between gates show what a run costs it, and a score that
 * other blocks gave it cannot be better than that, see verdict.c. The runs between have their inputs from the start and follow at
 * once, since code could answer first and work while the supervisor brings the next input.
 *
 * The true input comes by a copy from page-locked memory, which an engine of its own makes in 10 us; a kernel of the supervisor's would take
 * the GPU from the executor's for 0.3 ms, which code that waits for its kernels would pay for. The driver sends copies of less than
 * 32 kB along with commands, through the engine of kernels, unless they have rows: so inputs are copied in two rows.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cuda.h"

#define LOOK_AGAIN_US	200
#define CARRY_BYTES		((size_t) 16 << 20)	/* page-locked, at most; a larger input comes by a kernel */
#define IDLE_TRIES		4		/* the first finds the GPU turned to the executor */
#define IDLE_SECONDS	50e-6
#define ROW_GAP			64		/* bytes: rows that lie end to end would be one */

/* page-locked memory for inputs, and a stream that waits for no other */
static bool
prepare(Measure *m, size_t bytes)
{
	Gpu		   *gpu = m->gpu;
	GpuTrap    *trap = &gpu->trap;
	void	   *memory;

	if (!trap->stream && !gpu_good(m, gpu->driver.StreamCreate(&trap->stream, 1), "to bring an input"))
		return false;
	if (trap->bytes >= bytes)
		return true;
	if (trap->input)
		gpu->driver.MemFreeHost(trap->input);
	trap->input = NULL;
	trap->bytes = 0;
	if (!gpu_good(m, gpu->driver.MemHostAlloc(&memory, bytes, 1), "to bring an input"))
		return false;
	trap->input = memory;
	trap->bytes = bytes;
	return true;
}

/* the true inputs to the host, and the copies that will take them to where executors find them */
static bool
load(Measure *m, const Arena *arena)
{
	Gpu		   *gpu = m->gpu;
	GpuTrap    *trap = &gpu->trap;
	CudaPieces	pieces;
	size_t		at = 0;

	gpu_pieces(m, arena, &pieces);
	trap->copies = pieces.n;
	if (!prepare(m, trap->n * (arena->input_slot_bytes + WIRE_MAX_ARGUMENTS * ROW_GAP)))
		return false;
	for (uint32_t i = 0; i < trap->n; i++)
		for (uint32_t j = 0; j < pieces.n; j++)
		{
			const CudaPiece *p = &pieces.piece[j];
			uint64_t	slot = trap->slot[i];
			size_t		width = p->bytes / 2;
			CuCopy		down = {.from_type = 2,.from = p->from + slot * pieces.from_stride,.from_pitch = width,
				.to_type = 1,.to_host = trap->input + at,.to_pitch = width + ROW_GAP,.width = width,.height = 2};

			trap->copy[i][j] = (CuCopy) {.from_type = 1,.from_host = down.to_host,.from_pitch = down.to_pitch,
				.to_type = 2,.to = p->to + slot * p->to_stride,.to_pitch = width,.width = width,.height = 2};
			at += p->bytes + ROW_GAP;
			if (!gpu_good(m, gpu->driver.Memcpy2DAsync(&down, trap->stream), "to bring an input"))
				return false;
		}
	return gpu_good(m, gpu->driver.StreamSynchronize(trap->stream), "to bring an input");
}

bool
gpu_trap_set(Measure *m, const Arena *arena, const uint32_t *slots, uint32_t runs, uint32_t other)
{
	GpuTrap    *trap = &m->gpu->trap;
	size_t		fit = CARRY_BYTES / (arena->input_slot_bytes + WIRE_MAX_ARGUMENTS * ROW_GAP);
	uint32_t	n = runs / 2 < TRAP_MAX_RUNS ? runs / 2 : TRAP_MAX_RUNS;

	trap->copies = 0;
	trap->other = other;
	trap->n = fit == 0 ? 1 : n < fit ? n : (uint32_t) fit;
	trap->first = 1 + (uint32_t) random_below(&m->random, runs - 2 * trap->n + 1);
	trap->run = trap->first + 2 * (uint32_t) random_below(&m->random, trap->n);
	for (uint32_t i = 0; i < trap->n; i++)
		trap->slot[i] = slots[trap->first + 2 * i];
	return fit == 0 || load(m, arena);
}

void
gpu_trap_clear(Measure *m)
{
	m->gpu->trap.n = 0;
}

bool
gpu_trap_begin(Measure *m, const Arena *arena)
{
	GpuTrap    *trap = &m->gpu->trap;

	trap->late = trap->readable = false;
	trap->wrong = 0;
	trap->turn = 0;
	trap->steps[STEP_LATE] = trap->steps[STEP_NEXT] = 0;
	for (uint32_t i = 0; i < trap->n; i++)
		if (!gpu_copy_inputs(m, arena, trap->slot[i], trap->other))
			return false;
	return true;
}

/* the i-th true input */
static bool
bring(Measure *m, const Arena *arena, uint32_t i)
{
	Gpu		   *gpu = m->gpu;
	GpuTrap    *trap = &gpu->trap;

	if (trap->copies == 0)
		return gpu_copy_inputs(m, arena, trap->slot[i], trap->slot[i]);
	for (uint32_t j = 0; j < trap->copies; j++)
		if (!gpu_good(m, gpu->driver.Memcpy2DAsync(&trap->copy[i][j], trap->stream), "to bring an input"))
			return false;
	return gpu_good(m, gpu->driver.StreamSynchronize(trap->stream), "to bring an input");
}

/* whether the first output of the run that is looked at is right by now, on the GPU, without the executor's help */
static bool
is_there(GpuSteps *s)
{
	Measure    *m = s->m;
	GpuTrap    *trap = &m->gpu->trap;
	Comparison	found;

	trap->readable = gpu_read_first(m, s->executor, s->arena, trap->run, trap->slot[(trap->run - trap->first) / 2], trap->found);
	if (!trap->readable || !gpu_compare(m, trap->expected, trap->found, 0, &found))
	{
		s->failed = m->result.outcome != OUTCOME_NONE;
		return false;
	}
	trap->wrong = found.mismatches;
	return found.equal;
}

/*
 * Whether the GPU works for nobody else: a command follows another at once, and not only when a kernel of another process has been put
 * aside again. A kernel that stays could watch inputs come and answer each, with all of the others.
 */
static bool
is_idle(GpuSteps *s)
{
	Gpu		   *gpu = s->m->gpu;
	double		least = INFINITY;

	for (int i = 0; i < IDLE_TRIES; i++)
	{
		double		start = clock_now();

		s->failed = !gpu_good(s->m, gpu->driver.MemsetD8(gpu->comparison, 0, sizeof(CudaComparison)), "to be looked at")
			|| !gpu_good(s->m, gpu->driver.CtxSynchronize(), "to be looked at");
		if (s->failed)
			return false;
		least = fmin(least, clock_now() - start);
	}
	gpu->trap.turn = least;
	return least < IDLE_SECONDS;
}

static void
look(GpuSteps *s)
{
	GpuTrap    *trap = &s->m->gpu->trap;
	double		deadline;

	if (executor_freeze(s->executor) != EXECUTOR_OK)
		return;
	deadline = clock_now() + s->patience;
	while ((!is_there(s) || !is_idle(s)) && !s->failed)
	{
		if (clock_now() > deadline)
		{
			trap->late = true;
			break;
		}
		usleep(LOOK_AGAIN_US);
	}
	executor_thaw(s->executor);
}

/* whether a run's input comes late */
static bool
is_late(const GpuTrap *trap, uint32_t run)
{
	return run >= trap->first && (run - trap->first) % 2 == 0 && (run - trap->first) / 2 < trap->n;
}

/* what a run took; one that follows a look at the run before it took longer */
static void
note_step(GpuTrap *trap, uint32_t run, double seconds)
{
	int			kind = is_late(trap, run) ? STEP_LATE : STEP_NEXT;

	if (kind == STEP_NEXT && (run == 0 || !is_late(trap, run - 1) || (trap->expected && run == trap->run + 1)))
		return;
	trap->seconds[kind][trap->steps[kind]++] = seconds;
}

void
gpu_between(void *context, uint32_t run, uint32_t runs)
{
	GpuSteps   *s = context;
	GpuTrap    *trap = &s->m->gpu->trap;
	double		now;

	if (trap->n == 0 || s->failed)
		return;
	now = clock_now();
	if (run > 0)
		note_step(trap, run - 1, now - trap->opened);
	if (run == trap->run + 1 && trap->expected)
		look(s);
	if (is_late(trap, run) && !s->failed)
		s->failed = !bring(s->m, s->arena, (run - trap->first) / 2);
	trap->opened = clock_now();
}
