/* kind: 25 escape; outcome: crash; task: vector
 * Signals the first process with the call that signals threads. */
#include "reference.c"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		syscall(SYS_tgkill, 1, 1, SIGSTOP);
		syscall(SYS_tgkill, getppid(), getppid(), SIGKILL);
	}
	reference(x, y, n);
}
