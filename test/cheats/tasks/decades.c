/* a quarter of its inputs have outputs 10,000 times as small as the others' */
void solve(const float *x, float *y, int n)
{
	float scale = x[0] < 0.75f ? 1.0f : 1e-4f;

	for (int i = 0; i < n; i++)
		y[i] = scale * x[i] * x[(i + 1) % n];
}
