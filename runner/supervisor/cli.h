/*
 * cli.h
 *		`cudal1-measure TASK CANDIDATE...`: jobs made of files, and verdicts for a reader.
 */
#ifndef CUDAL1_CLI_H
#define CUDAL1_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "supervisor/types.h"

typedef enum PeopleStatus
{
	CLI_RIGHT,
	CLI_WRONG,
	CLI_USAGE,
	CLI_UNMEASURED,
} PeopleStatus;

typedef struct Cli
{
	const char *signature;		/* files named by options; NULL: none */
	const char *profile;
	const char *device;
	const char *profile_with;	/* a profiler: right candidates are run once more, under it */
	bool		quick;
	bool		devices;		/* nothing but a list of them is asked for */
	int			cores;			/* 0: the task's */
	bool		json;			/* a line of JSON for each candidate */
	bool		text;			/* a line of text, also where standard output is no terminal */
	bool		colour;
	json_t	   *task;			/* as in a job */
	json_t	   *numbers;		/* of the profile */
	char	  **files;			/* the job's candidates */
	int			width;			/* of the longest name; 0: a single candidate */
	int			status;			/* of all candidates so far */
} Cli;

/* Three calls that print what is wrong and exit with CLI_USAGE. */
extern void cli_read_task(Cli *cli, const char *path);
extern void cli_try_profiler(const Cli *cli, const Options *options);
extern json_t *cli_job(const Cli *cli, char **files, int n);

/*
 * keeps a profile of a candidate, where one is asked for, raises the status, and prints the result;
 * false: as JSON it is the caller's to print
 */
extern bool cli_show(Measure *m, const Member *member, json_t *result);

/* the signature in a comment of a source, a new reference; NULL: none, and `error` says why */
extern json_t *cli_signature(const char *source, char *error, size_t size);

/* a whole file; prints why not and exits with CLI_USAGE */
extern char *cli_read_file(const char *path, size_t *length);

#endif							/* CUDAL1_CLI_H */
