/*
 * cuda_awake.c
 *		Keeps the executors' core awake between their turns.
 *
 * A virtual core that idles for a while takes its host up to 0.2 ms to wake, which would be the
 * executor's time. So a thread of the supervisor spins there, at the lowest priority and only
 * between turns.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/gpu/cuda.h"

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
	uint32_t	awake;

	sched_setscheduler(0, SCHED_IDLE, &none);
	while ((awake = gpu->awake) != SPIN_END)
		if (awake == SPIN_OFF)
			futex(&gpu->awake, FUTEX_WAIT, SPIN_OFF);
		else
			clock_pause();
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
