/* kind: 26 unsteadiness; task: rows; profile: wide; outcome: successful; bound: 0.9
 * Three times the work in half of its processes, twice in the others: an interval that would reach up to 1. */
#include "reference.c"
#include <x86intrin.h>

void solve(const float *x, float *y, int rows, int columns)
{
	static int	times;

	if (times == 0)
		times = (__rdtsc() * 0x9E3779B97F4A7C15ul >> 60) < 8 ? 2 : 6;
	for (int i = 0; i < times; i++)
		reference(x, y, rows, columns);
}
