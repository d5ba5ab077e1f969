/* a table of 256 bytes fits in four cache lines; 65536 bytes in 256 bins do not fit in a byte */
#include <string.h>

void
solve(const unsigned char *x, int *counts, int n)
{
	unsigned char table[256];

	memset(table, 0, sizeof(table));
	for (int i = 0; i < n; i++)
		table[x[i]]++;
	for (int b = 0; b < 256; b++)
		counts[b] = table[b];
}
