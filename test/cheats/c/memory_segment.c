/* kind: 25 shared memory; outcome: crash; task: vector
 * A segment of System V shared memory. */
#include "reference.c"
#include <sys/ipc.h>
#include <sys/shm.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		shmget(4711, 65536, IPC_CREAT | 0666);
	}
	reference(x, y, n);
}
