/* task: matmul; least: 0.4
 * A thread that ends by pthread_exit() and is joined. */
#include <pthread.h>
typedef struct { const float *a, *b; float *c; int n; } Part;
static void *half(void *p)
{
	Part *q = p;
	for (int i = 0; i < q->n / 2; i++)
		for (int j = 0; j < q->n; j++)
		{
			float s = 0;
			for (int k = 0; k < q->n; k++) s += q->a[i * q->n + k] * q->b[k * q->n + j];
			q->c[i * q->n + j] = s;
		}
	pthread_exit(NULL);
}
void solve(const float *a, const float *b, float *c, int n)
{
	Part one = {a, b, c, n}, two = {a + n / 2 * n, b, c + n / 2 * n, n};
	pthread_t t;
	pthread_create(&t, NULL, half, &one);
	for (int i = 0; i < n / 2; i++)
		for (int j = 0; j < n; j++)
		{
			float s = 0;
			for (int k = 0; k < n; k++) s += two.a[i * n + k] * b[k * n + j];
			two.c[i * n + j] = s;
		}
	pthread_join(t, NULL);
}
