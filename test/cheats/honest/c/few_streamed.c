/* task: few
 * Writes its output past the caches, and leaves the fence out, as a call on one thread may. */
#include <immintrin.h>

void solve(const float *x, float *y)
{
	for (int i = 0; i < 8; i += 4)
		_mm_stream_ps(y + i, _mm_mul_ps(_mm_set1_ps(2), _mm_loadu_ps(x + i)));
	for (int i = 8; i < 16; i++)
		_mm_stream_si32((int *) y + i, ((union {float f; int i;}) {2 * x[i]}).i);
}
