/*
 * courier.c
 *		A thread that brings an input to a stopped process, on the core of that process.
 *
 * The input then lies in the caches of that core, like one that a caller has just made. An input
 * that another core copies would have to come from memory. The thread then opens the gate, resumes
 * the process and sleeps, so the core is awake when it goes on with the process.
 */
#include <pthread.h>
#include <semaphore.h>

#include "supervisor/time/time.h"

#define SPINS	10000			/* until the core is given up, which the thread may need */
#define CACHE_LINE	64			/* bytes; on other processors at least as many */

struct Courier
{
	pthread_t	thread;
	sem_t		asked;
	bool		done;			/* all but the resuming */
	bool		ends;
	Pair	   *pair;
	Process    *process;
	uint32_t	run;
	bool		good;
	double		opened;			/* when the gate was opened */
};

/*
 * Brings the memory for outputs into caches, where a caller who calls again finds it. Code at its
 * gate could do so itself. A module's last results, now noise, stand for its next.
 */
static void
warm(Courier *c)
{
	Measure    *m = c->pair->m;
	const Arena *arena = &c->process->arena;
	const volatile char *outputs = arena->outputs + c->run * arena->output_slot_bytes;

	for (size_t at = 0; at < arena->output_slot_bytes; at += CACHE_LINE)
		(void) outputs[at];
	for (int i = 0; m->backend->overwrite && i < m->outputs; i++)
		executor_fetch(&c->process->executor, &c->process->last[i]);
}

static void *
deliver(void *argument)
{
	Courier    *c = argument;
	Measure    *m = c->pair->m;

	sched_setaffinity(0, sizeof(m->device.cores), &m->device.cores);
	for (;;)
	{
		while (sem_wait(&c->asked) != 0)
			;
		if (c->ends)
			return NULL;
		c->good = m->backend->bring(m, &c->process->arena, c->process->side, c->run);
		warm(c);
		c->opened = clock_now();
		executor_open_gate(&c->process->executor, c->run + 1);
		__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
		executor_thaw(&c->process->executor);
	}
}

bool
courier_deliver(Pair *pair, Process *process, uint32_t run, double *opened)
{
	Courier    *c = pair->courier;

	if (!c)
	{
		c = measure_zeroed(1, sizeof(*c));
		c->pair = pair;
		sem_init(&c->asked, 0, 0);
		if (pthread_create(&c->thread, NULL, deliver, c) != 0)
		{
			free(c);
			return false;
		}
		pair->courier = c;
	}
	c->process = process;
	c->run = run;
	c->done = false;
	sem_post(&c->asked);
	for (int spins = 0; !__atomic_load_n(&c->done, __ATOMIC_ACQUIRE); spins++)
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
	sem_post(&c->asked);
	pthread_join(c->thread, NULL);
	free(c);
	pair->courier = NULL;
}
