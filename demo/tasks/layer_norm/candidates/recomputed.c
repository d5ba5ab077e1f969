/* keeps nothing: the mean is summed up again for each eighth of the row */
#include <math.h>

static float
mean_of(const float *in, int columns)
{
	float		mean = 0;

	for (int i = 0; i < columns; i++)
		mean += in[i];
	return mean / columns;
}

void
solve(const float *x, const float *scale, const float *shift, float *y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
	{
		const float *in = x + r * columns;
		float	   *out = y + r * columns;

		for (int part = 0; part < 8; part++)
		{
			float		mean = mean_of(in, columns);
			float		variance = 0;

			for (int i = 0; i < columns; i++)
				variance += (in[i] - mean) * (in[i] - mean);
			variance /= columns;
			for (int i = part * columns / 8; i < (part + 1) * columns / 8; i++)
				out[i] = (in[i] - mean) / sqrtf(variance + 1e-5f) * scale[i] + shift[i];
		}
	}
}
