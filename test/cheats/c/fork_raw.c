/* kind: 2 processes; outcome: crash; cause: forbidden_call; task: vector
 * clone and clone3 by number, without sharing threads. */
#include "reference.c"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		unsigned long long arguments[11] = {0, 0, 0, 0, SIGCHLD};

		if (syscall(SYS_clone3, arguments, sizeof(arguments)) < 0)
			syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	}
	reference(x, y, n);
}
