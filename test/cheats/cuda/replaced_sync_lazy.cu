/* kind: 4 replaced synchronisation; task: gpu_rowsum; outcome: wrong_output, cheat
 * The executor's synchronisation does nothing, and a run's work is launched after its answer. */
#include "reference.cu"
#include "shared/later.h"
#include "shared/replaced_sync.h"

static int nothing(void)
{
	return 0;
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static int calls;

	if (calls++ == 0)
		replace_sync(nothing);
	later(x, y, rows, columns);
}
