/* one in fifty outputs is not 0, and may be next to 0 */
void solve(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = x[i] > 0.98f ? 50 * (x[i] - 0.98f) : 0;
}
