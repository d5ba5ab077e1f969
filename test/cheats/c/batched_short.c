/* kind: 6 many calls in one; task: filter_short; outcome: successful; bound: 1.3
 * Runs of 5 us, of which every other eight of a window are done together; what has changed since is done again. */
#define _GNU_SOURCE
#define N 1024
#define EVERY 2
#include "reference.c"
#include "shared/filter.h"
#include "shared/groups.h"
