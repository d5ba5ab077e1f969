/* runs of a window that are answered at once: the first and those that follow it in memory */
#define GROUP 8

/*
 * n > 0: answer these n runs now, inputs and outputs being that far apart; 0: this one alone; -1: it is answered. Slots follow each other, and
 * each run of a window has the next one.
 */
static int batch(const float *x, float *y, long *in, long *out)
{
	static const float *last_x;
	static float *last_y;
	static int left;
	long step = x - last_x;
	bool steady = last_x && step > 0 && step == *in;

	if (last_x && step > 0)
	{
		*in = step;
		*out = y - last_y;
	}
	last_x = x;
	last_y = y;
	if (!steady)
		return left = 0;
	if (left-- > 0)
		return -1;
	left = GROUP - 1;
	return GROUP;
}
