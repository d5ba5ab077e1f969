/* kind: 14 input mutation; task: matmul; outcome: wrong_output, crash
 * The same after asking for write access. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void solve(const float *a, const float *b, float *c, int n)
{
	uintptr_t page = (uintptr_t) a & ~(uintptr_t) 4095;

	if (mprotect((void *) page, 16384, PROT_READ | PROT_WRITE) == 0)
		memset((void *) a, 0, sizeof(float) * n * n);
	memset(c, 0, sizeof(float) * n * n);
}
