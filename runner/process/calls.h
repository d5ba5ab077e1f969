/*
 * calls.h
 *		The system calls that a sandbox lets through: one table, and the filters made of it.
 */
#ifndef CUDAL1_CALLS_H
#define CUDAL1_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Filters, each a letter in the table. */
#define CALLS_LOAD_C	'L'		/* C on a CPU, while its code is loaded */
#define CALLS_RUN_C		'C'		/* from then on */
#define CALLS_TORCH		'T'		/* PyTorch on a CPU, from before its code is loaded */
#define CALLS_GPU		'G'		/* CUDA C++ and PyTorch on a GPU, likewise */
#define CALLS_BUILD		'B'		/* all that bubblewrap starts: compilers, interpreters, executors */
#define CALLS_BUILD_GPU	'D'		/* the same, with the nodes of a GPU */
#define CALLS_MOUNT		'M'		/* beside these: parents that mount folders for executors */

typedef enum CallAction
{
	CALL_ALLOWED,
	CALL_MISSING,				/* ENOSYS: no line, or other arguments than its lines name */
	CALL_REFUSED,				/* EPERM */
	CALL_PRETENDED,				/* 0, and nothing is done */
	CALL_KILLED,				/* SIGSYS ends the process */
} CallAction;

/* A condition: the masked argument is one of the values. */
typedef struct CallCondition
{
	unsigned int argument;
	uint64_t	mask;			/* 0: no condition */
	const uint64_t *values;
	size_t		n;
} CallCondition;

/* lines of the same call are alternatives, the conditions of a line hold together */
typedef struct CallLine
{
	const char *classes;
	CallAction	action;
	const char *names;			/* separated by blanks */
	const char *reason;
	CallCondition when[2];
} CallLine;

/* A call of a line. */
typedef struct CallEntry
{
	const CallLine *line;
	const char *name;			/* with what follows it in the line */
	int			number;
} CallEntry;

/* all there are, but for those that this libseccomp does not know: they stay closed */
extern const CallEntry *calls_table(size_t *n);

/*
 * Writes the filter of these classes together as BPF at the end of a file; false where libseccomp
 * can't make it.
 */
extern bool calls_export(const char *classes, int fd);

#endif							/* CUDAL1_CALLS_H */
