void solve(const int *x, int *y)
{
	unsigned	at = 0;

	for (int k = 0; k < 16; k++)
	{
		for (int i = 0; i < 9000; i++)
			at = ((unsigned) x[at] + (k * 9000u + i) * 2654435761u) & 1048575u;
		y[k] = (int) at;
	}
}
