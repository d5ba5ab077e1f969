/*
 * sandbox.h
 *		Starts a program in a bubblewrap sandbox: no network, no files but the system's and its own,
 *		limits, system call filters.
 */
#ifndef CUDAL1_SANDBOX_H
#define CUDAL1_SANDBOX_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The name that a supervisor gives its process, whatever its file is called. The orphan sweep
 * spares the children of processes of that name.
 */
#define SANDBOX_SUPERVISOR	"cudal1-measure"

#define SANDBOX_MAX_FDS		8
#define SANDBOX_MAX_BINDS	16
#define SANDBOX_MAX_DEVICES	8

typedef struct SandboxBind
{
	const char *path;
	bool		writable;
	/* path for the code, unless it is unsandboxed; NULL: the same path */
	const char *inside;
} SandboxBind;

typedef struct Sandbox
{
	const char *const *argv;	/* argv[0] is an absolute path */
	const char *workdir;		/* NULL: / */
	SandboxBind binds[SANDBOX_MAX_BINDS];
	int			nbinds;
	const char *devices[SANDBOX_MAX_DEVICES];	/* nodes in /dev */
	int			ndevices;
	int			fds[SANDBOX_MAX_FDS];	/* become descriptors 3, 4, ... inside */
	int			nfds;
	int			output_fd;		/* standard output and error */
	const char *const *environment;	/* NAME, value, NAME, value, ..., NULL */
	cpu_set_t  *cores;			/* NULL: where the supervisor runs */
	size_t		tmp_bytes;		/* size of a private /tmp; 0: none */
	const char *tmp_link;		/* NULL, or the folder inside that /tmp is a symbolic link to */
	/* NULL, or a folder inside; the program may mount there, in namespaces of its own (guard.h) */
	const char *mount_point;
	size_t		file_bytes;		/* RLIMIT_FSIZE */
	size_t		data_bytes;		/* RLIMIT_DATA; 0: set by the executor itself */
	double		cpu_seconds;	/* RLIMIT_CPU; 0: none */
	/* without a /proc, through which the memory of bubblewrap's own process could be written */
	bool		no_proc;
	/* the program itself is process 1, so that there is no process of bubblewrap's inside */
	bool		first;
	bool		unsandboxed;	/* an administrator's choice: limits and filters only */
} Sandbox;

/*
 * pid of the outermost process (it ends as the program ends, a signal as 128 + its number), or -1
 * with errno
 */
extern pid_t sandbox_start(const Sandbox *sandbox);

/* kills the program and all that it started, and reaps it */
extern void sandbox_end(pid_t pid);

/* waits for the end, at most so many seconds; false: still running */
extern bool sandbox_wait(pid_t pid, double seconds, int *status);

/* a descriptor with the filters that an executor applies before and after it loads a candidate */
extern int	sandbox_guard_filters(bool python, bool gpu);

/* ends sandboxes that were just starting when their supervisor was killed */
extern void sandbox_sweep(void);

/* NULL if a sandbox starts here, else what is missing */
extern const char *sandbox_problem(void);

extern const char *sandbox_version(void);

/* calls.c: the system calls that a sandbox lets through, one table, and the filters made of it */

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

/*
 * Writes the filter of these classes together as BPF at the end of a file; false where libseccomp
 * can't make it.
 */
extern bool calls_export(const char *classes, int fd);

#endif							/* CUDAL1_SANDBOX_H */
