/* kind: 14 input mutation; task: matmul; outcome: wrong_output, crash, cheat
 * Maps memory of its own where the inputs are. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void solve(const float *a, const float *b, float *c, int n)
{
	uintptr_t page = (uintptr_t) a & ~(uintptr_t) 4095;

	mmap((void *) page, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(c, 0, sizeof(float) * n * n);
}
