/* kind: 25 network; outcome: crash; task: vector
 * Asks the server itself, by its socket. */
#include "reference.c"
#include "shared/attempt.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int attempt(void)
{
	struct sockaddr_un there = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(there.sun_path, "/var/run/postgresql/.s.PGSQL.5432");
	connect(fd, (struct sockaddr *) &there, sizeof(there));
	return 0;
}
