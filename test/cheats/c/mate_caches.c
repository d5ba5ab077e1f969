/* kind: 9 slowing a mate; task: softmax; outcome: successful, unstable; bound: 1.25; heat: yes
 * Ends each of its blocks by throwing everything out of the caches, so that the next process is slow. */
#include "reference.c"
#include <stdlib.h>
#include "shared/now.h"

#define BYTES ((size_t) 16 << 20)

void solve(const float *x, float *y, int rows, int columns)
{
	static volatile char *other;
	static double last;
	static int calls, block;
	double began = now();

	/* after a pause a block begins; it is as long as the one before */
	if (began - last > 1e-3)
	{
		block = calls;
		calls = 0;
	}
	if (!other)
		other = calloc(1, BYTES);
	reference(x, y, rows, columns);
	if (++calls == block && block > 8)
		for (size_t i = 0; i < BYTES; i += 64)
			other[i]++;
	last = now();
}
