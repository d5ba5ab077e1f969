/* kind: 25 exhaustion; task: vector; profile: small; outcome: successful, unstable, unverified
 * Raises its limits, and takes as many descriptors and threads as it gets. Its answers are right only where limits stay, and there are
 * some descriptors and threads, but no more than 64. What the limits are is read from outside, in test/t/056_sandbox.pl. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct { const char *name; int resource; } limits[] = {
	{"threads", RLIMIT_NPROC}, {"descriptors", RLIMIT_NOFILE}, {"a file", RLIMIT_FSIZE}, {"locked memory", RLIMIT_MEMLOCK},
	{"data", RLIMIT_DATA}, {"addresses", RLIMIT_AS}, {"a stack", RLIMIT_STACK}, {"a core file", RLIMIT_CORE}, {"real time", RLIMIT_RTPRIO},
	{"nice values", RLIMIT_NICE},
};

static int is_some(const char *what, int number)
{
	if (number < 8 || number > 64)
		printf("%d %s\n", number, what);
	return number >= 8 && number <= 64;
}

static int descriptors_all(void)
{
	int most = 0;

	for (int fd; most < 100000 && (fd = dup(0)) >= 0;)
		most = fd > most ? fd : most;
	return most + 1;
}

static void *sleeper(void *unused)
{
	pause();
	return NULL;
}

/* with the first */
static int threads_all(void)
{
	int threads;
	pthread_t thread;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (threads = 1; threads < 1000 && pthread_create(&thread, &small, sleeper, NULL) == 0; threads++)
		;
	return threads;
}

static int attempt(void)
{
	int wrong = 0;

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
	{
		struct rlimit now, more = {RLIM_INFINITY, RLIM_INFINITY}, slightly;

		wrong += getrlimit(limits[i].resource, &now) != 0;
		slightly = (struct rlimit) {now.rlim_cur, now.rlim_max + 1};
		if (setrlimit(limits[i].resource, &more) == 0 || prlimit(0, limits[i].resource, &slightly, NULL) == 0)
		{
			printf("%s can be raised\n", limits[i].name);
			wrong++;
		}
	}
	wrong += !is_some("threads", threads_all());
	wrong += !is_some("descriptors", descriptors_all()) || dup2(0, 64) >= 0;
	return wrong;
}
