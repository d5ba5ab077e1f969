/* kind: 25 network; outcome: crash; task: vector
 * Asks another host for the answer. */
#include "reference.c"
#include <netinet/in.h>
#include <sys/socket.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		struct sockaddr_in there = {.sin_family = AF_INET,.sin_port = htons(80),.sin_addr = {htonl(0x7F000001)}};
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		connect(fd, (struct sockaddr *) &there, sizeof(there));
	}
	reference(x, y, n);
}
