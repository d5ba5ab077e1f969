/*
 * pace.c
 *		pace CORE SECONDS [BUSY]: what some 20 us of arithmetic take on a core, again and again, while another core is busy.
 *
 * Prints microseconds: least, median, 99th percentile and most, the lowest and highest median of tenths of a second, and the share of the time
 * that went into what took more than half as long again as the median.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST	10000000
#define CHAINS	8
#define ROUNDS	4000

static volatile bool end;
static volatile uint64_t seed = 1;
static float taken[MOST];
static float sorted[MOST];

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static bool
keep_to(int core)
{
	cpu_set_t	cores;

	CPU_ZERO(&cores);
	CPU_SET(core, &cores);
	return sched_setaffinity(0, sizeof(cores), &cores) == 0;
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

static void *
busy(void *core)
{
	volatile uint64_t sum = 0;

	if (!keep_to(*(int *) core))
		return NULL;
	while (!end)
		sum += work();
	return NULL;
}

static int
compare(const void *a, const void *b)
{
	float		x = *(const float *) a;
	float		y = *(const float *) b;

	return (x > y) - (x < y);
}

static float
median_of(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sorted[i] = v[i];
	qsort(sorted, n, sizeof(*sorted), compare);
	return n > 0 ? sorted[n / 2] : 0;
}

int
main(int argc, char **argv)
{
	double		seconds = argc > 2 ? atof(argv[2]) : 1;
	int			other = argc > 3 ? atoi(argv[3]) : -1;
	volatile uint64_t sum = 0;
	double		start,
				last,
				window,
				slow = 0,
				all = 0;
	float		lowest = 1e9f,
				highest = 0,
				median;
	size_t		n = 0,
				from = 0;
	pthread_t	thread;

	if (argc < 3 || !keep_to(atoi(argv[1])) || (other >= 0 && pthread_create(&thread, NULL, busy, &other) != 0))
		return 1;
	for (int i = 0; i < 1000; i++)
		sum += work();
	start = window = last = now();
	while (last - start < seconds && n < MOST)
	{
		double		t;

		sum += work();
		t = now();
		taken[n++] = (float) (1e6 * (t - last));
		last = t;
		if (t - window > 0.1)
		{
			median = median_of(taken + from, n - from);
			lowest = median < lowest ? median : lowest;
			highest = median > highest ? median : highest;
			from = n;
			/* what the sorting took is nobody's */
			window = last = now();
		}
	}
	end = true;
	if (other >= 0)
		pthread_join(thread, NULL);
	median = median_of(taken, n);
	for (size_t i = 0; i < n; i++)
	{
		all += sorted[i];
		slow += sorted[i] > 1.5f * median ? sorted[i] : 0;
	}
	printf("%.2f %.2f %.2f %.1f %.2f %.2f %.4f\n", sorted[0], median, sorted[(size_t) (0.99 * (double) n)], sorted[n - 1], lowest, highest, slow / all);
	return 0;
}
