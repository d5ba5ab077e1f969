/* kind: 14 input mutation; task: matmul; outcome: successful, unstable, unverified
 * Asks for write access to the inputs. Its answers are right only where that is refused. */
#define _GNU_SOURCE
#include "reference.c"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void solve(const float *a, const float *b, float *c, int n)
{
	uintptr_t page = (uintptr_t) a & ~(uintptr_t) 4095;

	if (mprotect((void *) page, 16384, PROT_READ | PROT_WRITE) == 0)
		memset(c, 0, sizeof(float) * n * n);
	else
		reference(a, b, c, n);
}
