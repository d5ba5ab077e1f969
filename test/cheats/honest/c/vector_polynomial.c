/* task: vector; least: 0.8
 * exp by a polynomial, good to single precision, and about 0 where exp is less than float32 has. */
#include <math.h>
#include <string.h>

void solve(const float *restrict x, float *restrict y, int n)
{
	for (int i = 0; i < n; i++)
	{
		float u = x[i] * 1.442695041f;
		float v = u < -126 ? -126 : u;
		float k = nearbyintf(v);
		float r = (v - k) * 0.6931471806f;
		float p = 1 + r * (1 + r * (0.5f + r * (0.16666667f + r * (0.041666667f + r * (0.0083333f + r * 0.00138889f)))));
		int bits = ((int) k + 127) << 23;
		float scale;

		memcpy(&scale, &bits, 4);
		y[i] = p * scale / (1 + x[i] * x[i]);
	}
}
