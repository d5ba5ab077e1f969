/* how often each of the 256 byte values occurs */
void
solve(const unsigned char *x, int *counts, int n)
{
	for (int b = 0; b < 256; b++)
		counts[b] = 0;
	for (int i = 0; i < n; i++)
		counts[x[i]]++;
}
