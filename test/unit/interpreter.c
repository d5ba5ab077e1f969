/*
 * interpreter.c
 *		What of the host an interpreter's sandbox shows: its environment, what that was made
 *		from, and nobody's home.
 */
#define _GNU_SOURCE
#include "../../runner/common/text.c"
#include "../../runner/supervisor/build/build_interpreter.c"

#include <stdlib.h>

#include "tap.h"

static char root[PATH_MAX];

/* a path below the test's folder, of which there are two at a time */
static const char *
at(const char *name)
{
	static char path[2][PATH_MAX + 64];
	static int	n;

	n = !n;
	snprintf(path[n], sizeof(path[n]), "%s/%s", root, name);
	return path[n];
}

/* the places of an interpreter, without the test's folder */
static const char *
places(const char *python)
{
	static char text[4096];
	Interpreter i;

	text[0] = '\0';
	find_places(&i, python);
	for (int n = 0; n < i.places; n++)
	{
		bool		ours = strncmp(i.place[n], root, strlen(root)) == 0;

		strcat(text, n > 0 ? " " : "");
		strcat(text, ours ? i.place[n] + strlen(root) + 1 : i.place[n]);
	}
	return text;
}

static void
shows(const char *python, const char *expected, const char *what)
{
	check(strcmp(places(python), expected) == 0, what);
	if (strcmp(places(python), expected) != 0)
		printf("# %s instead of %s\n", places(python), expected);
}

int
main(void)
{
	char		template[] = "/tmp/cudal1-interpreter.XXXXXX";
	char		command[8 * PATH_MAX];

	if (!mkdtemp(template) || !realpath(template, root))
		return 1;
	/* an interpreter finds its libraries beside it, or its folder is no installation */
	snprintf(command, sizeof(command), "set -e; cd %s; mkdir -p base/bin base/lib home/bin deep; "
			 "cp -L /usr/bin/python3 base/bin/python3; ln -s /usr/lib/python3.* base/lib/; "
			 "base/bin/python3 -m venv --without-pip venv; "
			 "base/bin/python3 -m venv --without-pip --copies copied; "
			 "ln -s ../base/bin/python3 home/py; ln -s %s/venv deep/venv; "
			 "ln -s /usr/bin/python3 home/bin/python; cp -L /usr/bin/python3 home/bin/python3",
			 root, root);
	if (system(command) != 0)
		return 1;
	shows("/usr/bin/python3", "", "what lies in /usr is there anyway");
	shows(at("venv/bin/python3"), "venv base", "an environment, and what its link leads to");
	shows(at("copied/bin/python3"), "copied base", "of a copy, what it was made from");
	shows(at("home/bin/python"), "home/bin", "of a link into /usr its folder");
	shows(at("home/bin/python3"), "home/bin", "and of a program that has no libraries beside it");
	shows(at("home/py"), "base home/py", "of a link in a home that link alone");
	shows(at("deep/venv/bin/python3"), "venv base deep/venv", "by both names of a folder");
	shows(at("base/../venv/bin/python3"), "venv base", "whatever way leads there");
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command) == 0 ? done() : 1;
}
