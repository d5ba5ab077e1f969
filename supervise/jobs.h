/*
 * jobs.h
 *		The jobs that a worker or an agent measures: from a claim to its verdict, a child each.
 *
 * Worker and agent differ in the functions of a Cudal1Queue: how the queue is called, and whether
 * results are kept on disk.  None of these functions may raise an error.  All times are in
 * milliseconds.
 */
#ifndef CUDAL1_SUPERVISE_JOBS_H
#define CUDAL1_SUPERVISE_JOBS_H

#include "child.h"

typedef enum Cudal1Call
{
	CUDAL1_CALL_DONE,
	CUDAL1_CALL_GONE,			/* worker: the extension is gone, or another one */
	CUDAL1_CALL_CUT,			/* agent: no connection; the call may have taken effect or not */
	/* worth another try: lock timeout, deadlock, resources, cancelled */
	CUDAL1_CALL_TRANSIENT,
	CUDAL1_CALL_FAILED			/* the same call would fail again */
} Cudal1Call;

typedef enum Cudal1Verdict
{
	CUDAL1_VERDICT_CONTINUE,
	CUDAL1_VERDICT_CANCEL,
	CUDAL1_VERDICT_LOST
} Cudal1Verdict;

/* bytes of the longest token of a claim */
#define CUDAL1_MAX_TOKEN 128

typedef struct Cudal1Claim
{
	int64_t		job_id;			/* 0: nothing to do */
	int			attempt;
	char		token[CUDAL1_MAX_TOKEN + 1];	/* every report on the claim shows it */
	char	   *job;			/* UTF-8; the caller's memory */
	/* those claimed with it, of which `job` tells, too: job_id, attempt, token of each; or NULL */
	char	   *mates;
	int			limit_seconds;	/* of the profile; waiting for the device does not count */
} Cudal1Claim;

/*
 * The query of a claim: a row of job_id, attempt, token, job, limit_seconds and mates, for a device
 * ($1), the name of the worker or agent ($2) and the seconds of the lease ($3).
 *
 * A measurement may take two or three builds (of the reference, the candidate, and the first call
 * of code that compiles itself), the window, checks and audits beside it, and some runs at their
 * limit.
 */
#define CUDAL1_CLAIM_QUERY \
	"WITH c AS MATERIALIZED (SELECT * FROM cudal1.claim($1, $2," \
	" pg_catalog.make_interval(secs => $3), 32)" \
	" WITH ORDINALITY AS x(job_id, attempt, token, job, n))" \
	" SELECT c.job_id, c.attempt, c.token, c.job," \
	" LEAST(1000000, (SELECT pg_catalog.count(*) FROM c AS m)" \
	" * pg_catalog.ceil(3 * COALESCE((p ->> 'build_seconds')::float8, 120)" \
	" + 2 * COALESCE((p ->> 'window_seconds')::float8, 1800)" \
	" + COALESCE((p ->> 'check_seconds')::float8, 3)" \
	" + COALESCE((p ->> 'audit_seconds')::float8, 1)" \
	" + 10 * COALESCE((p ->> 'run_limit_max')::float8, 30)))::int," \
	" (SELECT pg_catalog.string_agg(pg_catalog.format('%s %s %s', m.job_id, m.attempt, m.token)," \
	" ' ') FROM c AS m WHERE m.n > 1)" \
	" FROM c, LATERAL (SELECT c.job -> 'profile') AS x(p)" \
	" WHERE c.n = 1"

/* what a claim came to */
typedef struct Cudal1Report
{
	const Cudal1Claim *claim;
	const char *result;			/* a JSON document in UTF-8 */
	enum
	{
		CUDAL1_ANSWER_STORED,
		CUDAL1_ANSWER_LOST,		/* another has the job */
		CUDAL1_ANSWER_LATER		/* a session's open transaction is changing the job */
	}			answer;
} Cudal1Report;

typedef struct Cudal1Message
{
	enum
	{
		CUDAL1_MESSAGE_INVALID, /* no JSON object in UTF-8, or one of another type */
		CUDAL1_MESSAGE_PROGRESS,
		CUDAL1_MESSAGE_RESULT
	}			type;
	bool		waiting;		/* progress: another measurement holds the device */
	bool		cancelled;		/* result: the program was told to stop */
	int64_t		job_id;			/* which of several jobs it is about; 0: it does not say */
} Cudal1Message;

/* bytes of the longest progress line that is sent, and of the longest detail that is made here */
#define CUDAL1_MAX_PROGRESS (16 * 1024)
#define CUDAL1_MAX_DETAIL 2000

/* what the queue's heartbeat() answered */
extern Cudal1Verdict cudal1_verdict_of(const char *answer);

/* `device` in all calls is what cudal1_jobs_begin was given */
typedef struct Cudal1Queue
{
	bool		(*connected) (void);
	/* a third of the lease, in milliseconds */
	int64_t		(*quiet_beat) (void);
	Cudal1Message (*read) (char *line, size_t length);
	/* progress: a JSON document in UTF-8, or NULL */
	Cudal1Call	(*heartbeat) (void *device, const Cudal1Claim *claim, const char *progress,
							  Cudal1Verdict *verdict);
	/*
	 * All in one transaction.  answer of each is set when DONE; *problem says why a result was
	 * refused when FAILED; valid until the next call, or NULL.
	 */
	Cudal1Call	(*finish) (void *device, Cudal1Report *reports, int n, const char **problem);
	Cudal1Call	(*release) (void *device, const Cudal1Claim *claim);
	/* keep writes a result to disk before it is sent, forget removes it; both NULL: not kept */
	void		(*keep) (void *device, const Cudal1Claim *claim, const char *result);
	void		(*forget) (void *device, const Cudal1Claim *claim);
} Cudal1Queue;

/* called before any other function of this file */
extern void cudal1_jobs_queue(const Cudal1Host *host, const Cudal1Queue *queue);

/* what cudal1-measure is started with; `option`, `python`: NULL where there is none */
#define CUDAL1_COMMAND_WORDS 8
extern void cudal1_jobs_command(char **argv, const char *measure, const char *option,
								bool unsandboxed, const char *scratch, const char *python);

/*
 * Starts the child of a claimed job.  False: that failed, the claim is given back, and *problem
 * says why, valid until the next call.
 */
extern bool cudal1_jobs_begin(void *device, const Cudal1Claim *claim, char **argv,
							  const char *scratch, int grace_seconds, const char **problem);

/*
 * Polls the children, and makes the calls of the queue that are due.  woken: there may be a
 * cancellation to fetch.  *ended: how many jobs ended.
 */
extern Cudal1Call cudal1_jobs_poll(bool woken, int *ended);

/* milliseconds until the next poll is due even if nothing happens */
extern int64_t cudal1_jobs_next_ms(void);

extern int	cudal1_jobs_count(void);
/* jobs whose program has not ended */
extern int	cudal1_jobs_measuring(void);
/* without jobs whose verdict waits for a session, because their device is free */
extern int	cudal1_jobs_on_device(const void *device);

/* ends all children and reports nothing */
extern void cudal1_jobs_drop(void);

/* ends all children, stores the results at hand, gives the other claims back */
extern void cudal1_jobs_leave(int grace_ms);

#endif							/* CUDAL1_SUPERVISE_JOBS_H */
