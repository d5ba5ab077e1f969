/*
 * pace.c
 *		How quick cores are.
 *
 * A guest shares cores with others of its host and is not told which. While another computes on the
 * second thread of a core, arithmetic there takes 1.2 to 1.5 times as long, for seconds.
 */
#define _GNU_SOURCE
#include <math.h>

#include "common/clock.h"
#include "src/score.h"
#include "supervisor/device/pace.h"

#define STEPS	2000			/* of a lap, to compare cores: some 10 us */
#define WARM	50				/* laps, until the core is awake */
#define LAPS	41
#define QUICKER	0.95			/* what another core takes, at most, for this one to be left */
#define STEP(x) (x ^= x << 13, x ^= x >> 7, x ^= x << 17)

/* as many chains as keep all units of a core busy, in registers: it is compiled without vectors */
double
pace_lap(uint64_t *state, int steps)
{
	uint64_t	a = *state + 1,
				b = a + 1,
				c = a + 2,
				d = a + 3,
				e = a + 4,
				f = a + 5,
				g = a + 6,
				h = a + 7;
	double		began = clock_now();

	for (int i = 0; i < steps; i++)
	{
		STEP(a);
		STEP(b);
		STEP(c);
		STEP(d);
		STEP(e);
		STEP(f);
		STEP(g);
		STEP(h);
	}
	*state = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
	return clock_now() - began;
}

/* what a lap takes on a core; where it may not be used, as good as for ever */
static double
pace_of(int core)
{
	uint64_t	state = 0;
	double		laps[LAPS];
	cpu_set_t	one;

	CPU_ZERO(&one);
	CPU_SET(core, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		return HUGE_VAL;
	for (int i = 0; i < WARM; i++)
		pace_lap(&state, STEPS);
	for (int i = 0; i < LAPS; i++)
		laps[i] = pace_lap(&state, STEPS);
	return cudal1_score_median(laps, LAPS);
}

int
pace_quickest(const cpu_set_t *cores, int now)
{
	cpu_set_t	before;
	double		least;
	int			quickest = now;

	if (CPU_COUNT(cores) < 2 || sched_getaffinity(0, sizeof(before), &before) != 0)
		return now;
	least = QUICKER * pace_of(now);
	for (int core = 0; core < CPU_SETSIZE; core++)
	{
		double		pace = core != now && CPU_ISSET(core, cores) ? pace_of(core) : HUGE_VAL;

		if (pace < least)
		{
			least = pace;
			quickest = core;
		}
	}
	sched_setaffinity(0, sizeof(before), &before);
	return quickest;
}
