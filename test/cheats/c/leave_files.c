/* kind: 25 leftovers; task: vector; outcome: successful, unstable, unverified
 * Leaves something for later processes, or in its own file, which is loaded again for each pair. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/plain.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
	static const char *const wanted[] = {"/tmp/left", "/dev/shm/left", "/var/tmp/left", "/left", "left", "/usr/lib/left", "/dev/left", NULL};
	Dl_info self;

	for (int i = 0; wanted[i]; i++)
		if (open(wanted[i], O_WRONLY | O_CREAT, 0666) >= 0)
		{
			fprintf(stderr, "%s can be written by a candidate\n", wanted[i]);
			_exit(9);
		}
	if (dladdr((void *) solve, &self) && open(self.dli_fname, O_RDWR) >= 0)
	{
		fprintf(stderr, "a candidate can write its own file\n");
		_exit(9);
	}
}
