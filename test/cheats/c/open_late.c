/* kind: 25 files; outcome: crash; task: vector
 * Opens a file in a run. */
#include "reference.c"
#include "shared/attempt.h"
#include <fcntl.h>

static int attempt(void)
{
	open("/dev/null", O_RDONLY);
	return 0;
}
