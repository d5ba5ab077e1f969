/*
 * clock.h
 *		Time, as the runner's programs read it.
 */
#ifndef CUDAL1_CLOCK_H
#define CUDAL1_CLOCK_H

#include <time.h>

/* seconds of a clock that is never set */
static inline double
clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static inline void
clock_sleep(double seconds)
{
	struct timespec t = {(time_t) seconds, (long) ((seconds - (double) (time_t) seconds) * 1e9)};

	nanosleep(&t, NULL);
}

/* for a loop that waits for another core */
static inline void
clock_pause(void)
{
	__builtin_ia32_pause();
}

#endif							/* CUDAL1_CLOCK_H */
