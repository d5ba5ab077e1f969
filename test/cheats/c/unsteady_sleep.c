/* kind: 26 unsteadiness; task: slow; profile: endless; outcome: successful; bound: 0.5
 * Sleeps for as long as it likes, never twice alike: no interval becomes narrow, and without a budget the device is held for all of 200 pairs. */
#include "reference.c"
#include <time.h>
#include <x86intrin.h>

void solve(const float *x, float *y, int n)
{
	unsigned long random = __rdtsc() * 0x9E3779B97F4A7C15ul >> 40;
	struct timespec t = {0, 50000000 + random % 600 * 1000000};

	nanosleep(&t, 0);
	reference(x, y, n);
}
