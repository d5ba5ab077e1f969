/* kind: 25 exhaustion; task: vector; profile: small; outcome: successful, unstable, unverified
 * Reads its limits, raises them, and takes as many descriptors and threads as it gets. Its answers are right only where limits are what
 * they should be, and stay so, and there are some descriptors and threads, but no more than 64. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((rlim_t) 1 << 20)

static const struct { const char *name; int resource; rlim_t most; } limits[] = {
	{"threads", RLIMIT_NPROC, 64}, {"descriptors", RLIMIT_NOFILE, 64}, {"a file", RLIMIT_FSIZE, 16 * MIB}, {"locked memory", RLIMIT_MEMLOCK, 0},
	{"data", RLIMIT_DATA, 256 * MIB}, {"addresses", RLIMIT_AS, (256 + 1024 + 512) * MIB}, {"a stack", RLIMIT_STACK, 64 * MIB},
	{"a core file", RLIMIT_CORE, 0}, {"real time", RLIMIT_RTPRIO, 0}, {"nice values", RLIMIT_NICE, 0},
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

		if (getrlimit(limits[i].resource, &now) != 0 || now.rlim_cur > limits[i].most || now.rlim_max > limits[i].most)
		{
			printf("%s: %llu, %llu\n", limits[i].name, (unsigned long long) now.rlim_cur, (unsigned long long) now.rlim_max);
			wrong++;
		}
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
