/*
 * child.h
 *		A program that runs apart from everything that its supervisor holds: three pipes lead to it, and nothing waits for it.
 *
 * The worker (bgworker/) and the agent (runner/) use this code alike. It includes no header of the server, allocates with
 * malloc, raises no error, and reaches its host through the few calls of a SuperviseHost, none of which may raise one.
 * The host polls a child whenever the shared epoll descriptor is readable. Each complete line of the child's standard
 * output goes to on_line; its standard error goes to the host's log, a limited number of lines in a time.
 */
#ifndef CUDAL1_SUPERVISE_CHILD_H
#define CUDAL1_SUPERVISE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* the longest line that a measuring program may write (a result), in bytes */
#define CUDAL1_MAX_LINE (1024 * 1024)

/* what a supervisor's host provides */
typedef struct Cudal1Host
{
	void		(*log) (const char *text);	/* one line for operators */
	bool		(*take_descriptors) (int n);	/* accounts for open files; NULL: not accounted for */
	void		(*give_descriptors) (int n);
} Cudal1Host;

/* bytes that grow; a NUL follows them. `lost`: there was no memory for all of them */
typedef struct Cudal1Text
{
	char	   *data;
	size_t		length;
	size_t		size;
	bool		lost;
} Cudal1Text;

extern void cudal1_text_append(Cudal1Text *text, const char *data, size_t length);

/* line is NUL-terminated; it may hold other NULs, so length counts */
typedef void (*Cudal1OnLine) (void *owner, char *line, size_t length);

typedef struct Cudal1Child
{
	char		label[64];		/* begins its lines in the log */
	pid_t		pid;			/* 0 after it was collected */
	int			pidfd;
	int			in;				/* -1 once closed */
	int			out;
	int			err;
	Cudal1Text	input;
	size_t		input_sent;
	bool		input_open;		/* more may be sent: not closed when all is sent */
	bool		input_watched;
	size_t		max_line;		/* bytes; 0: CUDAL1_MAX_LINE */
	Cudal1Text	out_line;
	Cudal1Text	err_line;
	uint64_t	out_bytes;
	bool		overlong;		/* wrote a line above its limit */
	int			status;			/* as of waitpid, once collected */
	bool		gone;			/* ended and read to the end */
	int64_t		log_window;		/* rate limit of standard error */
	int			log_lines;
	int			log_dropped;
	Cudal1OnLine on_line;
	void	   *owner;
} Cudal1Child;

/* what to start: argv[0] with exactly these arguments, in a clean environment and the folder `scratch` */
typedef struct Cudal1Program
{
	const char *label;
	char	  **argv;
	const char *scratch;
	const char *pass;			/* variables whose names begin so are passed on, besides those that name GPUs; or NULL */
	const char *input;			/* for its standard input; NULL: none */
	bool		keep_input;		/* standard input stays open for cudal1_child_send */
	Cudal1OnLine on_line;
	void	   *owner;
} Cudal1Program;

/* before anything else */
extern void cudal1_children_host(const Cudal1Host *host);

/* milliseconds of a clock that never goes back: the one door for time in worker and agent */
extern int64_t cudal1_clock_ms(void);

/* readable when any child wants attention; -1 with errno where there is none to be had */
extern int	cudal1_children_epoll(void);

/* orphans of children become children of this process; collect takes those that have ended out of the process table */
extern bool cudal1_children_adopt(void);
extern void cudal1_children_collect(void);

/* false: *problem says why in words, valid until the next call; nothing is left of it */
extern bool cudal1_child_start(Cudal1Child *child, const Cudal1Program *program, const char **problem);

extern void cudal1_child_send(Cudal1Child *child, const char *data, size_t length);

/* closes standard input once all is sent */
extern void cudal1_child_end_input(Cudal1Child *child);

/* moves what can be moved without waiting; sets child->gone at the end */
extern void cudal1_child_poll(Cudal1Child *child);

extern void cudal1_child_signal(Cudal1Child *child, int number);

/* SIGKILL, and collected when this returns, unless the kernel itself holds on to it */
extern void cudal1_child_kill(Cudal1Child *child);

/* gives back the memory of a child that is gone */
extern void cudal1_child_free(Cudal1Child *child);

/* how it ended, in words; valid until the next call */
extern const char *cudal1_child_ending(const Cudal1Child *child);

#endif							/* CUDAL1_SUPERVISE_CHILD_H */
