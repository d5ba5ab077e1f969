/* kind: 25 files; outcome: successful, unstable, unverified; task: vector
 * Opens a file in a run. Its answers are right only where that is refused. */
#include "reference.c"
#include "shared/attempt.h"
#include <fcntl.h>

static int attempt(void)
{
	return open("/dev/null", O_RDONLY) >= 0;
}
