/*
 * light.c
 *		What no code can exceed on a core: bytes of memory, and operations.
 *
 * Both are measured when the device is listed, and the best of many pieces counts, because other
 * processes may have the core or the memory in some of them.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "supervisor/device/device.h"

#define BYTES			((size_t) 64 << 20) /* more than caches hold */
#define PIECE_BYTES		((size_t) 4 << 20)
#define TRIES			5
#define SUMS			10
#define LAPS			200000

double
light_bandwidth(void)
{
	static char memory[BYTES];
	void	   *found = NULL;
	double		best = 0;

	/* Touch all pages, so that page faults are not timed. */
	memset(memory, 1, BYTES);
	for (int i = 0; i < 2 * TRIES; i++)
		for (size_t at = 0; at < BYTES; at += PIECE_BYTES)
		{
			double		started = clock_now();

			/* nothing is found, so all is read */
			if (i % 2 == 0)
				found = memchr(memory + at, UINT8_MAX, PIECE_BYTES);
			else
				memset(memory + at, i, PIECE_BYTES);
			__asm__ volatile("" : : "r"(memory), "r"(found) : "memory");
			best = fmax(best, (double) PIECE_BYTES / (clock_now() - started));
		}
	return best;
}

/*
 * A multiplication and an addition in each lane of sums that do not wait for each other, in the
 * registers of one kind of processor. Its value is the number of operations.
 */
/* clang-format off */
#define MULTIPLY_AND_ADD(NAME, BYTES, TARGET) \
TARGET static double \
NAME(float factor, float *result) \
{ \
	typedef float Lanes __attribute__((vector_size(BYTES))); \
	Lanes		sum[SUMS]; \
	\
	/* different numbers, or a compiler would make one sum of all */ \
	for (int i = 0; i < SUMS; i++) \
		sum[i] = (Lanes) {0} + (float) i; \
	for (int lap = 0; lap < LAPS; lap++) \
		_Pragma("GCC unroll 10") \
		for (int i = 0; i < SUMS; i++) \
			sum[i] = sum[i] * factor + 1; \
	for (int i = 0; i < SUMS; i++) \
		*result += sum[i][0]; \
	return 2.0 * SUMS * LAPS * BYTES / sizeof(float); \
}
/* clang-format on */
MULTIPLY_AND_ADD(of_sse, 16,)
MULTIPLY_AND_ADD(of_avx2, 32, __attribute__((target("avx2,fma"))))
MULTIPLY_AND_ADD(of_avx512, 64, __attribute__((target("avx512f"))))

double
light_peak(void)
{
	static volatile float factor = 0.5f;
	double		(*run) (float, float *) = __builtin_cpu_supports("avx512f") ? of_avx512
		: __builtin_cpu_supports("fma") ? of_avx2 : of_sse;
	float		sum = 0;
	double		best = 0;

	for (int i = 0; i < TRIES; i++)
	{
		double		started = clock_now();
		double		operations = run(factor, &sum);

		/* a compiler may not leave it out */
		__asm__ volatile("" : : "r"(sum) : "memory");
		best = fmax(best, operations / (clock_now() - started));
	}
	return best;
}
