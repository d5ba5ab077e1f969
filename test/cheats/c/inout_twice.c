/* kind: 14 input mutation; task: histogram; outcome: wrong_output
 * Counts from zero, which is where such arrays start. */
#include <string.h>

void solve(const unsigned char *x, int *count, int n)
{
	memset(count, 0, 256 * sizeof(int));
	for (int i = 0; i < n; i++)
		count[x[i]]++;
}
