/*
 * random.h
 *		What a candidate must not guess, and fresh inputs at memory speed: a cipher's streams, and
 *		fills for each element type.
 */
#ifndef CUDAL1_RANDOM_H
#define CUDAL1_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct RandomKey
{
	uint32_t	word[8];
} RandomKey;

/* ChaCha with 8 rounds: from some of its values the others can't be told */
#define RANDOM_AHEAD	128
typedef struct RandomStream
{
	RandomKey	key;
	uint64_t	block;			/* of the cipher, made next */
	uint64_t	values[RANDOM_AHEAD];
	unsigned	left;			/* of `values` */
} RandomStream;

extern void random_seed(RandomStream *stream, const RandomKey *key);
extern uint64_t random_next(RandomStream *stream);

/* uniform in [0, n), n >= 1 */
extern uint64_t random_below(RandomStream *stream, uint64_t n);

/* a key for one array: neither the stream's other values nor other arrays tell it */
extern void random_key(RandomStream *stream, RandomKey *key);

/* from the kernel; both end the program if it gives none */
extern uint64_t random_secret(void);
extern void random_secret_key(RandomKey *key);

typedef enum RandomInit
{
	RANDOM_NORMAL,				/* N(0, 1); the tails end at 4.3 standard deviations */
	RANDOM_UNIFORM,				/* [low, high) */
	RANDOM_INTEGER,				/* low to high, both included */
	RANDOM_ZERO,
} RandomInit;

/*
 * n elements of a type (WireDtype). From any of them the others, and the key, are as hard to tell
 * as the cipher's stream. The same key gives the same elements on every processor.
 */
extern void random_fill(void *out, uint32_t dtype, size_t n, RandomInit init, double low,
						double high, const RandomKey *key);

#endif							/* CUDAL1_RANDOM_H */
