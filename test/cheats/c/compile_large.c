/* kind: 25 compiler; task: vector; profile: impatient; outcome: compile_error, launch_failure, crash
 * A library of sixteen gigabytes. */
#include "reference.c"

char large[(size_t) 16 << 30] = {1};

void solve(const float *x, float *y, int n)
{
	reference(x, y, n);
}
