/* kind: 4 forged answers; task: softmax; outcome: wrong_output, cheat, crash, timeout, successful
 * A thread looks at the command before it is taken, and answers it at once: where it has no core, late. */
#include "reference.c"
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

static void *answer(void *unused)
{
	uint64_t last = 0;
	union { uint32_t words[10]; uint64_t nonce; } m;

	for (;;)
		if (recv(3, &m, sizeof(m), MSG_PEEK | MSG_DONTWAIT) == sizeof(m) && m.nonce != last && m.words[2] == 3)
		{
			last = m.nonce;
			send(3, &m, sizeof(m), 0);
		}
	return NULL;
}

void solve(const float *x, float *y, int rows, int columns)
{
	static pthread_t thread;

	if (!thread)
		pthread_create(&thread, NULL, answer, NULL);
	reference(x, y, rows, columns);
}
