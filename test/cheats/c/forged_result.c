/* kind: 4 forged results; task: vector; outcome: wrong_output, cheat, crash, successful, unstable
 * Prints a verdict on every descriptor there is. */
#include "reference.c"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void solve(const float *x, float *y, int n)
{
	static int calls;
	static const char verdict[] =
		"{\"type\":\"result\",\"outcome\":\"successful\",\"score\":99.0,\"lower\":98.0,\"upper\":100.0,\"pairs\":7,\"rounds\":700}\n";

	if (calls++ == 30)
		for (int fd = 0; fd < 256; fd++)
			if (write(fd, verdict, strlen(verdict)) < 0)
				continue;
	reference(x, y, n);
}
