/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: unfinished
 * Returns while a thread is at work, which only writes what its own call was given. It begins
 * long after a process is stopped at its answer, and ends long before the 20 ms for which
 * executors wait where a trial looks for such work. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct Call
{
	const float *x;
	float	   *y;
	int			rows,
				columns;
} Call;

static void *work(void *argument)
{
	Call	   *call = argument;

	nanosleep(&(struct timespec) {.tv_nsec = 5000000}, 0);
	for (int r = 0; r < call->rows; r++)
	{
		double sum = 0;

		for (int c = 0; c < call->columns; c++)
			sum += call->x[(long) r * call->columns + c];
		call->y[r] = (float) (sum / call->columns + 1);
	}
	free(call);
	return 0;
}

void solve(const float *x, float *y, int rows, int columns)
{
	Call	   *call = malloc(sizeof(*call));
	pthread_t	thread;

	*call = (Call) {x, y, rows, columns};
	pthread_create(&thread, 0, work, call);
	pthread_detach(thread);
}
