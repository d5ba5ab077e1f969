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

#include "supervisor/device/pace.h"
#include "supervisor/gpu/cuda.h"

#define SPIN_STEPS	200			/* of a lap: a microsecond, in which it does not see its end */

static void
futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void *
spin(void *argument)
{
	Gpu		   *gpu = argument;
	struct sched_param none = {0};
	uint64_t	sum = 0;
	uint32_t	lap = 0;
	uint32_t	state;

	sched_setscheduler(0, SCHED_IDLE, &none);
	while ((state = gpu->awake) != SPIN_END)
		if (state == SPIN_OFF)
			futex(&gpu->awake, FUTEX_WAIT, SPIN_OFF);
		else
			gpu->lap[lap++ % SPIN_LAPS] = pace_lap(&sum, SPIN_STEPS);
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
gpu_choose_core(Measure *m)
{
	int			now = 0;

	while (now < CPU_SETSIZE - 1 && !CPU_ISSET(now, &m->cores))
		now++;
	CPU_ZERO(&m->cores);
	CPU_SET(pace_quickest(&m->choice, now), &m->cores);
	for (int i = 0; i < SPIN_LAPS; i++)
		m->gpu->lap[i] = 0;
	if (m->gpu->spinning)
		pthread_setaffinity_np(m->gpu->spinner, sizeof(m->cores), &m->cores);
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
