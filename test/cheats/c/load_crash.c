/* kind: 25 loading; task: vector; outcome: crash
 * A constructor that crashes. */
#include "reference.c"
#include "shared/plain.h"

__attribute__((constructor)) static void start(void)
{
	*(volatile int *) 8 = 1;
}
