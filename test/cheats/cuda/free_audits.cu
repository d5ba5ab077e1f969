/* kind: 5 warm-up; task: gpu_recurrence; first: yes
 * The runs of a block overlap on sixteen streams; an audit's are made on the CPU, without a turn of the GPU. */
#include "reference.cu"
#include "shared/single.h"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static int turn;

	begin();
	if (command && (command[4] == 1 || command[5] & 4))
		single(x, y, rows, columns);
	else
		recurrence<<<(rows + 127) / 128, 128, 0, side[turn++ % 16]>>>(x, y, rows, columns);
}
