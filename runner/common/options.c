/*
 * options.c
 *		The command line of a program, by a table of its options.
 */
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/options.h"

#define MOST			30		/* options of a program */
#define FIRST			256		/* no character is so large */

static bool
take_number(const char *program, const Option *option, const char *text)
{
	char	   *end;
	double		value = text ? strtod(text, &end) : 0;

	if (text && (end == text || *end || !(value >= option->low && value <= option->high)))
	{
		fprintf(stderr, "%s: --%s must be a number between %g and %g\n", program, option->name,
				option->low, option->high);
		return false;
	}
	if (option->kind == OPTION_INTEGER)
		*(int *) option->value = (int) value;
	else
		*(double *) option->value = value;
	return true;
}

int
options_read(int argc, char **argv, const char *program, const Option *options,
			 void (*usage) (FILE *to))
{
	struct option known[MOST + 3] = {{0}};
	int			n = 0;
	int			found;

	for (; n < MOST && options[n].name; n++)
		known[n] = (struct option) {options[n].name, options[n].kind == OPTION_FLAG ? no_argument
			: options[n].optional ? optional_argument : required_argument, NULL, FIRST + n};
	known[n] = (struct option) {"version", no_argument, NULL, 'v'};
	known[n + 1] = (struct option) {"help", no_argument, NULL, 'h'};
	while ((found = getopt_long(argc, argv, "h", known, NULL)) != -1)
	{
		const Option *option = &options[found - FIRST];

		if (found == 'v')
			printf("%s %s\n", program, CUDAL1_VERSION);
		else if (found == 'h')
			usage(stdout);
		else if (found < FIRST)
			fprintf(stderr, "%s: --help lists the options\n", program);
		if (found < FIRST)
			return found == 'v' || found == 'h' ? 0 : 2;
		if (option->kind == OPTION_FLAG)
			*(bool *) option->value = true;
		else if (option->kind == OPTION_TEXT)
			*(const char **) option->value = optarg;
		else if (!take_number(program, option, optarg))
			return 2;
	}
	return -1;
}

const char *
options_own_folder(void)
{
	static char file[PATH_MAX];
	ssize_t		n = readlink("/proc/self/exe", file, sizeof(file) - 1);

	file[n > 0 ? n : 0] = '\0';
	return dirname(file);
}
