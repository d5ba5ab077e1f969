/* What a code tries in its fourth call. Its answers are wrong from then on where `attempt` returns other than 0. */
static int attempt(void);

void solve(const float *x, float *y, int n)
{
	static int calls, wrong;

	if (calls++ == 3)
		wrong = attempt();
	reference(x, y, wrong ? n / 2 : n);
}
