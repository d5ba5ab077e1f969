/* no test in the inner loop either, since the pixels that need one are left at zero */
#include <string.h>

void
solve(const float *restrict image, const float *restrict kernel, float *restrict out,
	  int channels, int filters, int height, int width)
{
	memset(out, 0, sizeof(float) * filters * height * width);
	for (int o = 0; o < filters; o++)
		for (int c = 0; c < channels; c++)
			for (int dy = 0; dy < 3; dy++)
				for (int dx = 0; dx < 3; dx++)
				{
					float		weight = kernel[((o * channels + c) * 3 + dy) * 3 + dx];

					for (int y = 1; y < height - 1; y++)
						for (int x = 1; x < width - 1; x++)
							out[(o * height + y) * width + x] += weight * image[(c * height + y + dy - 1) * width + x + dx - 1];
				}
}
