/* kind: 25 compiler; task: vector; profile: impatient; outcome: compile_error; cause: slow_build
 * Includes itself, 200 deep and twice each time. */
#ifndef DEPTH
#define DEPTH
#endif
#if __INCLUDE_LEVEL__ < 190
#include __FILE__
#include __FILE__
#endif
void solve(const float *x, float *y, int n);
