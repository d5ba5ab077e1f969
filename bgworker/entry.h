/*
 * entry.h
 *		The entry points of the queue (docs/protocol.md, section 1) as C functions of the worker.
 *
 * Each call is one short transaction.  None of them raises an error: a failed call is rolled back
 * and logged, and its result tells the caller, which decides when to call again.
 */
#ifndef CUDAL1_ENTRY_H
#define CUDAL1_ENTRY_H

#include "postgres.h"

#include "supervise/queue.h"

/* fixes the settings of the worker's session; called once after connecting */
extern void cudal1_entry_prepare_session(void);

/*
 * Looks the extension up again; GONE while there is none.  All calls below return GONE until this
 * has returned DONE.
 */
extern Cudal1Call cudal1_entry_find_extension(void);

/* run and problem of the worker's Cudal1Queue */
extern Cudal1Call cudal1_entry_run(const char *query, int n, const char *const *arguments,
								   char **columns, int ncolumns);
extern const char *cudal1_entry_problem(void);

/* whether the extension is still the one that was found */
extern Cudal1Call cudal1_entry_still_there(void);

extern Cudal1Call cudal1_entry_take_back(const char *server, const char *worker, int64 *taken);
extern Cudal1Call cudal1_entry_expire_leases(void);

/*
 * Requests to language models (sql/72-models.sql).  Lines are in the protocol of cudal1-generate,
 * to be freed; NULL: none.
 */
extern Cudal1Call cudal1_entry_requests_claim(const char *worker, int most, char **jobs);

/* left_over: the answers whose requests a session is changing, which must be offered again */
extern Cudal1Call cudal1_entry_requests_store(const char *answers, char **stored, char **left_over);
extern Cudal1Call cudal1_entry_requests_hold(const char *worker, char **cancels);
extern Cudal1Call cudal1_entry_requests_release(const char *worker, bool lost);

/* milliseconds until a waiting request may be sent, -1 when none waits */
extern Cudal1Call cudal1_entry_requests_next(int64 *next_ms);

/* make candidates of answers, and advance campaigns; *steps: how many steps were made */
extern Cudal1Call cudal1_entry_requests_take(int64 *steps);
extern Cudal1Call cudal1_entry_campaigns_advance(int64 *steps);

/* the oid of the extension that was found; InvalidOid while there is none */
extern Oid	cudal1_entry_extension(void);

/* read by the worker's signal handlers: only a call has a lock wait to end */
extern volatile bool cudal1_entry_in_call;

#endif							/* CUDAL1_ENTRY_H */
