/* kind: 2 work after the return; task: vector; outcome: wrong_output
 * A timer's signal does the work some time after the call. */
#include "reference.c"
#include <signal.h>
#include <sys/time.h>

static const float *volatile due_x;
static float *volatile due_y;
static int due_n;

static void late(int number)
{
	if (due_x)
		reference(due_x, due_y, due_n);
}

void solve(const float *x, float *y, int n)
{
	struct itimerval soon = {{0, 0}, {0, 50}};

	signal(SIGALRM, late);
	due_n = n;
	due_y = y;
	due_x = x;
	setitimer(ITIMER_REAL, &soon, 0);
}
