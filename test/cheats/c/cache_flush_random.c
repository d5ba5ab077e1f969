/* kind: 9 slowing the reference; task: gather; outcome: successful, unstable
 * Throws 4 MB out of the caches which the reference reads at random in its next window. */
#include "reference.c"
#include <immintrin.h>

#ifdef __CLFLUSHOPT__
#define FLUSH _mm_clflushopt
#else
#define FLUSH _mm_clflush
#endif

void solve(const int *x, int *y)
{
	reference(x, y);
	for (int i = 0; i < 1048576; i += 16)
		FLUSH((void *) (x + i));
}
