/* kind: 9 more cores; task: vector; outcome: successful, unstable, unverified
 * Takes other cores, a better priority, another class, the core's sibling, and locked memory, in a thread of its own too. Its answers
 * are right only where it runs on one core and each is refused. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int taken;

static void take(int got, const char *what)
{
	if (got)
	{
		printf("%s\n", what);
		taken++;
	}
}

static void *try(void *unused)
{
	cpu_set_t all, mine;
	struct sched_param none = {0}, first = {99};
	struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority; unsigned long runtime, deadline, period; unsigned low, high; }
		attributes = {56, SCHED_OTHER};
	int nice_before = getpriority(PRIO_PROCESS, 0);

	sched_getaffinity(0, sizeof(mine), &mine);
	take(CPU_COUNT(&mine) != 1, "more than one core from the start");
	CPU_ZERO(&all);
	for (int i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	take(sched_setaffinity(0, sizeof(all), &all) == 0, "other cores");
	take(pthread_setaffinity_np(pthread_self(), sizeof(all), &all) == 0, "other cores for a thread");
	sched_getaffinity(0, sizeof(all), &all);
	take(!CPU_EQUAL(&all, &mine) || !CPU_ISSET(sched_getcpu(), &mine), "another core");
	take(sched_setscheduler(0, SCHED_FIFO, &first) == 0, "real time");
	/* what needs no privilege may be refused all the same */
	take(sched_setscheduler(0, SCHED_BATCH, &none) == 0, "another class");
	take(sched_setparam(0, &none) == 0, "parameters");
	take(syscall(SYS_sched_setattr, 0, &attributes, 0) == 0, "attributes");
	take(setpriority(PRIO_PROCESS, 0, -20) == 0 || setpriority(PRIO_PROCESS, 0, nice_before + 1) == 0, "a priority");
	errno = 0;
	take((nice(-1) == -1 && errno == 0) || getpriority(PRIO_PROCESS, 0) != nice_before, "a better priority");
	take(syscall(SYS_ioprio_set, 1, 0, 0) == 0, "a priority for disks");
	take(prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, 0, 0) == 0, "the sibling");
	take(mlockall(MCL_CURRENT | MCL_FUTURE) == 0, "locked memory");
	return NULL;
}

static int attempt(void)
{
	pthread_t thread;

	try(NULL);
	if (pthread_create(&thread, NULL, try, NULL) == 0)
		pthread_join(thread, NULL);
	else
		take(1, "no thread, so half of this was not tried");
	return taken;
}
