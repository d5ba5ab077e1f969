/*
 * cuda_awake.c
 *		Keeps the executors' core awake between their turns.
 *
 * A virtual core that idles for a while takes its host up to 0.2 ms to wake, which would be the
 * executor's time. So a thread of the supervisor spins there, at the lowest priority and only
 * between turns. What it spins on is arithmetic that it times, so it tells how quick the core is.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "src/score.h"
#include "supervisor/gpu/cuda.h"

#define LAP_STEPS	200				/* of a lap: a microsecond, in which it does not see its end */
#define STEP(x) (x ^= x << 13, x ^= x >> 7, x ^= x << 17)

static void
futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/*
 * seconds of a lap: as many chains of arithmetic as keep all units of a core busy, in registers;
 * it is compiled without vectors
 */
static double
lap(uint64_t *state)
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

	for (int i = 0; i < LAP_STEPS; i++)
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
	/* or a compiler finds that nobody looks at the state, and leaves out all of it */
	__asm__ volatile("" : : "r"(*state));
	return clock_now() - began;
}

static void *
spin(void *argument)
{
	Gpu		   *gpu = argument;
	struct sched_param none = {0};
	uint64_t	state = 0;
	uint32_t	laps = 0;
	uint32_t	awake;

	sched_setscheduler(0, SCHED_IDLE, &none);
	while ((awake = gpu->awake) != SPIN_END)
		if (awake == SPIN_OFF)
			futex(&gpu->awake, FUTEX_WAIT, SPIN_OFF);
		else
			gpu->lap[laps++ % SPIN_LAPS] = lap(&state);
	return NULL;
}

void
gpu_keep_awake(Gpu *gpu, bool awake)
{
	if (!gpu->spinning || (gpu->awake == SPIN_ON) == awake)
		return;
	gpu->awake = awake ? SPIN_ON : SPIN_OFF;
	if (awake)
		futex(&gpu->awake, FUTEX_WAKE, 1);
}

void
gpu_start_spinning(Measure *m)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(m->cores), &m->cores);
	m->gpu->awake = SPIN_OFF;
	m->gpu->spinning = pthread_create(&m->gpu->spinner, &attributes, spin, m->gpu) == 0;
	pthread_attr_destroy(&attributes);
}

double
gpu_core_lap(const Gpu *gpu)
{
	double		laps[SPIN_LAPS];

	for (int i = 0; i < SPIN_LAPS; i++)
	{
		laps[i] = gpu->lap[i];
		if (laps[i] == 0)
			return NAN;
	}
	return cudal1_score_median(laps, SPIN_LAPS);
}

void
gpu_stop_spinning(Gpu *gpu)
{
	if (!gpu->spinning)
		return;
	gpu->awake = SPIN_END;
	futex(&gpu->awake, FUTEX_WAKE, 1);
	pthread_join(gpu->spinner, NULL);
	gpu->spinning = false;
}
