/*
 * inputs.c
 *		How fast arrays are filled with fresh inputs, beside what copying one takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/random.h"
#include "common/tensor.h"

#define TIMES	7

static double
speed(char *out, const char *from, size_t bytes, uint32_t dtype, RandomInit init, double high)
{
	RandomKey	key;
	double		best = 1e9;

	random_secret_key(&key);
	for (int i = 0; i < TIMES; i++)
	{
		double		start = clock_now();

		if (from)
			memcpy(out, from, bytes);
		else
			random_fill(out, dtype, bytes / tensor_dtype_size(dtype), init, 0, high, &key);
		start = clock_now() - start;
		best = start < best ? start : best;
	}
	return (double) bytes / best * 1e-9;
}

int
main(int argc, char **argv)
{
	static const char *const inits[] = {"normal", "uniform", "integer", "integer, wide"};
	static const uint32_t floats[] = {WIRE_FLOAT64, WIRE_FLOAT32, WIRE_FLOAT16, WIRE_BFLOAT16, 0};
	static const uint32_t integers[] = {WIRE_INT64, WIRE_INT32, WIRE_UINT8, WIRE_BOOL, WIRE_FLOAT32, 0};
	static const uint32_t wide[] = {WIRE_INT64, WIRE_INT32, 0};
	static const uint32_t *const dtypes[] = {floats, floats, integers, wide};
	size_t		bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : (size_t) 64 << 20;
	char	   *out = malloc(bytes);
	char	   *from = malloc(bytes);

	if (!out || !from)
		return 1;
	memset(out, 1, bytes);
	memset(from, 1, bytes);
	printf("| fill of %zu bytes | dtype | GB/s |\n|---|---|---|\n", bytes);
	printf("| a copy | | %.1f |\n", speed(out, from, bytes, 0, RANDOM_ZERO, 0));
	for (int i = 0; i < 4; i++)
		for (const uint32_t *dtype = dtypes[i]; *dtype; dtype++)
			printf("| %s | %s | %.1f |\n", inits[i], tensor_dtype_name(*dtype),
				   speed(out, NULL, bytes, *dtype, i < 3 ? (RandomInit) i : RANDOM_INTEGER,
						 i == 1 || *dtype == WIRE_BOOL ? 1 : i == 3 ? 1e9 : 127));
	free(out);
	free(from);
	return 0;
}
