/* task: matmul; least: 0.67
 * Two threads, joined before the return; on one core it does not help. */
#include <pthread.h>

typedef struct { const float *a, *b; float *c; int n, from, to; } Part;

static void *rows(void *argument)
{
	Part *p = argument;

	for (int i = p->from; i < p->to; i++)
		for (int j = 0; j < p->n; j++)
		{
			float sum = 0;

			for (int k = 0; k < p->n; k++)
				sum += p->a[i * p->n + k] * p->b[k * p->n + j];
			p->c[i * p->n + j] = sum;
		}
	return NULL;
}

void solve(const float *a, const float *b, float *c, int n)
{
	Part other = {a, b, c, n, n / 2, n}, own = {a, b, c, n, 0, n / 2};
	pthread_t thread;

	if (pthread_create(&thread, NULL, rows, &other) != 0)
	{
		rows(&other);
		rows(&own);
		return;
	}
	rows(&own);
	pthread_join(thread, NULL);
}
