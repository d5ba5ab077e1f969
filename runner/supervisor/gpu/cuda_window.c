/*
 * cuda_window.c
 *		The calls of a window on a GPU.
 *
 * An input comes by a copy from page-locked memory, which an engine of its own makes in 10 us. A
 * kernel of the supervisor's would take the GPU from the executor's for 0.15 ms, and so would a
 * copy from device to device. The driver sends copies of less than 32 kB along with commands,
 * through the engine of kernels, unless they have rows. So copies here have two rows, but for
 * those of single bytes.
 */
#include <string.h>

#include "supervisor/gpu/cuda.h"
#include "supervisor/time/time.h"

#define CARRY_BYTES		((size_t) 128 << 20)	/* page-locked, at most */
#define ROW_GAP			64		/* bytes: rows that lie end to end would be one */
#define GRAIN			16		/* bytes that are copied together */
#define FARTHEST		((uint64_t) 1 << 30)	/* bytes between two rows of a copy */
#define REST_SECONDS	1e-3	/* a time slice of a resident kernel takes twice as long */
#define REST_TRIES		3		/* a hiccup of the host passes */
#define NOISE_AT		2048	/* in gpu->few */

/* page-locked memory for the inputs of a round */
static bool
make_room(Measure *m, size_t bytes)
{
	GpuLate    *late = &m->gpu->late;
	void	   *memory;

	if (late->bytes >= bytes)
		return true;
	if (late->input)
		m->gpu->driver.MemFreeHost(late->input);
	late->input = NULL;
	late->bytes = 0;
	if (!gpu_good(m, m->gpu->driver.MemHostAlloc(&memory, bytes, 1), "to bring an input"))
		return false;
	late->input = memory;
	late->bytes = bytes;
	return true;
}

/* Sends a copy between rows on the device and rows in page-locked memory on its way. */
static bool
copy_rows(Measure *m, CuAddress device, size_t pitch, char *host, size_t host_pitch, size_t width,
		  size_t height, bool up)
{
	CuCopy		copy = {.from_type = up ? 1 : 2,.to_type = up ? 2 : 1,.from = device,.to = device,
		.from_host = host,.to_host = host,.from_pitch = up ? host_pitch : pitch,
		.to_pitch = up ? pitch : host_pitch,.width = width,.height = height};

	return gpu_good(m, m->gpu->driver.Memcpy2DAsync(&copy, m->gpu->stream), "to copy arrays");
}

/* Sends late parts of a run's input up to where executors find them, or down from the master. */
static bool
copy_parts(Measure *m, const CudaPieces *pieces, uint32_t slot, bool up)
{
	const GpuLate *late = &m->gpu->late;

	for (uint32_t j = 0; j < pieces->n; j++)
	{
		const CudaPiece *p = &pieces->piece[j];
		CuAddress	device = up ? p->to + slot * p->to_stride
			: p->from + slot * pieces->from_stride;
		size_t		width = late->part[j] / 2;

		if (width > 0
			&& !copy_rows(m, device + late->offset[j], width,
						  late->input + slot * late->stretch + late->at[j], width + ROW_GAP, width,
						  2, up))
			return false;
	}
	return true;
}

/* Draws the late part of each piece of an input: all of it, if there is room. */
static void
draw_parts(Measure *m, GpuLate *late, const CudaPieces *pieces, size_t room)
{
	uint64_t	bytes = 0;

	late->stretch = 0;
	for (uint32_t j = 0; j < pieces->n; j++)
		bytes += pieces->piece[j].bytes;
	late->whole = bytes <= room;
	for (uint32_t j = 0; j < pieces->n; j++)
	{
		uint64_t	all = pieces->piece[j].bytes / GRAIN;
		uint64_t	part = late->whole ? all
			: (uint64_t) ((double) all * ((double) room / (double) bytes));

		late->part[j] = part * GRAIN;
		late->offset[j] = random_below(&m->random, all - part + 1) * GRAIN;
		late->at[j] = late->stretch;
		late->stretch += late->part[j] + ROW_GAP;
	}
}

bool
gpu_load(Measure *m, Arena *arena, uint32_t n)
{
	GpuLate    *late = &m->gpu->late;
	CudaPieces	pieces;

	gpu_pieces(m, arena, SIDE_REFERENCE, &pieces);
	draw_parts(m, late, &pieces, CARRY_BYTES / n);
	if (pieces.n == 0)
		return true;
	if (!make_room(m, n * late->stretch))
		return false;
	for (uint32_t slot = 0; slot < n; slot++)
		if (!copy_parts(m, &pieces, slot, false))
			return false;
	return gpu_good(m, m->gpu->driver.StreamSynchronize(m->gpu->stream), "to bring an input");
}

