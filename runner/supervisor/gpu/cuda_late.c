/*
 * cuda_late.c
 *		Inputs that come true late in a block: for traps, see cuda_trap.c, and audits, see
 *		cuda_audit.c.
 *
 * All inputs of a block lie in memory from its start, so code could answer them together. In some
 * blocks the input of some runs is another at first, as random as the true one and of no other run,
 * so that neither equal inputs nor what was seen before tells which runs these are. The true input
 * comes when the run before has answered.
 *
 * It comes by a copy from page-locked memory, which an engine of its own makes in 10 us; a kernel
 * of the supervisor's would take the GPU from the executor's for 0.3 ms, which code that waits for
 * its kernels would pay for. The driver sends copies of less than 32 kB along with commands,
 * through the engine of kernels, unless they have rows: so inputs are copied in two rows. Of an
 * input that is too large for this memory a part is false, which begins where a lot says.
 */
#include <string.h>

#include "supervisor/gpu/cuda.h"
#include "supervisor/session.h"

#define CARRY_BYTES		((size_t) 48 << 20)	/* page-locked, at most */
#define WHOLE_RUNS		3		/* late runs for which there is room whatever an input's size */
#define ROW_GAP			64		/* bytes: rows that lie end to end would be one */
#define GRAIN			16		/* bytes that are copied together */

/* page-locked memory for inputs, and a stream that waits for no other */
static bool
prepare(Measure *m, size_t bytes)
{
	Gpu		   *gpu = m->gpu;
	GpuLate    *late = &gpu->late;
	void	   *memory;

	if (!gpu_stream(m))
		return false;
	if (late->bytes >= bytes)
		return true;
	if (late->input)
		gpu->driver.MemFreeHost(late->input);
	late->input = NULL;
	late->bytes = 0;
	if (!gpu_good(m, gpu->driver.MemHostAlloc(&memory, bytes, 1), "to bring an input"))
		return false;
	late->input = memory;
	late->bytes = bytes;
	return true;
}

bool
gpu_stream(Measure *m)
{
	Gpu		   *gpu = m->gpu;

	return gpu->stream || gpu_good(m, gpu->driver.StreamCreate(&gpu->stream, 1), "to copy aside");
}

/* which part of each array is false: the whole where there is room for it */
static void
draw_parts(Measure *m, GpuLate *late, const CudaPieces *pieces, size_t room)
{
	uint64_t	bytes = 0;

	for (uint32_t j = 0; j < pieces->n; j++)
		bytes += pieces->piece[j].bytes;
	late->whole = bytes > 0 && bytes <= room;
	for (uint32_t j = 0; j < pieces->n; j++)
	{
		uint64_t	all = pieces->piece[j].bytes / GRAIN;
		uint64_t	part = bytes <= room ? all
			: (uint64_t) ((double) all * ((double) room / (double) bytes));

		late->part[j] = part * GRAIN;
		for (uint32_t i = 0; i < late->n; i++)
			late->offset[i][j] = random_below(&m->random, all - part + 1) * GRAIN;
	}
}

/* the true inputs to the host */
static bool
load(Measure *m, const Arena *arena, const CudaPieces *pieces)
{
	Gpu		   *gpu = m->gpu;
	GpuLate    *late = &gpu->late;
	size_t		at = 0;
	size_t		bytes = 0;

	for (uint32_t j = 0; j < pieces->n; j++)
		bytes += late->part[j] + ROW_GAP;
	if (!prepare(m, late->n * bytes))
		return false;
	for (uint32_t i = 0; i < late->n; i++)
		for (uint32_t j = 0; j < pieces->n; j++)
		{
			size_t		width = late->part[j] / 2;
			CuCopy		down = {.from_type = 2, .from = pieces->piece[j].from + late->slot[i]
				* pieces->from_stride + late->offset[i][j],
				.from_pitch = width, .to_type = 1, .to_host = late->input + at,
					.to_pitch = width + ROW_GAP, .width = width, .height = 2};

			late->at[i][j] = at;
			at += late->part[j] + ROW_GAP;
			if (width > 0 && !gpu_good(m, gpu->driver.Memcpy2DAsync(&down, gpu->stream),
									   "to bring an input"))
				return false;
		}
	return gpu_good(m, gpu->driver.StreamSynchronize(gpu->stream), "to bring an input");
}

