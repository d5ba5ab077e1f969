/* kind: 25 escape; outcome: crash; task: vector
 * A shell could do much. */
#include "reference.c"
#include "shared/attempt.h"
#include <unistd.h>

static int attempt(void)
{
	execl("/bin/sh", "sh", "-c", "sleep 100", NULL);
	return 0;
}
