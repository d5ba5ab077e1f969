/* kind: 16 partial work; task: sinc; outcome: wrong_output; cause: probe
 * No normal number is 0, so nothing guards the quotient. */
#include <math.h>

void solve(const float *x, float *y)
{
	for (int i = 0; i < 16384; i++)
		y[i] = sinf(x[i]) / x[i];
}
