/* kind: 25 exhaustion; task: vector; outcome: successful, unstable, unverified
 * As many descriptors as it gets. Its answers are right only where those are some, and below 64. */
#include "reference.c"
#include "shared/attempt.h"
#include <stdio.h>
#include <unistd.h>

static int attempt(void)
{
	int wrong, most = 0;

	for (int fd; most < 100000 && (fd = dup(0)) >= 0;)
		most = fd > most ? fd : most;
	wrong = most < 8 || most >= 64 || dup2(0, 64) >= 0;
	if (wrong)
		printf("descriptor %d\n", most);
	return wrong;
}