/* Stages inputs but for their late parts, where data of an earlier round stay. */
static bool
stage(Measure *m, const Arena *arena, Side side, uint32_t n)
{
	const GpuLate *late = &m->gpu->late;

	for (int after = 0; !late->whole && after < 2; after++)
	{
		CudaPieces	pieces;

		gpu_pieces(m, arena, side, &pieces);
		for (uint32_t j = 0; j < pieces.n; j++)
		{
			CudaPiece  *p = &pieces.piece[j];
			uint64_t	from = after ? late->offset[j] + late->part[j] : 0;

			p->bytes = after ? p->bytes - from : late->offset[j];
			p->from += from;
			p->to += from;
		}
		for (uint32_t slot = 0; slot < n; slot++)
			if (!gpu_copy_pieces(m, &pieces, slot))
				return false;
	}
	return true;
}

/*
 * Writes over memory of the supervisor's, until the GPU's cache holds nothing else. What it holds
 * of a window's arrays hangs on whose the last window was, and is worth a fifth of 70 us.
 */
static bool
empty_cache(Measure *m)
{
	Gpu		   *gpu = m->gpu;

	return gpu_good(m, gpu->driver.MemsetD8(gpu->flush, 0, gpu->flush_bytes), "to be used")
		&& gpu_synchronize(m);
}

bool
gpu_prepare_window(Measure *m, const Arena *arena, Side side, uint32_t n)
{
	return gpu_noise_outputs(m, arena, side, 0, n) && stage(m, arena, side, n)
		&& empty_cache(m);
}

bool
gpu_bring(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	CudaPieces	pieces;

	gpu_pieces(m, arena, side, &pieces);
	return copy_parts(m, &pieces, slot, true)
		&& gpu_good(m, m->gpu->driver.StreamSynchronize(m->gpu->stream), "to bring an input");
}

/*
 * Elements two by two, as the rows of a copy; of a single one the two halves. Where two lie too far
 * apart, or are the same, each is copied by itself.
 */
static bool
copy_few(Measure *m, const uint64_t *address, int n, size_t size, char *host, bool up)
{
	Gpu		   *gpu = m->gpu;

	for (int i = 0; i < n;)
	{
		uint64_t	low = address[i];
		uint64_t	high = i + 1 < n ? address[i + 1] : 0;
		bool		both = high >= low + size && high - low <= FARTHEST;
		size_t		width = both || size < 2 ? size : size / 2;

		if (!copy_rows(m, low, both ? high - low : width, host + (size_t) i * sizeof(uint64_t),
					   both ? sizeof(uint64_t) : width, width, both || size > 1 ? 2 : 1, up))
			return false;
		i += both ? 2 : 1;
	}
	return gpu_good(m, gpu->driver.StreamSynchronize(gpu->stream), "to read outputs");
}

bool
gpu_peek(Measure *m, Executor *executor, const uint64_t *address, int n, size_t size,
		 uint64_t *value)
{
	memset(m->gpu->few, 0, LOOKS * sizeof(uint64_t));
	if (!copy_few(m, address, n, size, m->gpu->few, false))
		return false;
	memcpy(value, m->gpu->few, (size_t) n * sizeof(uint64_t));
	return true;
}

bool
gpu_poke(Measure *m, Executor *executor, Side side, const uint64_t *address, int n, size_t size)
{
	char	   *noise = m->gpu->few + NOISE_AT;

	if (n <= 0)
		return true;
	memcpy(noise, m->noise + random_below(&m->random, NOISE_BYTES - LOOKS * sizeof(uint64_t)),
		   LOOKS * sizeof(uint64_t));
	return copy_few(m, address, n, size, noise, true);
}

/*
 * A command of the supervisor's starts at once where the GPU rests. A kernel that is resident costs
 * it a time slice, however often it is tried.
 */
bool
gpu_rests(Measure *m, bool *rests)
{
	*rests = false;
	for (int i = 0; i < REST_TRIES && !*rests; i++)
	{
		double		started = clock_now();

		if (!gpu_good(m, m->gpu->driver.MemsetD8(m->gpu->comparison, 0, 1), "to be used")
			|| !gpu_synchronize(m))
			return false;
		*rests = clock_now() - started < REST_SECONDS;
	}
	return true;
}
