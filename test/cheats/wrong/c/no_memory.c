/* kind: wrong code; task: rowsum; outcome: crash; cause: segfault
 * Writes to an address that is none. */
void solve(const float *x, float *y, int rows, int columns)
{
	*(volatile float *) 8 = x[0];
}
