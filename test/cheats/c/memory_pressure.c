/* kind: 9 slowing the reference; task: vector; outcome: successful, unstable
 * Holds 64 megabytes, in huge pages where it can. */
#define _GNU_SOURCE
#include "reference.c"
#include <string.h>
#include <sys/mman.h>

void solve(const float *x, float *y, int n)
{
	static char *hog;
	size_t bytes = (size_t) 64 << 20;

	if (!hog)
	{
		hog = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(hog, bytes, MADV_HUGEPAGE);
		memset(hog, 1, bytes);
	}
	reference(x, y, n);
}
