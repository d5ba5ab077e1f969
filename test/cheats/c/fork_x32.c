/* kind: 2 processes; outcome: crash; task: vector
 * fork by its number in the calls of the x32 interface. */
#define _GNU_SOURCE
#include "reference.c"
#include <unistd.h>

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
#if defined(__x86_64__)
		syscall(0x40000000 + 57);
#else
		__builtin_trap();
#endif
	}
	reference(x, y, n);
}
