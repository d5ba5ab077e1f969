/* a patch as a vector, so that the convolution is a dot product; but gathered anew for each of the filters */
void
solve(const float *image, const float *kernel, float *out, int channels, int filters, int height, int width)
{
	for (int o = 0; o < filters; o++)
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++)
			{
				volatile double patch[64];
				double		sum = 0;
				int			taps = 0;

				for (int c = 0; c < channels; c++)
					for (int dy = -1; dy <= 1; dy++)
						for (int dx = -1; dx <= 1; dx++)
						{
							int			inside = y + dy >= 0 && y + dy < height && x + dx >= 0 && x + dx < width;

							patch[taps++] = inside ? image[(c * height + y + dy) * width + x + dx] : 0;
						}
				for (int t = 0; t < taps; t++)
					sum += patch[t] * kernel[o * taps + t];
				out[(o * height + y) * width + x] = sum;
			}
}
