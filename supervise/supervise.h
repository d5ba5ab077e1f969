/*
 * supervise.h
 *		The work that a server's worker and an agent share, see README.md.
 *
 * All times are in milliseconds.
 */
#ifndef CUDAL1_SUPERVISE_H
#define CUDAL1_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "src/buffer.h"

/*
 * child.c: a child program, isolated from everything its host holds, on three pipes.
 *
 * The host polls a child whenever the shared epoll descriptor is readable; no call waits for a
 * child.  Each complete line of the child's standard output goes to on_line.  Its standard error
 * goes to the host's log, a limited number of lines.
 */

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
	bool		input;			/* cudal1_child_send gives it some; else it has none */
	Cudal1OnLine on_line;
	void	   *owner;
} Cudal1Program;

/* writes a line for operators; set by cudal1_children_prepare */
extern void (*cudal1_log) (const char *format,...) __attribute__((format(printf, 1, 2)));

/* why the last start of a child or call of the queue that failed did so, in words */
extern char cudal1_problem[2048];

/* milliseconds of a clock that never goes back: worker and agent measure all intervals by it */
extern int64_t cudal1_clock_ms(void);

/*
 * Before any other call: orphans of children become children of this process.  False where it can't
 * wait for children; errno says why.
 */
extern bool cudal1_children_prepare(void (*log) (const char *format,...));

/* readable when any child needs a poll */
extern int	cudal1_children_epoll;

/* removes orphans that have ended from the process table */
extern void cudal1_children_collect(void);

/* false: nothing is left of the child, and cudal1_problem says why */
extern bool cudal1_child_start(Cudal1Child *child, const Cudal1Program *program);

/* last: nothing follows, and its standard input ends behind this */
extern void cudal1_child_send(Cudal1Child *child, const char *data, size_t length, bool last);

/* reads and writes what is possible without waiting; sets child->gone once the child has ended */
extern void cudal1_child_poll(Cudal1Child *child);

extern void cudal1_child_signal(Cudal1Child *child, int number);

/* Frees a child, which is killed and collected before, unless the kernel keeps it from ending. */
extern void cudal1_child_end(Cudal1Child *child);

/* how the child ended, in words; valid until the next call */
extern const char *cudal1_child_ending(const Cudal1Child *child);

/* queue.c: the queue's entry points (docs/protocol.md, section 1), as worker and agent call them */

typedef enum Cudal1Call
{
	CUDAL1_CALL_DONE,
	CUDAL1_CALL_GONE,			/* worker: the extension is gone, or another one */
	CUDAL1_CALL_CUT,			/* agent: no connection; the call may have taken effect or not */
	/* worth another try: lock timeout, deadlock, resources, cancelled */
	CUDAL1_CALL_TRANSIENT,
	CUDAL1_CALL_FAILED			/* another try would fail, too */
} Cudal1Call;

typedef struct Cudal1Claim
{
	int64_t		job_id;
	int			attempt;
} Cudal1Claim;

/* jobs that were claimed together, for one child */
#define CUDAL1_MAX_HEAT 32
typedef struct Cudal1Heat
{
	int			n;				/* 0: nothing to do */
	Cudal1Claim claims[CUDAL1_MAX_HEAT];
	char	   *job;			/* UTF-8; to be freed */
	int			limit_seconds;	/* of the profile; waiting for the device does not count */
} Cudal1Heat;

/* to a report on a claim */
typedef enum Cudal1Answer
{
	CUDAL1_ANSWER_CONTINUE,
	CUDAL1_ANSWER_CANCEL,
	CUDAL1_ANSWER_LOST,			/* another has the job */
	CUDAL1_ANSWER_STORED,
	CUDAL1_ANSWER_LATER			/* a session's open transaction is changing the job */
} Cudal1Answer;

/*
 * These are the host's.  cudal1_queue_run runs one query in a transaction of its own.  The n
 * arguments are texts in UTF-8 or NULL, which the query casts.  columns: those of the first row, to
 * be freed; NULL without a row.
 */
extern Cudal1Call cudal1_queue_run(const char *query, int n, const char *const *arguments,
								   char **columns, int ncolumns);
/* after which a claim without a sign of life goes to another */
extern int	cudal1_lease_seconds;
/* false while an agent has no connection, so that no call is made */
extern bool cudal1_connected;

/* what a call comes to that failed with this SQLSTATE */
static inline Cudal1Call
cudal1_queue_failed(const char *state)
{
	/* the last four: functions are missing while the extension is dropped, created or upgraded */
	static const char *const transient[] = {"08", "25", "40", "53", "55", "57", "58", "42883",
		"3F000", "42P01", "42704"};

	for (size_t i = 0; i < sizeof(transient) / sizeof(transient[0]); i++)
		if (strncmp(state, transient[i], strlen(transient[i])) == 0)
			return CUDAL1_CALL_TRANSIENT;
	return CUDAL1_CALL_FAILED;
}

/* an argument of a query */
typedef char Cudal1Number[24];
extern const char *cudal1_queue_text(Cudal1Number text, int64_t number);

/* a query that answers with a number; 0 where it does not */
extern Cudal1Call cudal1_queue_number(const char *query, int n, const char *const *arguments,
									  int64_t *number);

/* line: what cudal1-measure says of the device; *device_id: 0 unless DONE */
extern Cudal1Call cudal1_queue_register(const char *host, const char *line, int64_t *device_id);
extern Cudal1Call cudal1_queue_claim(int64_t device_id, const char *worker, Cudal1Heat *heat);

/* progress: a JSON document in UTF-8, or NULL; *answer: when DONE */
extern Cudal1Call cudal1_queue_heartbeat(const Cudal1Claim *claim, const char *progress,
										 Cudal1Answer *answer);
/* result: a JSON document in UTF-8, or NULL and what stands in its place; *answer: when DONE */
extern Cudal1Call cudal1_queue_finish(const Cudal1Claim *claim, const char *result,
									  const char *outcome, const char *detail,
									  Cudal1Answer *answer);
extern Cudal1Call cudal1_queue_release(const Cudal1Claim *claim);

/* jobs.c: the jobs that a host measures, from a claim to its verdict, a child each */

/* bytes of the longest progress line that is sent */
#define CUDAL1_MAX_PROGRESS (16 * 1024)

/* Makes the command line of cudal1-measure; `option` and `python` may be NULL. */
#define CUDAL1_COMMAND_WORDS 8
extern void cudal1_jobs_command(char **argv, const char *measure, const char *option,
								bool unsandboxed, const char *scratch, const char *python);

/*
 * Starts the child of jobs that were claimed together.  False: that failed, the claims are given
 * back, and cudal1_problem says why.
 */
extern bool cudal1_jobs_begin(void *device, const Cudal1Heat *claimed, char **argv,
							  const char *scratch, int grace_seconds);

/* polls the children, and makes the calls of the queue that are due; *ended: how many jobs ended */
extern Cudal1Call cudal1_jobs_poll(int *ended);

/* milliseconds until the next poll is due even if nothing happens */
extern int64_t cudal1_jobs_next_ms(void);

extern int	cudal1_jobs_count(void);
/* whether the program of a job has not ended */
extern bool cudal1_jobs_measuring(void);
/* groups of jobs; none whose verdicts wait for sessions, because its device is free */
extern int	cudal1_jobs_on_device(const void *device);

/* ends all children and reports nothing */
extern void cudal1_jobs_drop(void);

/* ends all children, stores the results at hand, gives the other claims back */
extern void cudal1_jobs_leave(int grace_ms);

#endif							/* CUDAL1_SUPERVISE_H */
