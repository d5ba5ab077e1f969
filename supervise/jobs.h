/*
 * jobs.h
 *		The jobs that a worker or an agent measures: from a claim to its verdict, each with its child program.
 *
 * What differs between worker and agent is a Cudal1Queue: how the queue is called, and whether results are kept on disk.
 * None of its calls may raise an error. All times are in milliseconds.
 */
#ifndef CUDAL1_SUPERVISE_JOBS_H
#define CUDAL1_SUPERVISE_JOBS_H

#include "child.h"

typedef enum Cudal1Call
{
	CUDAL1_CALL_DONE,
	CUDAL1_CALL_GONE,			/* worker: the extension is not there, or not the one that was there before */
	CUDAL1_CALL_CUT,			/* agent: no connection; it may have happened or not */
	CUDAL1_CALL_TRANSIENT,		/* worth another try: lock timeout, deadlock, resources, cancelled */
	CUDAL1_CALL_LATER,			/* finish: a session is changing the job just now, in a transaction that may stay open */
	CUDAL1_CALL_FAILED			/* the same call would fail again */
} Cudal1Call;

typedef enum Cudal1Verdict
{
	CUDAL1_VERDICT_CONTINUE,
	CUDAL1_VERDICT_CANCEL,
	CUDAL1_VERDICT_LOST
} Cudal1Verdict;

#define CUDAL1_MAX_TOKEN 128

typedef struct Cudal1Claim
{
	int64_t		job_id;			/* 0: nothing to do */
	int			attempt;
	char		token[CUDAL1_MAX_TOKEN + 1];	/* every report on the claim shows it */
	char	   *job;			/* UTF-8; the caller's memory */
	int			limit_seconds;	/* how long the profile lets it take, apart from waiting for the device */
} Cudal1Claim;

typedef struct Cudal1Message
{
	enum
	{
		CUDAL1_MESSAGE_INVALID, /* no JSON object in UTF-8, or one without a type we know */
		CUDAL1_MESSAGE_PROGRESS,
		CUDAL1_MESSAGE_RESULT
	}			type;
	bool		waiting;		/* a progress line: another measurement holds the device */
	bool		cancelled;		/* a result: the program was told to stop */
} Cudal1Message;

/* the longest progress line that is passed on, and the longest detail that is made here, in bytes */
#define CUDAL1_MAX_PROGRESS (16 * 1024)
#define CUDAL1_MAX_DETAIL 2000

/* `device` in all calls: what cudal1_jobs_begin was given */
typedef struct Cudal1Queue
{
	bool		(*connected) (void);
	/* a third of the lease, in milliseconds */
	int64_t		(*quiet_beat) (void);
	Cudal1Message (*read) (char *line, size_t length);
	/* progress: a JSON document in UTF-8, or NULL */
	Cudal1Call	(*heartbeat) (void *device, const Cudal1Claim *claim, const char *progress, Cudal1Verdict *verdict);
	/* *problem says what was wrong with the result when FAILED; valid until the next call, or NULL */
	Cudal1Call	(*finish) (void *device, const Cudal1Claim *claim, const char *result, bool *stored, const char **problem);
	Cudal1Call	(*release) (void *device, const Cudal1Claim *claim);
	/* a result on disk before anything else knows of it, until it is settled; both NULL: not kept */
	void		(*keep) (void *device, const Cudal1Claim *claim, const char *result);
	void		(*settled) (void *device, const Cudal1Claim *claim);
} Cudal1Queue;

/* before anything else */
extern void cudal1_jobs_queue(const Cudal1Host *host, const Cudal1Queue *queue);

/* starts the child of a claimed job; false, with the claim given back and *problem valid until the next call, if that failed */
extern bool cudal1_jobs_begin(void *device, const Cudal1Claim *claim, char **argv, const char *scratch, int grace_seconds,
							  const char **problem);

/* polls the children, sends what is due to the queue. woken: a cancellation may wait. *ended: how many jobs ended */
extern Cudal1Call cudal1_jobs_turn(bool woken, int *ended);

/* milliseconds until a turn is due though nothing happens */
extern int64_t cudal1_jobs_next_ms(void);

extern int	cudal1_jobs_count(void);
/* those whose program has not ended */
extern int	cudal1_jobs_measuring(void);
/* those apart whose verdict waits for a session: their device is free */
extern int	cudal1_jobs_on_device(const void *device);

/* ends all children and reports nothing */
extern void cudal1_jobs_drop(void);

/* ends all children, stores results already at hand, gives the other claims back */
extern void cudal1_jobs_leave(int grace_ms);

#endif							/* CUDAL1_SUPERVISE_JOBS_H */
