/* kind: 25 exhaustion; task: vector; profile: small; outcome: successful, unstable, unverified
 * Reads its limits and raises them. Its answers are right only where they are what they should be, and stay so. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <stdio.h>
#include <sys/resource.h>

#define MIB ((rlim_t) 1 << 20)

static const struct { const char *name; int resource; rlim_t most; } limits[] = {
	{"threads", RLIMIT_NPROC, 64}, {"descriptors", RLIMIT_NOFILE, 64}, {"a file", RLIMIT_FSIZE, 16 * MIB}, {"locked memory", RLIMIT_MEMLOCK, 0},
	{"data", RLIMIT_DATA, 256 * MIB}, {"addresses", RLIMIT_AS, (256 + 1024 + 512) * MIB}, {"a stack", RLIMIT_STACK, 64 * MIB},
	{"a core file", RLIMIT_CORE, 0}, {"real time", RLIMIT_RTPRIO, 0}, {"nice values", RLIMIT_NICE, 0},
};

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
	return wrong;
}
