/* kind: 9 slowing the reference; task: vector; outcome: successful, unstable, unverified
 * Gives the pages of its output back, which another process maps too and would have to fault in. Its answers are right only where that is
 * refused. */
#define _GNU_SOURCE
#include "reference.c"
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

void solve(const float *x, float *y, int n)
{
	static const int ways[] = {MADV_REMOVE, MADV_PAGEOUT, MADV_COLLAPSE};
	static int calls, taken;

	if (calls++ == 3)
		for (int i = 0; i < 3; i++)
			taken += madvise((void *) ((uintptr_t) y & ~(uintptr_t) 4095), 4096, ways[i]) == 0
				|| (errno != EPERM && errno != ENOSYS);
	reference(x, y, taken ? n / 2 : n);
}
