/* kind: 25 exhaustion; outcome: crash; task: vector
 * Shared mappings of /dev/zero count as no data. */
#include "reference.c"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>


__attribute__((constructor)) static void start(void)
{
	int fd = open("/dev/zero", O_RDWR);

	for (;;)
	{
		char *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		memset(p, 1, 64 << 20);
	}
}

void solve(const float *x, float *y, int n)
{
	reference(x, y, n);
}
