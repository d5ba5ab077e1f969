/* kind: 25 wait; outcome: timeout; cause: slow_run; task: vector
 * Never returns, and blocks every signal. */
#include "reference.c"
#include "shared/attempt.h"
#include <signal.h>

static int attempt(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, (sigset_t *) 0);
	for (volatile int i = 0;;)
		i++;
	return 0;
}
