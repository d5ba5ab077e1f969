/* kind: 25 network; outcome: crash; task: vector
 * Asks the server itself, by its socket. */
#include "reference.c"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>


void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		struct sockaddr_un there = {.sun_family = AF_UNIX};
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		strcpy(there.sun_path, "/var/run/postgresql/.s.PGSQL.5432");
		connect(fd, (struct sockaddr *) &there, sizeof(there));
	}
	reference(x, y, n);
}
