/*
 * light.c
 *		What no code can exceed on a core: bytes of memory, and operations.
 *
 * Both are measured when the device is listed, and the best of many pieces counts, because other
 * processes may have the core or the memory in some of them.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/device/device.h"

#define BYTES			((size_t) 64 << 20) /* more than caches hold */
#define PIECE_BYTES		((size_t) 4 << 20)
#define TRIES			5
#define LANES			128
#define LAPS			200000

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EACH_PROCESSOR	__attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define EACH_PROCESSOR
#endif

/* sums of what lies in memory, in lanes that do not wait for each other */
EACH_PROCESSOR static void
read_all(const char *memory, size_t bytes)
{
	uint32_t	sum[LANES] = {0};
	const uint32_t *number = (const uint32_t *) (const void *) memory;

	for (size_t at = 0; at < bytes / sizeof(*number); at += LANES)
		for (int i = 0; i < LANES; i++)
			sum[i] += number[at + i];
	/* a compiler may not leave it out */
	__asm__ volatile("" : : "r"(sum) : "memory");
}

static double
memory_rate(void)
{
	char	   *memory = malloc(BYTES);
	double		best = 0;

	if (!memory)
		return 0;
	/* Touch all pages, so that page faults are not timed. */
	memset(memory, 1, BYTES);
	for (int i = 0; i < 2 * TRIES; i++)
		for (size_t at = 0; at < BYTES; at += PIECE_BYTES)
		{
			double		started = clock_now();

			if (i % 2 == 0)
				read_all(memory + at, PIECE_BYTES);
			else
				memset(memory + at, i, PIECE_BYTES);
			__asm__ volatile("" : : "r"(memory) : "memory");
			best = fmax(best, (double) PIECE_BYTES / (clock_now() - started));
		}
	free(memory);
	return best;
}

typedef float Lanes __attribute__((vector_size(64)));

/* a multiplication and an addition in each lane of sums that do not wait for each other */
EACH_PROCESSOR static float
multiply_and_add(float factor)
{
	Lanes		a = {0},
				b = {1},
				c = {2},
				d = {3},
				e = {4},
				f = {5},
				g = {6},
				h = {7};

	for (int lap = 0; lap < LAPS; lap++)
	{
		a = a * factor + 1;
		b = b * factor + 1;
		c = c * factor + 1;
		d = d * factor + 1;
		e = e * factor + 1;
		f = f * factor + 1;
		g = g * factor + 1;
		h = h * factor + 1;
	}
	a += b + c + d + e + f + g + h;
	return a[0];
}

static double
operation_rate(void)
{
	static volatile float factor = 0.5f;
	volatile float sum = 0;
	double		best = 0;

	for (int i = 0; i < TRIES; i++)
	{
		double		started = clock_now();

		sum = multiply_and_add(factor);
		(void) sum;
		best = fmax(best, 2.0 * 8 * 16 * LAPS / (clock_now() - started));
	}
	return best;
}

void
light_of_core(double *bandwidth, double *peak)
{
	*bandwidth = memory_rate();
	*peak = operation_rate();
}
