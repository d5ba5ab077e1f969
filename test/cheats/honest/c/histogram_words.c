/* task: histogram; least: 0.79
 * Eight bytes at a time. */
#include <string.h>

void solve(const unsigned char *x, int *count, int n)
{
	for (int i = 0; i < n; i += 8)
	{
		unsigned long w;

		memcpy(&w, x + i, 8);
		for (int b = 0; b < 8; b++, w >>= 8)
			count[w & 255]++;
	}
}
