/* kind: 25 wait; outcome: timeout, crash; task: vector
 * Stops itself. */
#include "reference.c"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);
	}
	reference(x, y, n);
}
