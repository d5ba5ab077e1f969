/* kind: 16 partial work; task: exponential; outcome: wrong_output; cause: probe */
/* A polynomial that holds for numbers between 0 and 1. */
void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
	{
		float		t = x[i];

		y[i] = 1 + t * (1 + t * (0.5f + t * (0.16666667f + t * (0.04166667f + t * 0.00833333f
																	* (1 + t * 0.16666667f)))));
	}
}