uint32_t
gpu_late_most(const Arena *arena, uint32_t wanted)
{
	size_t		fit = CARRY_BYTES / (arena->input_slot_bytes + WIRE_MAX_ARGUMENTS * ROW_GAP);
	uint32_t	most = fit > WHOLE_RUNS ? (uint32_t) (fit < GPU_LATE_RUNS ? fit : GPU_LATE_RUNS)
		: WHOLE_RUNS;

	most = most < arena->spare ? most : arena->spare;
	return wanted < most ? wanted : most;
}

/* fresh false inputs and what will take their place */
bool
gpu_late_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t first, uint32_t apart,
			 uint32_t n)
{
	GpuLate    *late = &m->gpu->late;
	uint32_t	other[GPU_LATE_RUNS];
	CudaPieces	pieces;

	late->n = n;
	late->first = first;
	late->apart = apart;
	for (uint32_t i = 0; i < n; i++)
	{
		late->slot[i] = slots[first + apart * i];
		other[i] = arena->slots + i;
	}
	gpu_pieces(m, arena, SIDE_REFERENCE, &pieces);
	draw_parts(m, late, &pieces, CARRY_BYTES / (n > 0 ? n : 1));
	return measure_generate(m, arena, other, n) && load(m, arena, &pieces);
}

void
gpu_late_clear(Measure *m)
{
	m->gpu->late.n = 0;
}

bool
gpu_late_begin(Measure *m, const Arena *arena, Side side)
{
	GpuLate    *late = &m->gpu->late;
	CudaPieces	pieces;

	for (uint32_t i = 0; i < late->n; i++)
	{
		gpu_pieces(m, arena, side, &pieces);
		for (uint32_t j = 0; j < pieces.n; j++)
		{
			CudaPiece  *p = &pieces.piece[j];

			p->from += ((uint64_t) arena->slots + i - late->slot[i]) * pieces.from_stride
				+ late->offset[i][j];
			p->to += late->offset[i][j];
			p->bytes = late->part[j];
		}
		if (!gpu_copy_pieces(m, &pieces, late->slot[i]))
			return false;
	}
	return true;
}

bool
gpu_late_bring(Measure *m, const Arena *arena, Side side, uint32_t i)
{
	Gpu		   *gpu = m->gpu;
	GpuLate    *late = &gpu->late;
	CudaPieces	pieces;

	gpu_pieces(m, arena, side, &pieces);
	for (uint32_t j = 0; j < pieces.n; j++)
	{
		size_t		width = late->part[j] / 2;
		CuCopy		up = {.from_type = 1, .from_host = late->input + late->at[i][j],
			.from_pitch = width + ROW_GAP,
			.to_type = 2, .to = pieces.piece[j].to + late->slot[i] * pieces.piece[j].to_stride
				+ late->offset[i][j],
			.to_pitch = width,.width = width,.height = 2};

		if (width > 0 && !gpu_good(m, gpu->driver.Memcpy2DAsync(&up, gpu->stream),
								   "to bring an input"))
			return false;
	}
	return gpu_good(m, gpu->driver.StreamSynchronize(gpu->stream), "to bring an input");
}

bool
gpu_late_is(const GpuLate *late, uint32_t run, uint32_t *i)
{
	*i = 0;
	if (late->n == 0 || run < late->first || (run - late->first) % late->apart != 0)
		return false;
	*i = (run - late->first) / late->apart;
	return *i < late->n;
}
