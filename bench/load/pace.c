/*
 * pace.c
 *		pace SECONDS: writes the microseconds (floats) that some 20 us of arithmetic take, again and again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST	10000000
#define CHAINS	8
#define ROUNDS	4000

static volatile uint64_t seed = 1;
static float taken[MOST];

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* as many chains as keep all units busy, so that a second thread of the core has something to take away */
static uint64_t
work(void)
{
	uint64_t	chain[CHAINS];
	uint64_t	sum = 0;

	for (int c = 0; c < CHAINS; c++)
		chain[c] = seed + (uint64_t) c;
	for (int i = 0; i < ROUNDS; i++)
		for (int c = 0; c < CHAINS; c++)
		{
			chain[c] ^= chain[c] << 13;
			chain[c] ^= chain[c] >> 7;
			chain[c] ^= chain[c] << 17;
		}
	for (int c = 0; c < CHAINS; c++)
		sum ^= chain[c];
	return sum;
}

int
main(int argc, char **argv)
{
	double		end;
	double		last;
	size_t		n = 0;
	volatile uint64_t sum = 0;

	if (argc != 2)
		return 1;
	for (int i = 0; i < 1000; i++)
		sum += work();
	last = now();
	end = last + atof(argv[1]);
	while (last < end && n < MOST)
	{
		double		t;

		sum += work();
		t = now();
		taken[n++] = (float) (1e6 * (t - last));
		last = t;
	}
	return fwrite(taken, sizeof(*taken), n, stdout) != n;
}
