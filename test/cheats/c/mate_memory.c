/* kind: 9 slowing a mate; task: vector; outcome: successful, unstable, crash, launch_failure, timeout; bound: 1.25; heat: yes
 * Holds much of the memory that it may have, so that little is left for its mates. */
#include "reference.c"
#include <string.h>
#include <sys/mman.h>

void solve(const float *x, float *y, int n)
{
	static char *hog;
	size_t bytes = (size_t) 192 << 20;

	if (!hog)
	{
		hog = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (hog != MAP_FAILED)
			memset(hog, 1, bytes);
	}
	reference(x, y, n);
}
