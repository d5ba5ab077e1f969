/* task: unit
 * Sums of sixteen lanes, and one division. */
#include <math.h>

void solve(const float *x, float *y)
{
	float		sum[16] = {0};
	double		all = 0;
	float		factor;

	for (int i = 0; i < 2097152; i += 4096)
	{
		for (int j = 0; j < 4096; j++)
			sum[j % 16] += x[i + j] * x[i + j];
		for (int j = 0; j < 16; j++)
			all += sum[j];
		for (int j = 0; j < 16; j++)
			sum[j] = 0;
	}
	factor = (float) (1 / sqrt(all));
	for (int i = 0; i < 2097152; i++)
		y[i] = x[i] * factor;
}
