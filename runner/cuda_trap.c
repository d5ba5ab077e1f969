/*
 * cuda_trap.c
 *		Blocks that tell whether a run's work is done in that run.
 *
 * All inputs of a block lie in memory from its start, so code could answer them together in its first run, which pays tenfold where
 * calls cost more than they compute. Runs therefore start one by one, when the supervisor opens a gate, in every block alike. In a few,
 * drawn by lot, one run finds its true input only when runs before it have answered. And code could wait until all inputs are true, so
 * the executor is stopped when that run has answered: what it has launched by then must be enough.
 *
 * The true input must not be seen to arrive: who waits longer at a gate than usual knows, and can do that one run again. A kernel of the
 * supervisor's would take the GPU from the executor's for 0.3 ms. A copy from page-locked memory is made by another engine beside
 * kernels of any process, in 10 us; but the driver sends one of less than 32 kB along with commands, through the engine of kernels, unless
 * it has rows. So inputs are copied in two rows, by a thread that starts a few runs before the one that needs them.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cuda.h"

#define LOOK_AGAIN_US	200
#define CARRY_BYTES		((size_t) 16 << 20)	/* larger inputs are worth no trick, and take too long to come */
#define ROW_GAP			64		/* bytes: rows that lie end to end would be one */
#define COPY_SECONDS	15e-6	/* until a small input has come */
#define COPY_BYTES		3e10	/* a second, of a large one */

/* page-locked memory for an input, and a stream that waits for no other */
static bool
prepare(Measure *m, size_t bytes)
{
	Gpu		   *gpu = m->gpu;
	GpuCarrier *c = &gpu->carrier;
	void	   *memory;

	if (!c->stream && !gpu_good(m, gpu->driver.StreamCreate(&c->stream, 1), "to bring an input"))
		return false;
	if (c->bytes >= bytes)
		return true;
	if (c->input)
		gpu->driver.MemFreeHost(c->input);
	c->input = NULL;
	c->bytes = 0;
	if (!gpu_good(m, gpu->driver.MemHostAlloc(&memory, bytes, 1), "to bring an input"))
		return false;
	c->input = memory;
	c->bytes = bytes;
	return true;
}

/* the true input of a slot to the host, and the copies that will take it to where executors find it */
static bool
load(Measure *m, const Arena *arena, uint32_t slot)
{
	Gpu		   *gpu = m->gpu;
	GpuCarrier *c = &gpu->carrier;
	CudaPieces	pieces;
	size_t		at = 0;

	gpu_pieces(m, arena, &pieces);
	if (!prepare(m, arena->input_slot_bytes + WIRE_MAX_ARGUMENTS * ROW_GAP))
		return false;
	for (c->n = 0; c->n < pieces.n; c->n++)
	{
		const CudaPiece *p = &pieces.piece[c->n];
		size_t		width = p->bytes / 2;
		CuCopy		down = {.from_type = 2,.from = p->from + slot * pieces.from_stride,.from_pitch = width,
			.to_type = 1,.to_host = c->input + at,.to_pitch = width + ROW_GAP,.width = width,.height = 2};

		c->copy[c->n] = (CuCopy) {.from_type = 1,.from_host = down.to_host,.from_pitch = down.to_pitch,
			.to_type = 2,.to = p->to + slot * p->to_stride,.to_pitch = width,.width = width,.height = 2};
		at += p->bytes + ROW_GAP;
		if (!gpu_good(m, gpu->driver.Memcpy2DAsync(&down, c->stream), "to bring an input"))
			return false;
	}
	return gpu_good(m, gpu->driver.StreamSynchronize(c->stream), "to bring an input");
}

bool
gpu_trap_set(Measure *m, const Arena *arena, uint32_t slot, uint32_t other, uint32_t runs, double step_seconds)
{
	GpuTrap    *trap = &m->gpu->trap;
	double		seconds = COPY_SECONDS + (double) arena->input_slot_bytes / COPY_BYTES;
	double		steps = seconds / fmax(step_seconds, seconds / WIRE_MAX_RUNS);
	uint32_t	lead = 1 + (uint32_t) steps + (uint32_t) random_below(&m->random, 2);

	*trap = (GpuTrap) {.run = 1 + (uint32_t) random_below(&m->random, runs - 1),.slot = slot,.other = other};
	trap->from = arena->input_slot_bytes > CARRY_BYTES ? trap->run : trap->run > lead ? trap->run - lead : 1;
	return arena->input_slot_bytes > CARRY_BYTES || load(m, arena, slot);
}

static void *
carry(void *argument)
{
	Gpu		   *gpu = argument;
	GpuCarrier *c = &gpu->carrier;

	c->error = gpu->driver.CtxSetCurrent(gpu->context);
	while (!c->go && !c->stop)
		clock_pause();
	for (uint32_t i = 0; c->go && c->error == 0 && i < c->n; i++)
		c->error = gpu->driver.Memcpy2DAsync(&c->copy[i], c->stream);
	if (c->go && c->error == 0)
		c->error = gpu->driver.StreamSynchronize(c->stream);
	c->arrived = true;
	return NULL;
}

bool
gpu_trap_begin(Measure *m, const Arena *arena)
{
	Gpu		   *gpu = m->gpu;
	GpuCarrier *c = &gpu->carrier;

	c->go = c->stop = c->arrived = false;
	c->error = 0;
	if (!gpu_copy_inputs(m, arena, gpu->trap.slot, gpu->trap.other))
		return false;
	c->running = arena->input_slot_bytes <= CARRY_BYTES && pthread_create(&c->thread, NULL, carry, gpu) == 0;
	return true;
}

void
gpu_trap_end(Measure *m)
{
	GpuCarrier *c = &m->gpu->carrier;

	c->stop = true;
	if (c->running)
		pthread_join(c->thread, NULL);
	c->running = false;
}

/* the true input of the trapped run, if it is not there yet */
static bool
bring(GpuSteps *s)
{
	Measure    *m = s->m;
	GpuCarrier *c = &m->gpu->carrier;

	if (!c->running)
		return gpu_copy_inputs(m, s->arena, m->gpu->trap.slot, m->gpu->trap.slot);
	while (!c->arrived)
		clock_pause();
	return gpu_good(m, c->error, "to bring an input");
}

/* whether the first output of the trapped run is right by now, on the GPU, without the executor's help */
static bool
is_there(GpuSteps *s)
{
	Measure    *m = s->m;
	GpuTrap    *trap = &m->gpu->trap;
	Comparison	found;

	trap->readable = gpu_read_first(m, s->executor, s->arena, trap->run, trap->slot, trap->found);
	if (!trap->readable || !gpu_compare(m, trap->expected, trap->found, 0, &found))
	{
		s->failed = m->result.outcome != OUTCOME_NONE;
		return false;
	}
	trap->wrong = found.mismatches;
	return found.equal;
}

void
gpu_between(void *context, uint32_t run, uint32_t runs)
{
	GpuSteps   *s = context;
	GpuTrap    *trap = &s->m->gpu->trap;
	double		deadline;

	if (trap->run == 0 || s->failed)
		return;
	if (run == trap->from)
		s->m->gpu->carrier.go = true;
	if (run == trap->run)
		s->failed = !bring(s);
	if (run != trap->run + 1 || !trap->expected || executor_freeze(s->executor) != EXECUTOR_OK)
		return;
	deadline = clock_now() + s->patience;
	while (!is_there(s) && !s->failed)
	{
		if (clock_now() > deadline)
		{
			trap->late = trap->run;
			break;
		}
		usleep(LOOK_AGAIN_US);
	}
	executor_thaw(s->executor);
}
