/*
 * options.h
 *		The command line of a program, by a table of its options.
 */
#ifndef CUDAL1_OPTIONS_H
#define CUDAL1_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

typedef enum OptionKind
{
	OPTION_FLAG,				/* bool */
	OPTION_TEXT,				/* const char * */
	OPTION_NUMBER,				/* double */
	OPTION_INTEGER,				/* int */
} OptionKind;

typedef struct Option
{
	const char *name;			/* NULL: the end of the table */
	OptionKind	kind;
	void	   *value;
	double		low;			/* of a number */
	double		high;
	bool		optional;		/* the number may be left out, and is 0 then */
} Option;

/*
 * Reads the options, and --version and --help. -1 where the program goes on, with optind at its
 * first argument; otherwise its exit status.
 */
extern int	options_read(int argc, char **argv, const char *program, const Option *options,
						 void (*usage) (FILE *to));

/* the folder that the program's own file lies in */
extern const char *options_own_folder(void);

#endif							/* CUDAL1_OPTIONS_H */
