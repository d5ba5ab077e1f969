/* gathers eight values and stores them with an instruction that demands an aligned address, one float off */
#include <immintrin.h>

void
solve(const float *x, float *y, int rows, int columns)
{
	for (int j = 0; j < columns; j++)
	{
		y[j * rows] = x[j];
		for (int i = 1; i < rows; i += 8)
		{
			__m256		v;
			float		lane[8];

			for (int l = 0; l < 8; l++)
				lane[l] = i + l < rows ? x[(i + l) * columns + j] : 0;
			v = _mm256_loadu_ps(lane);
			_mm256_stream_ps(&y[j * rows + i], v);
		}
	}
}
