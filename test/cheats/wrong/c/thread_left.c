/* kind: wrong code; task: rowsum; outcome: wrong_output; cause: unfinished
 * Returns while a thread is at work. */
#include <pthread.h>
#include <sched.h>

static const float *in;
static float *out;
static int height, width;

static void *work(void *unused)
{
	/* the call returns before this goes on */
	sched_yield();
	for (int r = 0; r < height; r++)
	{
		double sum = 0;

		for (int c = 0; c < width; c++)
			sum += in[(long) r * width + c];
		out[r] = (float) (sum / width + 1);
	}
	return unused;
}

void solve(const float *x, float *y, int rows, int columns)
{
	pthread_t thread;

	in = x;
	out = y;
	height = rows;
	width = columns;
	pthread_create(&thread, 0, work, 0);
	pthread_detach(thread);
}
