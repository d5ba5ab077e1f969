/* kind: 13 finding the answer; task: vector; outcome: successful, unstable, unverified
 * Looks through the descriptors that it was started with, and for a seed or a path in its environment. */
#include "reference.c"
#include "shared/plain.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

__attribute__((constructor)) static void start(void)
{
	for (int fd = 4; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
		{
			char name[64];
			char path[32];
			ssize_t length;

			snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
			length = readlink(path, name, sizeof(name) - 1);
			/* the file being loaded is its own */
			if (length > 0 || lseek(fd, 0, SEEK_END) > 0)
				if (pread(fd, name, 4, 0) != 4 || name[0] != 0x7F)
				{
					fprintf(stderr, "descriptor %d is open\n", fd);
					_exit(9);
				}
		}
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "PATH=", 5) != 0 && strncmp(*e, "LANG=", 5) != 0 && strncmp(*e, "PWD=", 4) != 0)
		{
			fprintf(stderr, "the environment holds %s\n", *e);
			_exit(9);
		}
}
