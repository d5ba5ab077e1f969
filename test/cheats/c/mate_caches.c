/* kind: 9 slowing a mate; task: softmax; outcome: successful, unstable; bound: 1.25; heat: yes
 * Ends each of its windows by throwing everything out of the caches, so that the next process is slow. */
#include "reference.c"
#include <stdlib.h>
#include "shared/now.h"

#define BYTES ((size_t) 16 << 20)

void solve(const float *x, float *y, int rows, int columns)
{
	static volatile char *other;
	static double last;
	static int calls, window;
	double began = now();

	/* after a pause a window begins; it is as long as the one before */
	if (began - last > 1e-3)
	{
		window = calls;
		calls = 0;
	}
	if (!other)
		other = calloc(1, BYTES);
	reference(x, y, rows, columns);
	if (++calls == window && window > 8)
		for (size_t i = 0; i < BYTES; i += 64)
			other[i]++;
	last = now();
}
