/* kind: 25 files; task: gpu_rowsum; outcome: crash, successful
 * Opens a file in a run: of its sandbox, and the driver does so as well. */
#include <fcntl.h>
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	open("/etc/ld.so.cache", O_RDONLY);
	reference(x, y, rows, columns);
}
