/* kind: 25 wait; outcome: timeout; cause: slow_run; task: vector
 * Never returns, and blocks every signal. */
#include "reference.c"
#include <signal.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, (sigset_t *) 0);
		for (volatile int i = 0;;)
			i++;
	}
	reference(x, y, n);
}
