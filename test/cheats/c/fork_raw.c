/* kind: 2 processes; outcome: crash; cause: forbidden_call; task: vector
 * clone and clone3 by number, without sharing threads. */
#include "reference.c"
#include "shared/attempt.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static int attempt(void)
{
	unsigned long long arguments[11] = {0, 0, 0, 0, SIGCHLD};

	if (syscall(SYS_clone3, arguments, sizeof(arguments)) < 0)
		syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	return 0;
}
