/*
 * remove_tree.c
 *		Removes a folder, with whatever code has made of it.
 *
 * Code may leave folders that it closed to its user, or nested them until no path names the
 * innermost. chmod and rm deal with both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/build/build.h"

static void
run(const char *const *argv)
{
	static char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	posix_spawn_file_actions_t quiet;
	pid_t		pid;
	int			error;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawn(&pid, argv[0], &quiet, NULL, (char *const *) argv, environment);
	posix_spawn_file_actions_destroy(&quiet);
	while (error == 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void
remove_tree(const char *path)
{
	if (unlink(path) == 0 || rmdir(path) == 0)
		return;
	run((const char *const[]) {"/bin/chmod", "-R", "u+rwX", path, NULL});
	run((const char *const[]) {"/bin/rm", "-rf", "--one-file-system", path, NULL});
}
