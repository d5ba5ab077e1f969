/* task: vector; least: 0.7
 * exp from a table that is made in the first call. */
#include <math.h>

void solve(const float *x, float *y, int n)
{
	static float whole[32], part[1024];

	if (whole[0] == 0)
	{
		for (int i = 0; i < 1024; i++)
			part[i] = (float) exp(i / 1024.0);
		for (int i = 0; i < 32; i++)
			whole[i] = (float) exp(i - 16);
	}
	for (int i = 0; i < n; i++)
	{
		float f = floorf(x[i]);
		float rest = (x[i] - f) * 1024;
		int at = (int) rest;
		float r = (rest - at) * (1 / 1024.0f);

		at = at > 1023 ? 1023 : at;
		y[i] = whole[(int) f + 16] * part[at] * (1 + r + 0.5f * r * r) / (1 + x[i] * x[i]);
	}
}
