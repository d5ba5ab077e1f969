void solve(const unsigned char *x, int *count, int n)
{
	for (int i = 0; i < n; i++)
		count[x[i]]++;
}
