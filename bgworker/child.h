/*
 * A child program: started apart from everything that is the server's, spoken to through three pipes, never waited for.
 *
 * The owner polls it whenever the shared epoll descriptor is readable; each complete line of standard output goes to
 * on_line. Standard error goes to the server's log, a limited number of lines in a time.
 */
#ifndef CUDAL1_CHILD_H
#define CUDAL1_CHILD_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* the longest line that standard output may carry (a result) */
#define CUDAL1_MAX_LINE (1024 * 1024)

typedef struct Cudal1Child Cudal1Child;

/* line is NUL-terminated; it may hold other NULs, so length counts */
typedef void (*cudal1_line_callback) (void *owner, char *line, int length);

struct Cudal1Child
{
	MemoryContext context;		/* of the lines and the input */
	char		label[64];		/* begins its lines in the server's log */
	int			pid;			/* 0 after it was reaped */
	int			pidfd;
	int			in;				/* -1 once closed */
	int			out;
	int			err;
	char	   *input;
	int			input_length;
	int			input_sent;
	int			input_room;
	bool		input_open;		/* more may be sent: not closed when all is sent */
	bool		input_watched;
	int			max_line;		/* 0: CUDAL1_MAX_LINE */
	StringInfoData out_line;
	StringInfoData err_line;
	uint64		out_bytes;
	bool		overlong;		/* wrote a line above its limit */
	bool		closed;			/* has closed its standard output */
	int			status;			/* as of waitpid, once reaped */
	bool		gone;			/* ended and read to the end */
	int64		log_window;		/* rate limit of standard error */
	int			log_lines;
	int			log_dropped;
	cudal1_line_callback on_line;
	void	   *owner;
};

/* milliseconds of a clock that never goes back: the one door for time in the workers */
extern int64 cudal1_clock_ms(void);

/* the descriptor to wait for; becomes readable when any child wants attention */
extern int	cudal1_children_epoll(void);

/* orphans of children become children of this process; collect takes those that have ended out of the process table */
extern void cudal1_children_adopt(void);
extern void cudal1_children_collect(void);

/*
 * Starts argv[0] with exactly these arguments and the clean environment of a child, to which
 * variables of the server's are added whose names begin with pass, if that is not NULL; input (copied) goes to its standard
 * input, which is then closed. Returns false with a reason in *problem (palloc'd) when it could not be started.
 */
extern bool cudal1_child_start(Cudal1Child *child, const char *label, char **argv, const char *scratch, const char *pass,
							   const char *input, int input_length,
							   cudal1_line_callback on_line, void *owner, char **problem);

/* from the start on for a child with more than one message: its standard input stays open for cudal1_child_send */
extern void cudal1_child_keep_input(Cudal1Child *child);
extern void cudal1_child_send(Cudal1Child *child, const char *data, int length);

/* closes standard input once all is sent */
extern void cudal1_child_end_input(Cudal1Child *child);

/* moves what can be moved without waiting; sets child->gone at the end */
extern void cudal1_child_poll(Cudal1Child *child);

extern void cudal1_child_signal(Cudal1Child *child, int signal);

/* SIGKILL, and collected when this returns, unless the kernel itself holds on to it */
extern void cudal1_child_kill(Cudal1Child *child);

/* forgets a child that is gone */
extern void cudal1_child_free(Cudal1Child *child);

/* how it ended, in words, palloc'd */
extern char *cudal1_child_ending(const Cudal1Child *child);

extern bool cudal1_child_is_running(const Cudal1Child *child);

#endif							/* CUDAL1_CHILD_H */
