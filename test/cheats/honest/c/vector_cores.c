/* task: vector; least: 0.4
 * Asks how many cores and how much cache there are, as code does that chooses its blocks. */
#include <math.h>
#include <unistd.h>
void solve(const float *x, float *y, int n)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN), cache = sysconf(_SC_LEVEL1_DCACHE_SIZE), page = sysconf(_SC_PAGESIZE);
	int block = cores > 0 && cache > 0 && page > 0 ? 1024 : 512;
	for (int from = 0; from < n; from += block)
		for (int i = from; i < from + block && i < n; i++)
			y[i] = expf(x[i]) / (1.0f + x[i] * x[i]);
}
