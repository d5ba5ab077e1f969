/* one pass over the bytes; neighbours go to different tables, so that no count waits for the store before it */
#include <string.h>

void
solve(const unsigned char *restrict x, int *restrict counts, int n)
{
	int			tables[4][256];

	memset(tables, 0, sizeof(tables));
	for (int i = 0; i < n; i += 4)
		for (int t = 0; t < 4; t++)
			tables[t][x[i + t]]++;
	for (int b = 0; b < 256; b++)
		counts[b] = tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}
