/*
 * random.c
 *		What a candidate must not guess, and fresh inputs at memory speed.
 *
 * A candidate sees its inputs, so it could find the seed behind them. Every seed and every choice is therefore drawn from a
 * cipher's stream; knowing some of them tells nothing about the others.
 *
 * Every timed run gets inputs of its own, so filling them must not cost much more than running a memory-bound kernel does.
 * Eight interleaved xorshift-multiply streams vectorise; normal values come from a table of 2048 quantiles with linear
 * interpolation between them, which costs one gather instead of a logarithm.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "random.h"
#include "tensor.h"
#include "wire.h"

#define QUANTILES	2048
#define LANES		8

static float quantile[QUANTILES + 2];
static pthread_once_t quantile_once = PTHREAD_ONCE_INIT;

static uint64_t
splitmix(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static uint64_t
rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint32_t
rotl32(uint32_t x, int k)
{
	return (x << k) | (x >> (32 - k));
}

static void
quarter(uint32_t *x, int a, int b, int c, int d)
{
	x[d] = rotl32(x[d] ^ (x[a] += x[b]), 16);
	x[b] = rotl32(x[b] ^ (x[c] += x[d]), 12);
	x[d] = rotl32(x[d] ^ (x[a] += x[b]), 8);
	x[b] = rotl32(x[b] ^ (x[c] += x[d]), 7);
}

void
random_seed(RandomStream *stream, uint64_t seed)
{
	static const char constant[] = "expand 32-byte k";

	memset(stream, 0, sizeof(*stream));
	stream->seed = seed;
	memcpy(stream->state, constant, 16);
	for (int i = 0; i < 4; i++)
	{
		uint64_t	word = splitmix(&seed);

		memcpy(stream->state + 4 + 2 * i, &word, 8);
	}
}

uint64_t
random_next(RandomStream *stream)
{
	if (stream->left == 0)
	{
		uint32_t	x[16];

		memcpy(x, stream->state, sizeof(x));
		for (int i = 0; i < 4; i++)
		{
			for (int j = 0; j < 4; j++)
				quarter(x, j, 4 + j, 8 + j, 12 + j);
			for (int j = 0; j < 4; j++)
				quarter(x, j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
		}
		for (int i = 0; i < 16; i++)
			x[i] += stream->state[i];
		memcpy(stream->values, x, sizeof(x));
		stream->left = 8;
		if (++stream->state[12] == 0)
			stream->state[13]++;
	}
	return stream->values[--stream->left];
}

/* xoshiro256++, for the elements of one array */
typedef struct Elements
{
	uint64_t	s[4];
} Elements;

