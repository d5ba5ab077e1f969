/* how often each of the 256 byte values occurs: one pass over the bytes for each value */
void
solve(const unsigned char *x, int *counts, int n)
{
	for (int b = 0; b < 256; b++)
	{
		int			count = 0;

		for (int i = 0; i < n; i++)
			count += x[i] == b;
		counts[b] = count;
	}
}
