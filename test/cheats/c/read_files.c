/* kind: 25 files; task: vector; outcome: successful, unstable, unverified
 * Looks for the server's data, keys, other code, and /proc. */
#include "reference.c"
#include "shared/plain.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
	static const char *const wanted[] = {
		"/var/lib/postgresql/15/main/PG_VERSION", "/etc/passwd", "/etc/shadow", "/etc/postgresql/15/main/pg_hba.conf", "/var/lib/postgresql/.pgpass",
		"/home", "/run/lock", "/sys/class", "/sys", "/proc/1/environ", "/proc/self/maps", "/proc/1/mem", "/dev/mem", "/dev/shm", NULL
	};

	for (int i = 0; wanted[i]; i++)
		if (open(wanted[i], O_RDONLY) >= 0)
		{
			/* a success ends the process, so that the outcome shows it */
			fprintf(stderr, "%s is open to a candidate\n", wanted[i]);
			if (wanted[i + 1])
				_exit(9);
		}
}
