/*
 * first.c
 *		Seconds that inputs take to make, from which windows get their sizes.
 */
#define _GNU_SOURCE
#include <time.h>

static int	made_up_clock(clockid_t id, struct timespec *t);

#define clock_gettime made_up_clock
#include "../../runner/supervisor/checks/first.c"

#include "tap.h"

static double moment = 1000;
static double making = 5e-6;	/* seconds of all inputs */
static int	makings;
static int	cut = -1;			/* the making in which others had the core */

static int
made_up_clock(clockid_t id, struct timespec *t)
{
	t->tv_sec = (time_t) moment;
	t->tv_nsec = (long) ((moment - (double) t->tv_sec) * 1e9);
	return 0;
}

bool
measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	moment += making + (makings++ == cut ? 8e-3 : 0);
	return true;
}

/* seconds that an input takes, of sixteen */
static double
time_making(void)
{
	static Measure m;
	Arena		arena;
	uint32_t	slots[CHECK_SLOTS] = {0};

	makings = 0;
	return checks_time_making(&m, &arena, slots, CHECK_SLOTS) ? m.generate_time : NAN;
}

int
main(void)
{
	for (int i = 0; i < 2; i++)
	{
		cut = i;
		check(near(time_making(), 5e-6 / CHECK_SLOTS, 1e-2),
			  "inputs take what they take, whichever making others have cut in two");
	}
	cut = -1;
	making = 0.5;
	check(near(time_making(), 0.5 / CHECK_SLOTS, 1e-2) && makings == 1,
		  "those that take long are made once");
	return done();
}
