/* task: mean
 * One number after the other, in single precision. */
void solve(const float *x, float *y)
{
	float		sum = 0;

	for (int i = 0; i < 65536; i++)
		sum += x[i];
	y[0] = sum / 65536;
}
