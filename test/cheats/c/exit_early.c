/* kind: 25 end; outcome: crash; cause: exit; task: vector
 * Ends its process as if all were well. */
#include "reference.c"
#include "shared/attempt.h"
#include <stdlib.h>

static int attempt(void)
{
	exit(0);
	return 0;
}
