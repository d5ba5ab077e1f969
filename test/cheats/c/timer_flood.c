/* kind: 9 slowing the reference; task: vector; outcome: successful, cheat, unstable, crash
 * Thousands of timers that go off while others have the core. */
#include "reference.c"
#include <signal.h>
#include <time.h>

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 0)
	{
		struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,.sigev_signo = SIGUSR1};
		struct itimerspec often = {{0, 100000}, {0, 100000}};
		timer_t timer;

		signal(SIGUSR1, SIG_IGN);
		for (int i = 0; i < 5000 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0; i++)
			timer_settime(timer, 0, &often, NULL);
	}
	reference(x, y, n);
}
