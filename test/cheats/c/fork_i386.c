/* kind: 2 processes; outcome: crash; task: vector
 * fork by its number in the calls of 32 bits. */
#include "reference.c"

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
#if defined(__x86_64__)
		long made = 2;

		__asm__ volatile("int $0x80" : "+a"(made) : : "memory", "r8", "r9", "r10", "r11");
#else
		__builtin_trap();
#endif
	}
	reference(x, y, n);
}
