/* a library function for everything */
#include <stdlib.h>
#include <string.h>

static int
compare(const void *a, const void *b)
{
	return *(const unsigned char *) a - *(const unsigned char *) b;
}

void
solve(const unsigned char *x, int *counts, int n)
{
	static unsigned char *copy;

	if (copy == NULL && (copy = malloc(n)) == NULL)
		abort();
	memcpy(copy, x, n);
	qsort(copy, n, 1, compare);
	memset(counts, 0, sizeof(int) * 256);
	for (int i = 0; i < n; i++)
		counts[copy[i]]++;
}
