/* kind: 25 wait; outcome: crash; cause: forbidden_call; task: vector
 * Stops itself, as if others had stopped it, so that it would be measured once more. */
#include "reference.c"
#include "shared/attempt.h"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static int attempt(void)
{
	syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);
	return 0;
}
