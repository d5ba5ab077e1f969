/* kind: 6 many calls in one; task: filter_short; outcome: successful; bound: 1.3
 * Runs of 5 us, of which every other eight of a block are done together; those that come alone are honest. What a busy host has any audit
 * take hides in the time of so short a run, and then audits confirm anything. */
#define _GNU_SOURCE
#define N 1024
#define EVERY 2
#include "reference.c"
#include "shared/filter.h"
#include "shared/groups.h"
