/* kind: 14 input mutation; task: matmul; outcome: crash
 * Zero inputs make every answer easy. */
#include <string.h>

void solve(const float *a, const float *b, float *c, int n)
{
	memset((void *) a, 0, sizeof(float) * n * n);
	memset(c, 0, sizeof(float) * n * n);
}
