/*
 * remove_tree.c
 *		Removes a folder, with whatever code has made of it.
 *
 * Code may leave folders that it closed to its user, or nested them until no path names the
 * innermost. chmod and rm deal with both.
 */
#include <spawn.h>
#include <sys/wait.h>

#include "supervisor/build/build.h"

void
remove_tree(const char *path)
{
	static char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	char	   *argv[] = {"sh", "-c", REMOVE_TREE, (char *) path, NULL};
	pid_t		pid;

	if (unlink(path) == 0 || rmdir(path) == 0
		|| posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environment) != 0)
		return;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
