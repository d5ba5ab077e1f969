/* kind: 25 exhaustion; outcome: crash; cause: printed; task: vector
 * Prints a gigabyte. */
#include "reference.c"
#include "shared/attempt.h"
#include <stdio.h>

static int attempt(void)
{
	for (int i = 0; i < 1 << 24; i++)
		puts("sixty-three characters of text, and then once more the same, and on");
	return 0;
}
