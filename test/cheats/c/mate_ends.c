/* kind: 9 spoiling what mates share; task: rowsum; outcome: crash; cause: signal; heat: yes
 * Ends itself in the midst of what it shares with others. */
#include "reference.c"
#include <stdlib.h>

void solve(const float *x, float *y, int rows, int columns)
{
	static int calls;

	reference(x, y, rows, columns);
	if (++calls == 60)
		abort();
}
