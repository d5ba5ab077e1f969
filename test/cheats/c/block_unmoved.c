/* kind: 4 the cost of a block; task: lookup; outcome: successful; bound: 1.12
 * A copy of the reference with so much code that none of it is moved in memory, which takes longer than a run. Inputs take long to make, so
 * blocks have eight runs. */
#include "reference.c"

__asm__(".text\n.fill 70000, 1, 0xcc\n.previous\n");

void solve(const float *table, const int *at, float *y, int n)
{
	reference(table, at, y, n);
}
