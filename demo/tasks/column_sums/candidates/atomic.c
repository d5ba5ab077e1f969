/* ready for many threads, of which there is one */
#include <stdint.h>
#include <string.h>

static void
atomic_add(float *target, float value)
{
	uint32_t	seen = __atomic_load_n((uint32_t *) target, __ATOMIC_RELAXED);
	uint32_t	wanted;

	do
	{
		float		sum;

		memcpy(&sum, &seen, sizeof(sum));
		sum += value;
		memcpy(&wanted, &sum, sizeof(sum));
	} while (!__atomic_compare_exchange_n((uint32_t *) target, &seen, wanted, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

void
solve(const float *x, float *sums, int rows, int columns)
{
	memset(sums, 0, sizeof(float) * columns);
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			atomic_add(&sums[j], x[i * columns + j]);
}
