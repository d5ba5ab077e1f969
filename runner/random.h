/*
 * random.h
 *		What a candidate must not guess, and fresh inputs at memory speed: seeded streams and fills for each element type.
 */
#ifndef CUDAL1_RANDOM_H
#define CUDAL1_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* ChaCha with 8 rounds: who has seen inputs made from some of its values can't tell the next ones */
typedef struct RandomStream
{
	uint64_t	seed;
	uint32_t	state[16];
	uint64_t	values[8];
	unsigned	left;			/* of `values` */
} RandomStream;

extern void random_seed(RandomStream *stream, uint64_t seed);
extern uint64_t random_next(RandomStream *stream);

/* uniform in [0, n), n >= 1 */
extern uint64_t random_below(RandomStream *stream, uint64_t n);

/* from the kernel; ends the program if it gives none */
extern uint64_t random_secret(void);

/* n values from N(0, 1) / U[low, high); the distribution's tails end at 4.3 standard deviations */
extern void random_fill_normal(float *out, size_t n, uint64_t seed);
extern void random_fill_uniform(float *out, size_t n, float low, float high, uint64_t seed);

/* any element type (WireDtype); integers in [low, high] */
typedef enum RandomInit
{
	RANDOM_NORMAL,
	RANDOM_UNIFORM,
	RANDOM_INTEGER,
	RANDOM_ZERO,
} RandomInit;

extern void random_fill(void *out, uint32_t dtype, size_t n, RandomInit init, double low, double high, uint64_t seed);

#endif							/* CUDAL1_RANDOM_H */
