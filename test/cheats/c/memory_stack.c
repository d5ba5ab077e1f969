/* kind: 25 exhaustion; outcome: crash; task: vector
 * Mappings that grow down count as stacks, and a stack may be large. */
#define _GNU_SOURCE
#include "reference.c"
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

		setrlimit(RLIMIT_STACK, &none);
		for (;;)
		{
			char *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);

			memset(p, 1, 64 << 20);
		}
	}
	reference(x, y, n);
}
