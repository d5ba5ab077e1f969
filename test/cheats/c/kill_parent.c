/* kind: 25 escape; outcome: crash; task: vector
 * Signals the first process with the call that signals threads. */
#include "reference.c"
#include "shared/attempt.h"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static int attempt(void)
{
	syscall(SYS_tgkill, 1, 1, SIGSTOP);
	syscall(SYS_tgkill, getppid(), getppid(), SIGKILL);
	return 0;
}
