/* four rows of 16 results stay in registers for all of the inner loop, so c is written once and b is read a quarter as often */
#include <string.h>

#define LANES 16

typedef float Floats __attribute__((vector_size(4 * LANES)));

void
solve(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
	for (int i = 0; i < n; i += 4)
		for (int j = 0; j < n; j += LANES)
		{
			Floats		c0 = {0};
			Floats		c1 = {0};
			Floats		c2 = {0};
			Floats		c3 = {0};
			Floats		right;

			for (int k = 0; k < n; k++)
			{
				memcpy(&right, b + k * n + j, sizeof(right));
				c0 += a[i * n + k] * right;
				c1 += a[(i + 1) * n + k] * right;
				c2 += a[(i + 2) * n + k] * right;
				c3 += a[(i + 3) * n + k] * right;
			}
			memcpy(c + i * n + j, &c0, sizeof(c0));
			memcpy(c + (i + 1) * n + j, &c1, sizeof(c1));
			memcpy(c + (i + 2) * n + j, &c2, sizeof(c2));
			memcpy(c + (i + 3) * n + j, &c3, sizeof(c3));
		}
}
