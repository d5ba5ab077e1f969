/*
 * queue.h
 *		The entry points of the queue (docs/protocol.md, section 1), as worker and agent call them.
 *
 * Worker and agent differ in the functions of a Cudal1Queue: how a query is run.  None of these
 * functions may raise an error.
 */
#ifndef CUDAL1_SUPERVISE_QUEUE_H
#define CUDAL1_SUPERVISE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

typedef struct Cudal1Queue
{
	/*
	 * Runs one query in a transaction of its own.  The n arguments are texts in UTF-8 or NULL,
	 * which the query casts.  columns: those of the first row, to be freed; NULL without a row.
	 */
	Cudal1Call	(*run) (const char *query, int n, const char *const *arguments, char **columns,
						int ncolumns);
	/* why the last call failed, valid until the next; NULL where that is not known */
	const char *(*problem) (void);
	bool		(*connected) (void);
	const int  *lease_seconds;	/* after which a claim without a sign of life goes to another */
} Cudal1Queue;

/* set by the host before any other call */
extern const Cudal1Queue *cudal1_queue;

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

#endif							/* CUDAL1_SUPERVISE_QUEUE_H */
