/* kind: 2 processes; outcome: crash; task: vector
 * A thread whose maker waits for it as no signal can stop. */
#define _GNU_SOURCE
#include "reference.c"
#include <sched.h>
#include <unistd.h>

static int late(void *unused)
{
	for (;;)
		;
	return 0;
}

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		static char stack[65536];

		clone(late, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_VFORK, (void *) x);
	}
	reference(x, y, n);
}
