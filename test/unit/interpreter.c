/*
 * interpreter.c
 *		What of the host an interpreter's sandbox shows: its environment, what that was made
 *		from, and nobody's home.
 */
#define _GNU_SOURCE
#include "../../runner/common/text.c"
#include "../../runner/supervisor/build/build_interpreter.c"

#include <stdlib.h>
#include <sys/stat.h>

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

static void
put(const char *name, const char *text)
{
	FILE	   *file = fopen(at(name), "w");

	if (!file)
		exit(1);
	fputs(text, file);
	fclose(file);
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
	static const char *const folders[] = {"venv", "venv/bin", "base", "base/bin", "base/lib",
	"home", "home/bin", "copied", "copied/bin", "deep"};
	char		template[] = "/tmp/cudal1-interpreter.XXXXXX";
	char		text[PATH_MAX + 16];
	char		command[PATH_MAX + 16];

	if (!mkdtemp(template) || !realpath(template, root))
		return 1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		mkdir(at(folders[i]), 0700);
	put("base/bin/python3.12", "");
	put("home/bin/python3", "");
	put("copied/bin/python3", "");
	put("venv/pyvenv.cfg", "home = /usr/bin\n");
	snprintf(text, sizeof(text), "home = %s\n", at("base/bin"));
	put("copied/pyvenv.cfg", text);
	if (symlink(at("base/bin/python3.12"), at("venv/bin/python3")) != 0
		|| symlink("../base/bin/python3.12", at("home/py")) != 0
		|| symlink(at("venv"), at("deep/venv")) != 0
		|| symlink("/usr/bin/python3", at("home/bin/python")) != 0)
		return 1;
	shows("/usr/bin/python3", "", "what lies in /usr is there anyway");
	shows(at("venv/bin/python3"), "venv base", "an environment, and what its link leads to");
	shows(at("copied/bin/python3"), "base copied", "of a copy, what its file names");
	shows(at("home/bin/python"), "home/bin", "of a link into /usr its folder");
	shows(at("home/bin/python3"), "home/bin", "and of a program that has no libraries beside it");
	shows(at("home/py"), "base/bin/python3.12 home/py base", "of a link in a home that link alone");
	shows(at("deep/venv/bin/python3"), "venv deep/venv base", "by both names of a folder");
	shows(at("base/../venv/bin/python3"), "venv base", "whatever way leads there");
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command) == 0 ? done() : 1;
}
