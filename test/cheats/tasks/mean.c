/* the mean of many numbers between 0 and 1 */
void solve(const float *x, float *y)
{
	double		sum = 0;

	for (int i = 0; i < 65536; i++)
		sum += x[i];
	y[0] = (float) (sum / 65536);
}
