/*
 * remove_tree.c
 *		A folder goes with whatever code has made of it, and nothing goes that is not in it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../runner/supervisor/build/remove_tree.c"

#include "tap.h"

#define DEEP	40				/* folders of 200 characters: beyond any path */

static char top[] = "/tmp/cudal1-tree-XXXXXX";

static void
write_file(int fd, const char *name)
{
	int			file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (file >= 0)
		close(file);
}

/* a folder within one that is open */
static int
make(int fd, const char *name)
{
	mkdirat(fd, name, 0700);
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
nest(int fd, const char *name, int depth)
{
	fd = dup(fd);
	for (int i = 0; i < depth; i++)
	{
		int			next = make(fd, name);

		write_file(fd, "file");
		close(fd);
		fd = next;
	}
	return fd;
}

static bool
exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int
open_descriptors(void)
{
	DIR		   *folder = opendir("/proc/self/fd");
	int			n = 0;

	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

int
main(void)
{
	char		path[64];
	char		kept[64];
	char		name[201];
	int			fd,
				inner;
	int			before;

	if (!mkdtemp(top))
		return 1;
	snprintf(path, sizeof(path), "%s/folder", top);
	snprintf(kept, sizeof(kept), "%s/kept", top);
	memset(name, 'd', 200);
	name[200] = '\0';
	before = open_descriptors();

	fd = make(AT_FDCWD, path);
	close(nest(fd, name, DEEP));
	close(nest(fd, "d", 300));
	remove_tree(path);
	check(!exists(path), "folders nested beyond what a path can name");

	fd = (close(fd), make(AT_FDCWD, path));
	inner = make(fd, "closed");
	write_file(inner, "file");
	close(make(inner, "empty"));
	fchmodat(inner, "empty", 0, 0);
	fchmod(inner, 0);
	close(inner);
	inner = make(fd, "unwritable");
	write_file(inner, "file");
	fchmod(inner, 0500);
	close(inner);
	fchmod(fd, 0);
	remove_tree(path);
	check(!exists(path), "folders whose modes let nobody in, the outermost too");

	fd = (close(fd), make(AT_FDCWD, path));
	for (int i = 0; i < 200; i++)
	{
		snprintf(name, sizeof(name), "%s%d", i % 2 ? "file" : "folder", i);
		if (i % 2)
			write_file(fd, name);
		else
			close(nest(fd, name, 3));
	}
	remove_tree(path);
	check(!exists(path), "many beside each other");

	fd = (close(fd), make(AT_FDCWD, path));
	inner = make(AT_FDCWD, kept);
	write_file(inner, "file");
	fchmod(inner, 0500);
	check(symlinkat("../kept", fd, "link") == 0 && symlinkat("nowhere", fd, "dangling") == 0,
		  "links are made");
	remove_tree(path);
	snprintf(name, sizeof(name), "%s/file", kept);
	check(!exists(path) && exists(name), "a link goes, and not what it leads to");
	{
		struct stat st;

		check(fstat(inner, &st) == 0 && (st.st_mode & 0777) == 0500, "nor is that's mode changed");
	}
	check(symlink(kept, path) == 0, "a link in the place of a folder");
	remove_tree(path);
	check(!exists(path) && exists(name), "goes alone");
	fchmod(inner, 0700);
	close(inner);
	close(fd);

	write_file(AT_FDCWD, path);
	remove_tree(path);
	check(!exists(path), "a file goes");
	remove_tree(path);
	remove_tree(kept);
	check(!exists(kept), "what is not there is no matter");

	check(open_descriptors() == before, "no descriptor is left open");
	rmdir(top);
	check(!exists(top), "nothing is left");
	return done();
}
