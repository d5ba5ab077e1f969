/*
 * random.c
 *		What a candidate must not guess, and fresh inputs at memory speed.
 *
 * A candidate sees its inputs, so every choice is drawn from a cipher's stream, and every array is
 * filled from a stream of its own, with a key from that one: known elements tell nothing of others.
 *
 * Every timed run gets inputs of its own, so filling them must cost little more than a memory-bound
 * kernel does. Eight blocks of the cipher are made side by side, as many as registers of 256 bits
 * hold. Normal values come from a table of quantiles, interpolated, instead of a logarithm.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/random.h"
#include "common/tensor.h"
#include "common/wire.h"

#define QUANTILES	2048
#define BLOCKS		16			/* of the cipher, made at once */
#define LANES		8			/* of them, side by side in registers */
#define WORDS		(16 * BLOCKS)	/* 32 bits each */

/* inlined into the copy of chunk() for each kind of processor */
#define INLINE		static inline __attribute__((always_inline))

static const uint32_t constant[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

/* of the standard normal distribution, and how far it is to the next */
typedef struct Quantile
{
	float		at;
	float		rise;
} Quantile;

static Quantile quantile[QUANTILES];
static pthread_once_t quantile_once = PTHREAD_ONCE_INIT;

/* a word of each of some blocks */
typedef uint32_t Lanes __attribute__((vector_size(4 * LANES)));

typedef union Words
{
	uint32_t	half[WORDS];
	uint64_t	whole[WORDS / 2];
} Words;

/* A kind of elements that an array is filled with. */
typedef struct Fill
{
	uint32_t	dtype;
	RandomInit	init;
	double		low;
	double		width;
	int64_t		first;			/* of integers */
	uint64_t	span;			/* how many; 0: 2 to the power of 64 */
	bool		wide;			/* an element takes 64 bits of the stream, not 32 */
	RandomKey	key;
} Fill;

/* clang-format off */
#define ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define QUARTER(a, b, c, d) \
	do { \
		a += b; d ^= a; d = ROTATE(d, 16); \
		c += d; b ^= c; b = ROTATE(b, 12); \
		a += b; d ^= a; d = ROTATE(d, 8); \
		c += d; b ^= c; b = ROTATE(b, 7); \
	} while (0)
/* clang-format on */

/* sixteen blocks, from `block` on, a multiple of that: word w of block b is words[16 w + b] */
INLINE void
cipher(const RandomKey *key, uint64_t block, Words *words)
{
/* A loop that is left costs a quarter more. */
#pragma GCC unroll 2
	for (uint32_t first = 0; first < BLOCKS; first += LANES)
	{
		Lanes		start[16];
		Lanes		x[16];

		start[12] = (Lanes) {0, 1, 2, 3, 4, 5, 6, 7} + (uint32_t) block + first;
		start[13] = (Lanes) {0} + (uint32_t) (block >> 32);
		start[14] = start[15] = (Lanes) {0};
		for (int w = 0; w < 12; w++)
			start[w] = (Lanes) {0} + (w < 4 ? constant[w] : key->word[w - 4]);
		for (int w = 0; w < 16; w++)
			x[w] = start[w];
		for (int round = 0; round < 8; round += 2)
		{
			QUARTER(x[0], x[4], x[8], x[12]);
			QUARTER(x[1], x[5], x[9], x[13]);
			QUARTER(x[2], x[6], x[10], x[14]);
			QUARTER(x[3], x[7], x[11], x[15]);
			QUARTER(x[0], x[5], x[10], x[15]);
			QUARTER(x[1], x[6], x[11], x[12]);
			QUARTER(x[2], x[7], x[8], x[13]);
			QUARTER(x[3], x[4], x[9], x[14]);
		}
		for (int w = 0; w < 16; w++)
		{
			Lanes		sum = x[w] + start[w];

			memcpy(words->half + w * BLOCKS + first, &sum, sizeof(sum));
		}
	}
}

INLINE double
unit(uint64_t bits)
{
	/* a fraction without a conversion from integers, which few processors do side by side */
	uint64_t	one = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(0x3FF0000000000000);
	double		value;

	memcpy(&value, &one, sizeof(value));
	return value - 1;
}

INLINE double
normal64(uint64_t bits)
{
	const Quantile *q = &quantile[bits >> 53];

	return q->at + unit(bits) * q->rise;
}

/* n: 0 for 2^64 */
INLINE uint64_t
below(uint64_t bits, uint64_t n)
{
	return n == 0 ? bits : (uint64_t) (((unsigned __int128) bits * n) >> 64);
}

/* Pairs are loaded one by one: gathers are slower, by far where microcode mends Downfall. */
INLINE void
normals32(const Words *words, float *out)
{
	Quantile	pair[WORDS];

	for (size_t i = 0; i < WORDS; i++)
	{
		uint32_t	bits = words->half[i];

		__asm__("" : "+r"(bits));
		memcpy(&pair[i], &quantile[bits >> 21], sizeof(*pair));
	}
	for (size_t i = 0; i < WORDS; i++)
	{
		float		rest = (float) (int32_t) (words->half[i] & 0x1FFFFF) * 0x1p-21f;

		out[i] = pair[i].at + rest * pair[i].rise;
	}
}

INLINE void
floats(const Fill *fill, const Words *words, void *out)
{
	float		low = (float) fill->low;
	float		width = (float) (fill->low + fill->width) - low;
	float		value[WORDS];

	if (fill->init == RANDOM_NORMAL)
		normals32(words, value);
	else
		for (size_t i = 0; i < WORDS; i++)
			value[i] = low + (float) (int32_t) (words->half[i] >> 8) * 0x1p-24f * width;
	switch (fill->dtype)
	{
#define DTYPE(NAME, ...) \
	case WIRE_##NAME: \
		for (size_t i = 0; i < WORDS; i++) \
			tensor_store(out, WIRE_##NAME, i, value[i], (int64_t) value[i]); \
		break;
#include "common/dtypes.h"
	}
}

INLINE void
doubles(const Fill *fill, const Words *words, double *out)
{
	if (fill->init == RANDOM_NORMAL)
		for (size_t i = 0; i < WORDS / 2; i++)
			out[i] = normal64(words->whole[i]);
	else
		for (size_t i = 0; i < WORDS / 2; i++)
			out[i] = fill->low + unit(words->whole[i]) * fill->width;
}

INLINE void
integers(const Fill *fill, const Words *words, void *out)
{
	const Fill	f = *fill;		/* which no store of bytes may change */
	uint64_t	first = (uint64_t) f.first;

	switch (fill->dtype)
	{
#define DTYPE(NAME, ...) \
	case WIRE_##NAME: \
		for (size_t i = 0; !f.wide && i < WORDS; i++) \
		{ \
			uint64_t	more = words->half[i] * f.span >> 32; \
			\
			tensor_store(out, WIRE_##NAME, i, f.low + (int32_t) more, \
						 (int64_t) (first + more)); \
		} \
		for (size_t i = 0; f.wide && i < WORDS / 2; i++) \
		{ \
			int64_t		n = (int64_t) (first + below(words->whole[i], f.span)); \
			\
			tensor_store(out, WIRE_##NAME, i, (double) n, n); \
		} \
		break;
#include "common/dtypes.h"
	}
}

/* the elements of sixteen blocks, from `block` on; the same on every kind of processor */
INLINE void
make_chunk(const Fill *fill, uint64_t block, void *out)
{
	Words		words;

	cipher(&fill->key, block, &words);
	if (fill->init == RANDOM_INTEGER)
		integers(fill, &words, out);
	else if (fill->dtype == WIRE_FLOAT64)
		doubles(fill, &words, out);
	else
		floats(fill, &words, out);
}

__attribute__((target_clones("arch=x86-64-v4", "avx2", "default"))) static void
chunk(const Fill *fill, uint64_t block, void *out)
{
	make_chunk(fill, block, out);
}

/* of the standard normal distribution, by bisection on erfc */
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
	double		at = normal_quantile(0);

	for (int i = 0; i < QUANTILES; i++)
	{
		double		next = normal_quantile((double) (i + 1) / QUANTILES);

		quantile[i] = (Quantile) {(float) at, (float) (next - at)};
		at = next;
	}
}

void
random_fill(void *out, uint32_t dtype, size_t n, RandomInit init, double low, double high,
			const RandomKey *key)
{
	Fill		fill = {.dtype = dtype,.init = init,.low = low,.width = high - low,.key = *key};
	size_t		size = tensor_dtype(dtype)->size;
	size_t		each;
	uint64_t	rest[WORDS];	/* the last elements, and those that there is no room for */

	if (init == RANDOM_ZERO)
	{
		memset(out, 0, n * size);
		return;
	}
	pthread_once(&quantile_once, make_quantiles);
	fill.wide = init != RANDOM_INTEGER && dtype == WIRE_FLOAT64;
	if (init == RANDOM_INTEGER)
	{
		fill.first = (int64_t) low;
		fill.span = (uint64_t) (int64_t) high - (uint64_t) fill.first + 1;
		fill.wide = fill.span - 1 > 0xFFFF;
	}
	each = fill.wide ? WORDS / 2 : WORDS;
	for (size_t at = 0; at < n; at += each)
	{
		uint64_t	block = at / each * BLOCKS;

		if (n - at >= each)
			chunk(&fill, block, (char *) out + at * size);
		else
		{
			chunk(&fill, block, rest);
			memcpy((char *) out + at * size, rest, (n - at) * size);
		}
	}
}

void
random_seed(RandomStream *stream, const RandomKey *key)
{
	memset(stream, 0, sizeof(*stream));
	stream->key = *key;
}

uint64_t
random_next(RandomStream *stream)
{
	if (stream->left == 0)
	{
		Words		words;

		cipher(&stream->key, stream->block, &words);
		memcpy(stream->values, &words, sizeof(words));
		stream->block += BLOCKS;
		stream->left = RANDOM_AHEAD;
	}
	return stream->values[--stream->left];
}

uint64_t
random_below(RandomStream *stream, uint64_t n)
{
	return below(random_next(stream), n);
}

void
random_key(RandomStream *stream, RandomKey *key)
{
	for (int i = 0; i < 8; i += 2)
	{
		uint64_t	value = random_next(stream);

		memcpy(key->word + i, &value, sizeof(value));
	}
}

static void
from_kernel(void *out, size_t bytes)
{
	if (getrandom(out, bytes, 0) != (ssize_t) bytes)
	{
		perror("cudal1-measure: getrandom");
		exit(1);
	}
}

uint64_t
random_secret(void)
{
	uint64_t	value;

	from_kernel(&value, sizeof(value));
	return value;
}

void
random_secret_key(RandomKey *key)
{
	from_kernel(key, sizeof(*key));
}
