/*
 * courier.c
 *		A thread that brings an input to a stopped process, on the core of that process.
 *
 * There the input comes to lie in the caches of the core, as that of a caller does who has just
 * made it; brought by another core it would have to come from memory. The thread then opens the
 * gate, resumes the process and sleeps, so that the core is awake and goes on with the process.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/time/time.h"

#define SPINS	10000			/* until the core is given to others, who may be the thread */

struct Courier
{
	pthread_t	thread;
	uint32_t	asked;			/* deliveries, */
	uint32_t	done;			/* and those that are made but for the resuming */
	bool		ends;
	Pair	   *pair;
	Process    *process;
	uint32_t	run;
	bool		good;
	double		opened;			/* when the gate was opened */
};

/*
 * Brings into caches where the run's outputs come, as a caller finds them who calls again: code
 * at its gate could. Of a module that is where the last ones lay, over which noise was written.
 */
static void
warm(Courier *c)
{
	Measure    *m = c->pair->m;

	if (m->backend->warm)
		m->backend->warm(&c->process->arena, c->run);
	for (int i = 0; m->backend->overwrite && i < m->outputs; i++)
		executor_fetch(&c->process->executor, &c->process->last[i]);
}

static void *
deliver(void *argument)
{
	Courier    *c = argument;
	Measure    *m = c->pair->m;

	sched_setaffinity(0, sizeof(m->device.cores), &m->device.cores);
	for (uint32_t n = 1;; n++)
	{
		while (__atomic_load_n(&c->asked, __ATOMIC_ACQUIRE) < n)
			syscall(SYS_futex, &c->asked, FUTEX_WAIT_PRIVATE, n - 1, NULL, NULL, 0);
		if (c->ends)
			return NULL;
		c->good = m->backend->bring(m, &c->process->arena, c->process->side, c->run);
		warm(c);
		c->opened = clock_now();
		executor_open_gate(&c->process->executor, c->run + 1);
		__atomic_store_n(&c->done, n, __ATOMIC_RELEASE);
		executor_thaw(&c->process->executor);
	}
}

static void
ask(Courier *c)
{
	__atomic_add_fetch(&c->asked, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &c->asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool
courier_deliver(Pair *pair, Process *process, uint32_t run, double *opened)
{
	Courier    *c = pair->courier;

	if (!c)
	{
		c = pair->courier = calloc(1, sizeof(*c));
		if (!c)
			return false;
		c->pair = pair;
		if (pthread_create(&c->thread, NULL, deliver, c) != 0)
		{
			free(c);
			pair->courier = NULL;
			return false;
		}
	}
	c->process = process;
	c->run = run;
	ask(c);
	for (int spins = 0; __atomic_load_n(&c->done, __ATOMIC_ACQUIRE) != c->asked; spins++)
		spins < SPINS ? clock_pause() : (void) sched_yield();
	*opened = c->opened;
	return c->good;
}

void
courier_end(Pair *pair)
{
	Courier    *c = pair->courier;

	if (!c)
		return;
	c->ends = true;
	ask(c);
	pthread_join(c->thread, NULL);
	free(c);
	pair->courier = NULL;
}
