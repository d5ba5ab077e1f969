/*
 * late.c
 *		Which parts of which inputs are false at first, and that true ones take their place.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/gpu/cuda_late.c"

#include <math.h>
#include <stdlib.h>

#include "tap.h"

#define SLOTS	8
#define MOST	((size_t) 20 << 20)

static Job	job = {.language = LANGUAGE_CUDA};
static Gpu	gpu;
static Measure measure = {.job = &job,.gpu = &gpu};
static Arena arena = {.slots = SLOTS,.spare = GPU_LATE_RUNS};
static char *master,
		   *inputs;
static bool generated[SLOTS + GPU_LATE_RUNS];

bool
gpu_good(Measure *m, CuResult error, const char *doing)
{
	return error == 0;
}

void
gpu_pieces(Measure *m, const Arena *of, Side side, CudaPieces *pieces)
{
	*pieces = (CudaPieces) {.from_stride = of->input_slot_bytes,.n = 1,
		.piece = {{(uintptr_t) master, (uintptr_t) inputs, of->input_slot_bytes,
			of->input_slot_bytes}}};
}

bool
gpu_copy_pieces(Measure *m, const CudaPieces *p, uint32_t slot)
{
	memcpy((char *) (uintptr_t) (p->piece[0].to + slot * p->piece[0].to_stride),
		   (const char *) (uintptr_t) (p->piece[0].from + slot * p->from_stride),
		   p->piece[0].bytes);
	return true;
}

bool
measure_generate(Measure *m, Arena *of, const uint32_t *slots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		generated[slots[i]] = true;
	return true;
}

uint64_t
random_below(RandomStream *stream, uint64_t n)
{
	static uint64_t lot;

	lot = lot * 6364136223846793005u + 1442695040888963407u;
	return (lot >> 24) % n;
}

static CuResult
copy(const CuCopy *c, CuStreamRef stream)
{
	for (size_t row = 0; row < c->height; row++)
		memcpy((c->to_type == 1 ? (char *) c->to_host : (char *) (uintptr_t) c->to) + row
			   * c->to_pitch,
			   (c->from_type == 1 ? (const char *) c->from_host
				: (const char *) (uintptr_t) c->from) + row * c->from_pitch, c->width);
	return 0;
}

static CuResult
create(CuStreamRef *stream, unsigned int flags)
{
	*stream = (CuStreamRef) &gpu;
	return 0;
}

static CuResult
wait_for(CuStreamRef stream)
{
	return 0;
}

static CuResult
host(void **memory, size_t bytes, unsigned int flags)
{
	*memory = malloc(bytes);
	return *memory == NULL;
}

static CuResult
release(void *memory)
{
	free(memory);
	return 0;
}

/* how much of a late input is false, at least; whether all came true, and nothing else changed */
static double
least_false(size_t bytes, uint32_t wanted, uint32_t *n, bool *come_true)
{
	uint32_t	slots[SLOTS];
	double		least = 1;
	uint32_t	i;

	arena.input_slot_bytes = bytes;
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		slots[slot] = (slot * 5 + 3) % SLOTS;
	for (uint32_t slot = 0; slot < SLOTS + GPU_LATE_RUNS; slot++)
		memset(master + slot * bytes, (int) slot + 1, bytes);
	memcpy(inputs, master, SLOTS * bytes);
	memset(generated, 0, sizeof(generated));
	*n = gpu_late_most(&arena, wanted);
	gpu_late_set(&measure, &arena, slots, 0, 2, *n);
	gpu_late_begin(&measure, &arena, SIDE_CANDIDATE);
	*come_true = true;
	for (uint32_t run = 0; run < SLOTS; run++)
	{
		const char *in = inputs + slots[run] * bytes;
		size_t		wrong = 0;

		for (size_t b = 0; b < bytes; b++)
			wrong += in[b] != (char) (slots[run] + 1);
		if (!gpu_late_is(&gpu.late, run, &i))
		{
			*come_true = *come_true && wrong == 0;
			continue;
		}
		least = fmin(least, (double) wrong / (double) bytes);
		*come_true = *come_true && generated[SLOTS + i];
		for (size_t b = 0; b < bytes; b++)
			*come_true = *come_true && (in[b] == (char) (slots[run] + 1)
										|| in[b] == (char) (SLOTS + i + 1));
		gpu_late_bring(&measure, &arena, SIDE_CANDIDATE, i);
	}
	*come_true = *come_true && memcmp(inputs, master, SLOTS * bytes) == 0;
	return least;
}

int
main(void)
{
	uint32_t	n;
	bool		come_true;

	master = malloc((SLOTS + GPU_LATE_RUNS) * MOST);
	inputs = malloc(SLOTS * MOST);
	gpu.driver.Memcpy2DAsync = copy;
	gpu.driver.StreamCreate = create;
	gpu.driver.StreamSynchronize = wait_for;
	gpu.driver.MemHostAlloc = host;
	gpu.driver.MemFreeHost = release;
	check(least_false(8192, 4, &n, &come_true) == 1 && n == 4, "small inputs are false as a whole");
	check(come_true, "each by an input of its own, and come true");
	check(least_false(8192, 2, &n, &come_true) == 1 && n == 2 && come_true,
		  "or of as many runs as there are");
	check(least_false((size_t) 12 << 20, 4, &n, &come_true) == 1 && n == 3 && come_true,
		  "large ones, too, of three runs");
	check(least_false(MOST, 4, &n, &come_true) > 0.75 && n == 3 && come_true,
		  "of larger ones a part, still of three runs");
	return done();
}
