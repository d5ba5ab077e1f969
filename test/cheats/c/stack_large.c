/* kind: 25 exhaustion; outcome: crash; task: vector
 * A gigabyte on the stack, after asking for as much. */
#include "reference.c"
#include <alloca.h>
#include <sys/resource.h>

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		struct rlimit most;
		volatile char *p;

		setrlimit(RLIMIT_STACK, &(struct rlimit) {RLIM_INFINITY, RLIM_INFINITY});
		getrlimit(RLIMIT_STACK, &most);
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_STACK, &most);
		p = alloca((size_t) 1 << 30);
		/* as a stack grows */
		for (size_t i = (size_t) 1 << 30; i > 4096; i -= 4096)
			p[i - 1] = 1;
	}
	reference(x, y, n);
}
