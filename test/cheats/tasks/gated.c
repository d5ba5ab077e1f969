/* the last state of a gated network */
#include <math.h>

#ifndef FIRST
#define FIRST 0
#endif

void solve(const float *x, float *y)
{
	for (int b = 0; b < 4; b++)
		for (int c = 0; c < 32; c++)
		{
			float		state = 0;

			for (int t = FIRST; t < 128; t++)
			{
				const float *now = x + (b * 128 + t) * 32;
				float		keep = 1 / (1 + expf(-now[c]));

				state = keep * state + (1 - keep) * tanhf(now[(c + 1) % 32]);
			}
			y[b * 32 + c] = state;
		}
}
