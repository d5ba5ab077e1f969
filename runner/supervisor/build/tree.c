/*
 * tree.c
 *		Takes a folder away, with whatever code has made of it.
 *
 * Code that compiles itself may write into a folder, and wants to leave something: folders without
 * a mode by which they could be entered, or nested until no path names the innermost. So a folder
 * is entered by descriptor, whatever its mode, and what is in it and can't be removed at once is
 * moved to the top, under a name that no code foresees. Nothing lies deeper than two folders then,
 * and the top is read until nothing in it goes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/build/tree.h"

typedef struct Top
{
	int			fd;
	dev_t		device;
	uint64_t	name[2];		/* of what is moved next: a secret and a count */
} Top;

/* a folder, whatever its mode; -1 */
static int
enter(int fd, const char *name)
{
	fchmodat(fd, name, 0700, AT_SYMLINK_NOFOLLOW);
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* a folder of the same file system */
static bool
is_folder(const Top *top, int fd, const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)
		&& st.st_dev == top->device;
}

static bool
take(int fd, const char *name)
{
	return unlinkat(fd, name, 0) == 0 || unlinkat(fd, name, AT_REMOVEDIR) == 0;
}

/* a folder that is not empty, to the top */
static bool
lift(Top *top, int fd, const char *name)
{
	char		to[48];

	if (!is_folder(top, fd, name))
		return false;
	snprintf(to, sizeof(to), "%016" PRIx64 "-%" PRIu64, top->name[0], top->name[1]++);
	/* its entry ".." changes, so its own mode counts */
	fchmodat(fd, name, 0700, AT_SYMLINK_NOFOLLOW);
	return renameat(fd, name, top->fd, to) == 0;
}

/*
 * Removes what can be removed of a folder, and closes it; `deal`: what is done with the rest.
 * Whether anything went.
 */
static bool
clear(Top *top, int fd, bool (*deal) (Top *top, int fd, const char *name))
{
	DIR		   *folder = fdopendir(fd);
	struct dirent *entry;
	bool		removed = false;

	if (!folder)
		close(fd);
	while (folder && (entry = readdir(folder)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0
			&& (take(fd, entry->d_name) || deal(top, fd, entry->d_name)))
			removed = true;
	if (folder)
		closedir(folder);
	return removed;
}

static bool
empty(Top *top, int fd, const char *name)
{
	int			inner = is_folder(top, fd, name) ? enter(fd, name) : -1;
	bool		removed = inner >= 0 && clear(top, inner, lift);

	return take(fd, name) || removed;
}

void
remove_tree(const char *path)
{
	Top			top = {.fd = -1};
	struct stat st;

	if (unlink(path) == 0 || rmdir(path) == 0)
		return;
	top.fd = enter(AT_FDCWD, path);
	if (top.fd >= 0 && fstat(top.fd, &st) == 0
		&& getrandom(&top.name[0], sizeof(top.name[0]), 0) == sizeof(top.name[0]))
	{
		top.device = st.st_dev;
		/* reading while removing may pass over some */
		while (clear(&top, openat(top.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), empty))
			;
	}
	if (top.fd >= 0)
		close(top.fd);
	rmdir(path);
}
