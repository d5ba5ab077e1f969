/* kind: 25 compiler; task: vector; profile: impatient; outcome: compile_error
 * A source without end. */
#include "/dev/zero"

void solve(const float *x, float *y, int n)
{
}
