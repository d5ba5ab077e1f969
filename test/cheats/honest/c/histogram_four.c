/* task: histogram; least: 0.81
 * Four counters for each value. */
#include <string.h>

void solve(const unsigned char *x, int *count, int n)
{
	static int c[4][256];

	memset(c, 0, sizeof(c));
	for (int i = 0; i < n; i += 4)
	{
		c[0][x[i]]++;
		c[1][x[i + 1]]++;
		c[2][x[i + 2]]++;
		c[3][x[i + 3]]++;
	}
	for (int v = 0; v < 256; v++)
		count[v] += c[0][v] + c[1][v] + c[2][v] + c[3][v];
}