static uint64_t
elements_next(Elements *stream)
{
	uint64_t   *s = stream->s;
	uint64_t	result = rotl(s[0] + s[3], 23) + s[0];
	uint64_t	t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

static uint64_t
scale(uint64_t value, uint64_t n)
{
	return (uint64_t) (((unsigned __int128) value * n) >> 64);
}

uint64_t
random_below(RandomStream *stream, uint64_t n)
{
	return scale(random_next(stream), n);
}

uint64_t
random_secret(void)
{
	uint64_t	value;

	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
	{
		perror("cudal1-measure: getrandom");
		exit(1);
	}
	return value;
}

/* quantile of the standard normal distribution by bisection on erfc; made once, so speed is no matter */
static double
normal_quantile(double p)
{
	double		low = -4.3,
				high = 4.3;

	for (int i = 0; i < 60; i++)
	{
		double		middle = (low + high) / 2;

		if (0.5 * erfc(-middle / sqrt(2.0)) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static void
make_quantiles(void)
{
	for (int i = 0; i <= QUANTILES; i++)
		quantile[i] = (float) normal_quantile((double) i / QUANTILES);
	quantile[QUANTILES + 1] = quantile[QUANTILES];
}

/* 32 random bits for each lane */
static inline void
lanes_next(uint32_t *restrict a, uint32_t *restrict b, uint32_t *restrict out)
{
	for (int j = 0; j < LANES; j++)
	{
		uint32_t	x = a[j];

		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		a[j] = x;
		b[j] += UINT32_C(0x9E3779B9);
		x += b[j];
		x = (x ^ (x >> 16)) * UINT32_C(0x7FEB352D);
		x = (x ^ (x >> 15)) * UINT32_C(0x846CA68B);
		out[j] = x ^ (x >> 16);
	}
}

static void
lanes_seed(uint32_t *a, uint32_t *b, uint64_t seed)
{
	for (int j = 0; j < LANES; j++)
	{
		uint64_t	z = splitmix(&seed);

		a[j] = (uint32_t) z | 1;
		b[j] = (uint32_t) (z >> 32);
	}
}

void
random_fill_normal(float *out, size_t n, uint64_t seed)
{
	uint32_t	a[LANES],
				b[LANES],
				bits[LANES];
	size_t		i = 0;

	pthread_once(&quantile_once, make_quantiles);
	lanes_seed(a, b, seed);
	while (i < n)
	{
		float		value[LANES];
		size_t		m = n - i < LANES ? n - i : LANES;

		lanes_next(a, b, bits);
		for (int j = 0; j < LANES; j++)
		{
			uint32_t	cell = bits[j] >> 21;
			float		rest = (float) (bits[j] & 0x1FFFFF) * 0x1p-21f;

			value[j] = quantile[cell] + rest * (quantile[cell + 1] - quantile[cell]);
		}
		memcpy(out + i, value, m * sizeof(float));
		i += m;
	}
}

void
random_fill_uniform(float *out, size_t n, float low, float high, uint64_t seed)
{
	uint32_t	a[LANES],
				b[LANES],
				bits[LANES];
	size_t		i = 0;

	lanes_seed(a, b, seed);
	while (i < n)
	{
		float		value[LANES];
		size_t		m = n - i < LANES ? n - i : LANES;

		lanes_next(a, b, bits);
		for (int j = 0; j < LANES; j++)
			value[j] = low + (float) (bits[j] >> 8) * 0x1p-24f * (high - low);
		memcpy(out + i, value, m * sizeof(float));
		i += m;
	}
}

static double
draw(Elements *stream, RandomInit init, double low, double high)
{
	double		u = (double) (elements_next(stream) >> 11) * 0x1p-53;

	if (init == RANDOM_UNIFORM)
		return low + u * (high - low);
	else
	{
		double		place = u * QUANTILES;
		int			cell = (int) place;

		return quantile[cell] + (place - cell) * (quantile[cell + 1] - quantile[cell]);
	}
}

void
random_fill(void *out, uint32_t dtype, size_t n, RandomInit init, double low, double high, uint64_t seed)
{
	Elements	stream;

	if (init == RANDOM_ZERO)
	{
		memset(out, 0, n * tensor_dtype_size(dtype));
		return;
	}
	if (dtype == WIRE_FLOAT32 && init == RANDOM_NORMAL)
	{
		random_fill_normal(out, n, seed);
		return;
	}
	if (dtype == WIRE_FLOAT32 && init == RANDOM_UNIFORM)
	{
		random_fill_uniform(out, n, (float) low, (float) high, seed);
		return;
	}
	pthread_once(&quantile_once, make_quantiles);
	for (int i = 0; i < 4; i++)
		stream.s[i] = splitmix(&seed);
	if (init == RANDOM_INTEGER)
	{
		uint64_t	span = (uint64_t) ((int64_t) high - (int64_t) low) + 1;

		for (size_t i = 0; i < n; i++)
			tensor_store_integer(out, dtype, i, (int64_t) low +
								 (int64_t) (span == 0 ? elements_next(&stream) : scale(elements_next(&stream), span)));
	}
	else
		for (size_t i = 0; i < n; i++)
			tensor_store_float(out, dtype, i, draw(&stream, init, low, high));
}
