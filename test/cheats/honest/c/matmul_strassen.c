/* task: matmul; least: 5
 * One step of Strassen's: other roundings. */
#include <string.h>
#define H 32

static void product(const float *restrict a, const float *restrict b, float *restrict c)
{
	memset(c, 0, sizeof(float) * H * H);
	for (int i = 0; i < H; i++)
		for (int k = 0; k < H; k++)
			for (int j = 0; j < H; j++)
				c[i * H + j] += a[i * H + k] * b[k * H + j];
}

static void sum(const float *m, int p, const float *q, int r, float sign, float *out)
{
	for (int i = 0; i < H; i++)
		for (int j = 0; j < H; j++)
			out[i * H + j] = m[p + i * 2 * H + j] + sign * (r < 0 ? 0 : q[r + i * 2 * H + j]);
}

void solve(const float *a, const float *b, float *c, int n)
{
	static const int a11 = 0, a12 = H, a21 = 2 * H * H, a22 = 2 * H * H + H;
	float s[H * H], t[H * H], m[7][H * H];

	sum(a, a11, a, a22, 1, s), sum(b, a11, b, a22, 1, t), product(s, t, m[0]);
	sum(a, a21, a, a22, 1, s), sum(b, a11, b, -1, 1, t), product(s, t, m[1]);
	sum(a, a11, a, -1, 1, s), sum(b, a12, b, a22, -1, t), product(s, t, m[2]);
	sum(a, a22, a, -1, 1, s), sum(b, a21, b, a11, -1, t), product(s, t, m[3]);
	sum(a, a11, a, a12, 1, s), sum(b, a22, b, -1, 1, t), product(s, t, m[4]);
	sum(a, a21, a, a11, -1, s), sum(b, a11, b, a12, 1, t), product(s, t, m[5]);
	sum(a, a12, a, a22, -1, s), sum(b, a21, b, a22, 1, t), product(s, t, m[6]);
	for (int i = 0; i < H; i++)
		for (int j = 0; j < H; j++)
		{
			int x = i * H + j, y = i * 2 * H + j;

			c[a11 + y] = m[0][x] + m[3][x] - m[4][x] + m[6][x];
			c[a12 + y] = m[2][x] + m[4][x];
			c[a21 + y] = m[1][x] + m[3][x];
			c[a22 + y] = m[0][x] - m[1][x] + m[2][x] + m[5][x];
		}
}
