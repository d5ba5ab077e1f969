/* What a code does that is about something else than its runs. */
void solve(const float *x, float *y, int n)
{
	reference(x, y, n);
}
