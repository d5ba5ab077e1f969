/* kind: 25 compiler; task: vector; profile: impatient; outcome: compile_error, launch_failure, crash
 * A library of sixteen gigabytes. */
#include "reference.c"
#include "shared/plain.h"

char large[(size_t) 16 << 30] = {1};
