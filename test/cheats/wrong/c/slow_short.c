/* kind: wrong code; task: few; outcome: timeout; cause: slow_run
 * Thousands of times as slow as a reference that takes less than opening its gate does. */
void solve(const float *x, float *y)
{
	volatile double sum = 0;

	for (int i = 0; i < 30000000; i++)
		sum += i;
	for (int i = 0; i < 16; i++)
		y[i] = 2 * x[i];
}
