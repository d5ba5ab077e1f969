/*
 * agent.h
 *		cudal1-agent: the parts of the program that measures for a database without being its server.
 */
#ifndef CUDAL1_AGENT_H
#define CUDAL1_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_MAX_DEVICES	64
#define AGENT_MAX_NAME		512
/* the longest line that a measuring program may write (a result) */
#define AGENT_MAX_LINE		(1024 * 1024)

typedef struct
{
	const char *conninfo;
	const char *device;			/* a key, "cpu", "cuda" or "all" */
	const char *host;
	const char *measure;
	const char *python;			/* NULL: the measuring program's own choice */
	const char *scratch;
	const char *state;			/* folder of locks and results */
	int			prefetch;		/* claims ahead of the one that is measured */
	int			lease;			/* seconds */
	int			grace;			/* seconds beyond the limits of a job's profile */
	double		poll;			/* seconds between two looks at the queue when nothing wakes */
	double		until_idle;		/* leave after so long without work, below 0: never */
	double		patience;		/* seconds without a connection after which a pilot leaves */
	bool		once;
	bool		unsandboxed;
} AgentSettings;

extern AgentSettings agent_settings;

extern void agent_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* malloc or the end of the program */
extern void *agent_alloc(size_t size);
extern char *agent_copy(const char *text, size_t length);
extern char *agent_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* waits for the socket (-1: none), for signals, which it takes in, and if told so for children */
extern void agent_wait(int socket, short events, bool children, double until);

/* what signals asked for */
typedef enum
{
	AGENT_WORK,
	AGENT_DRAIN,				/* finish what runs, claim nothing */
	AGENT_LEAVE					/* give back what runs */
} AgentMode;

extern AgentMode agent_mode;

/* ---- agent_child.c: a program started apart from everything that is the agent's ---- */

typedef struct
{
	char	   *data;
	size_t		length;
	size_t		size;
} AgentText;

typedef struct AgentChild
{
	pid_t		pid;			/* 0 after it was collected */
	int			pidfd;
	int			in;				/* -1 once closed */
	int			out;
	int			err;
	char	   *input;
	size_t		input_length;
	size_t		input_sent;
	AgentText	line;
	AgentText	complaint;
	uint64_t	bytes;
	bool		overlong;
	bool		gone;			/* ended and read to the end */
	int			status;
	int			logged;
	char		label[64];
	void		(*on_line)(void *owner, char *line, size_t length);
	void	   *owner;
} AgentChild;

/* readable when any child wants attention */
extern int	child_descriptor(void);
extern void child_collect_orphans(void);
/* false, with the reason logged, when it could not be started; input may be NULL */
extern bool child_start(AgentChild *child, const char *label, char **argv, const char *input,
	void (*on_line)(void *, char *, size_t), void *owner);
extern void child_poll(AgentChild *child);
extern void child_signal(AgentChild *child, int number);
/* SIGKILL, collected when this returns unless the kernel holds on to it */
extern void child_kill(AgentChild *child);
extern void child_free(AgentChild *child);
extern char *child_ending(const AgentChild *child);

/* ---- agent_queue.c: the entry points of the queue over libpq ---- */

typedef enum
{
	CALL_DONE,
	CALL_CUT,					/* no connection: it may have happened or not */
	CALL_TRANSIENT,				/* worth another try */
	CALL_FAILED					/* the same call would fail again */
} AgentCall;

typedef struct
{
	int64_t		job_id;			/* 0: nothing to do */
	int			attempt;
	int			limit;			/* seconds the profile lets it take, apart from waiting for the device */
	char	   *job;
} AgentClaim;

typedef enum
{
	VERDICT_CONTINUE,
	VERDICT_CANCEL,
	VERDICT_LOST
} AgentVerdict;

/* true once connected; tries when it is time for another try, or at once */
extern bool queue_connect(bool at_once);
extern bool queue_connected(void);
extern double queue_retry_at(void);
extern void queue_close(void);
extern int	queue_socket(void);
/* whether something was notified since the last call */
extern bool queue_notified(void);
/* which database this is: server, database and extension; NULL before the first connection */
extern const char *queue_place(void);
extern const char *queue_problem(void);
/* whether the database's extension is of another version than we, so that nothing may be claimed; queue_problem() says it */
extern bool queue_mismatch(void);
extern void queue_check_version(void);
extern AgentCall queue_register(const char *line, int64_t *device_id);
extern AgentCall queue_take_back(const char *beginning, int64_t *taken);
extern AgentCall queue_announce_idle(double seconds);
extern AgentCall queue_claim(int64_t device_id, const char *worker, AgentClaim *claim);
extern AgentCall queue_heartbeat(int64_t job_id, int attempt, const char *progress, AgentVerdict *verdict);
extern AgentCall queue_finish(int64_t job_id, int attempt, const char *result, bool *stored);
extern AgentCall queue_release(int64_t job_id, int attempt);
extern AgentCall queue_expire_leases(void);

/* ---- agent_spool.c: results on disk until the database has them ---- */

typedef struct
{
	char	   *folder;
	int			lock;
	char		id[33];			/* of the folder: who holds its lock is the only one whose claims bear it */
} AgentSpool;

/* false, with the reason logged: another agent holds the folder of this device and database, or it can't be made */
extern bool spool_open(AgentSpool *spool, const char *device_key);
extern void spool_keep(const AgentSpool *spool, int64_t job_id, int attempt, const char *result);
extern void spool_drop(const AgentSpool *spool, int64_t job_id, int attempt);
/* hands over what is there; each is dropped that the callee says is settled. False: some are left */
extern bool spool_each(const AgentSpool *spool, bool (*settle)(int64_t job_id, int attempt, const char *result));

/* ---- agent_jobs.c: a claim from its begin to its verdict ---- */

typedef struct
{
	int64_t		device_id;		/* 0: not registered */
	char	   *key;
	char	   *line;
	AgentSpool	spool;
	char		name[AGENT_MAX_NAME];	/* the beginning of the names of its claims */
	bool		recovered;		/* what a former agent left was settled */
	int64_t		serial;			/* of the last claim */
	bool		unsettled;		/* the connection was cut during that claim */
	bool		empty;			/* the last claim found nothing */
	int			failures;
	double		retry_at;
	int			running;		/* claims begun and not ended */
	int64_t		claims;			/* begun since the start */
} AgentDevice;

/* ---- agent_devices.c: what of this host's devices is ours ---- */

/* fills key and line of at most AGENT_MAX_DEVICES devices; their number, 0 with the reason logged */
extern int	devices_find(AgentDevice *devices);

/* argv of the measuring program; free the array alone */
extern char **job_command(const char *option);
extern bool job_begin(AgentDevice *device, const AgentClaim *claim);
extern int	job_count(void);
/* those whose program has not ended */
extern int	job_measuring(void);
/* one look at every job; the number that ended. woken: heartbeats may be due sooner */
extern int	job_turn(bool woken);
extern double job_next(void);
/* ends all: results that are there are stored, other claims given back */
extern void job_leave(void);
/* ends all without a word to the database */
extern void job_abandon(void);

#endif							/* CUDAL1_AGENT_H */
