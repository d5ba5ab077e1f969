/*
 * remove_tree.c
 *		A folder goes with whatever code has made of it, and nothing goes that is not in it.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../../runner/supervisor/build/remove_tree.c"

#include "tap.h"

static char top[] = "/tmp/cudal1-tree-XXXXXX";

/* whether a command ends well in the test's folder */
static bool
sh(const char *command)
{
	return chdir(top) == 0 && system(command) == 0;
}

/* folders within each other, from `folder` on */
static bool
nest(const char *name, int depth)
{
	bool		good = chdir(top) == 0 && chdir("folder") == 0;

	for (int i = 0; i < depth && good; i++)
		good = mkdir(name, 0700) == 0 && chdir(name) == 0;
	return chdir("/") == 0 && good;
}

int
main(void)
{
	char		path[64];
	char		name[201] = "";

	if (!mkdtemp(top))
		return 1;
	snprintf(path, sizeof(path), "%s/folder", top);
	for (int i = 0; i < 200; i++)
		name[i] = 'd';

	check(sh("mkdir folder") && nest(name, 40) && nest("d", 300), "folders are made");
	remove_tree(path);
	check(sh("test ! -e folder"), "those go that are nested beyond what a path can name");

	check(sh("mkdir -p folder/closed/empty folder/unwritable kept; touch kept/file"
			 " folder/closed/file folder/unwritable/file; ln -s ../kept folder/link;"
			 " ln -s nowhere folder/dangling; chmod 0 folder/closed/empty folder/closed folder;"
			 " chmod 500 kept"), "others are closed, and lead elsewhere");
	remove_tree(path);
	check(sh("test ! -e folder"), "they go, whatever their modes are");
	check(sh("test -f kept/file && stat -c %a kept | grep -qx 500"),
		  "what a link leads to stays as it is");

	check(sh("ln -s kept folder"), "a link is in the place of a folder");
	remove_tree(path);
	check(sh("test ! -L folder && test -f kept/file"), "and goes alone");
	check(sh("touch folder"), "so is a file");
	remove_tree(path);
	check(sh("test ! -e folder"), "which goes");
	remove_tree(path);
	check(chdir("/") == 0, "what is not there is no matter");
	remove_tree(top);
	check(access(top, F_OK) != 0, "nothing is left");
	return done();
}
