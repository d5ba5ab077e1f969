/*
 * entry.h
 *		Calls of the worker to its database (docs/protocol.md, section 1).
 *
 * Each is one short transaction.  None of them raises an error: a failed call is rolled back
 * and logged, and its result tells the caller, which decides when to call again.
 */
#ifndef CUDAL1_ENTRY_H
#define CUDAL1_ENTRY_H

#include "postgres.h"

#include "supervise/queue.h"

/* fixes the settings of the worker's session, and prepares supervise/; once after connecting */
extern void cudal1_entry_prepare(void);

/*
 * Looks the extension up again; GONE while there is none.  All calls below return GONE until this
 * has returned DONE.
 */
extern Cudal1Call cudal1_entry_find_extension(void);

/* run and problem of the worker's Cudal1Queue */
extern Cudal1Call cudal1_entry_run(const char *query, int n, const char *const *arguments,
								   char **columns, int ncolumns);
extern const char *cudal1_entry_problem(void);

/* the oid of the extension that was found; InvalidOid while there is none */
extern Oid	cudal1_entry_extension(void);

/* read by the worker's signal handlers: only a call has a lock wait to end */
extern volatile bool cudal1_entry_in_call;

#endif							/* CUDAL1_ENTRY_H */
