/* kind: 2 work after the return; task: vector; outcome: wrong_output
 * Each call does its predecessor's work. */
#include "reference.c"

void solve(const float *x, float *y, int n)
{
	static const float *last_x;
	static float *last_y;

	if (last_x)
		reference(last_x, last_y, n);
	last_x = x;
	last_y = y;
}
