/* kind: 2 processes; outcome: crash; task: vector
 * A thread whose maker waits for it as no signal can stop. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <sched.h>
#include <unistd.h>

static int late(void *unused)
{
	for (;;)
		;
	return 0;
}

static int attempt(void)
{
	static char stack[65536];

	clone(late, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_VFORK, NULL);
	return 0;
}
