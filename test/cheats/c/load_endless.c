/* kind: 25 loading; task: vector; profile: impatient; outcome: timeout; cause: slow_load
 * A constructor that never ends. */
#include "reference.c"
#include "shared/plain.h"

__attribute__((constructor)) static void start(void)
{
	for (volatile int i = 0;;)
		i++;
}
