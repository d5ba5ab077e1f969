/*
 * child.h
 *		A child program, isolated from everything its host holds, on three pipes.
 *
 * The worker (bgworker/) and the agent (runner/) are hosts of this code.  It includes no header of
 * the server, allocates with malloc and raises no error.  The host's function for the log may raise
 * none either.
 *
 * The host polls a child whenever the shared epoll descriptor is readable; no call waits for a
 * child. Each complete line of the child's standard output goes to on_line.  Its standard error
 * goes to the host's log, a limited number of lines.
 */
#ifndef CUDAL1_SUPERVISE_CHILD_H
#define CUDAL1_SUPERVISE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/buffer.h"

/* the longest line that a measuring program may write (a result), in bytes */
#define CUDAL1_MAX_LINE (1024 * 1024)

/* line is NUL-terminated; it may hold other NULs, so only length says where it ends */
typedef void (*Cudal1OnLine) (void *owner, char *line, size_t length);

typedef struct Cudal1Child
{
	char		label[64];		/* begins its lines in the log */
	pid_t		pid;			/* 0 after it was collected */
	int			pidfd;
	int			in;				/* -1 once closed */
	int			out;
	int			err;
	Cudal1Buffer	input;
	size_t		input_sent;
	bool		input_open;		/* more may be sent, so the pipe stays open */
	bool		input_watched;	/* its pipe is full */
	size_t		max_line;		/* bytes; CUDAL1_MAX_LINE unless the host changes it */
	Cudal1Buffer	out_line;
	Cudal1Buffer	err_line;
	bool		overlong;		/* wrote a line above its limit */
	int			status;			/* as of waitpid, once collected */
	bool		gone;			/* ended and read to the end */
	int			log_lines;
	Cudal1OnLine on_line;
	void	   *owner;
	struct Cudal1Child *next;	/* of those that were not collected yet */
} Cudal1Child;

/* A program to start: argv[0] and arguments, in a new environment and the folder `scratch`. */
typedef struct Cudal1Program
{
	const char *label;
	char	  **argv;
	const char *scratch;
	const char *pass;			/* variables with this prefix are passed on, too; or NULL */
	const char *input;			/* for its standard input; NULL: none */
	bool		keep_input;		/* standard input stays open for cudal1_child_send */
	Cudal1OnLine on_line;
	void	   *owner;
} Cudal1Program;

/* writes a line for operators; set by cudal1_children_prepare */
extern void (*cudal1_log) (const char *format,...) __attribute__((format(printf, 1, 2)));

/* milliseconds of a clock that never goes back: worker and agent measure all intervals by it */
extern int64_t cudal1_clock_ms(void);

/*
 * Before any other call: orphans of children become children of this process.  False where it can't
 * wait for children; errno says why.
 */
extern bool cudal1_children_prepare(void (*log) (const char *format,...));

/* readable when any child needs a poll */
extern int	cudal1_children_epoll(void);

/* removes orphans that have ended from the process table */
extern void cudal1_children_collect(void);

/* false: nothing is left of the child, and *problem says why, valid until the next call */
extern bool cudal1_child_start(Cudal1Child *child, const Cudal1Program *program,
							   const char **problem);

extern void cudal1_child_send(Cudal1Child *child, const char *data, size_t length);

/* reads and writes what is possible without waiting; sets child->gone once the child has ended */
extern void cudal1_child_poll(Cudal1Child *child);

extern void cudal1_child_signal(Cudal1Child *child, int number);

/*
 * Frees the memory of a child.  A child that runs is killed and collected before, unless the kernel
 * itself keeps it from ending.
 */
extern void cudal1_child_end(Cudal1Child *child);

/* how the child ended, in words; valid until the next call */
extern const char *cudal1_child_ending(const Cudal1Child *child);

#endif							/* CUDAL1_SUPERVISE_CHILD_H */
