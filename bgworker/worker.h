/*
 * worker.h
 *		What the parts of a worker offer each other.
 */
#ifndef CUDAL1_WORKER_H
#define CUDAL1_WORKER_H

#include "postgres.h"

#include "shared.h"
#include "supervise/supervise.h"

/*
 * entry.c: calls of the worker to its database (docs/protocol.md, section 1), each one short
 * transaction.  None of them raises an error: a failed call is rolled back and logged, and its
 * result tells the caller, which decides when to call again.
 */

/* fixes the settings of the worker's session, and prepares supervise/; once after connecting */
extern void cudal1_entry_prepare(void);

/* Looks the extension up again. All calls below return GONE until this has returned DONE. */
extern Cudal1Call cudal1_entry_find_extension(void);

/* the oid of the extension that was found; InvalidOid while there is none */
extern Oid	cudal1_extension;

/* notes a problem in words, and logs it once, not at each attempt */
extern void cudal1_note_problem(char problem[CUDAL1_NOTE_SIZE], const char *text);

/* read by the worker's signal handlers: only a call has a lock wait to end */
extern volatile bool cudal1_entry_in_call;

/* devices.c: the devices of this host, found by a search, registered in the database, given jobs */

/* searches for devices again, as soon as nothing is measured */
extern void cudal1_devices_look(void);

/* forgets all devices, because the extension is gone */
extern void cudal1_devices_drop(void);

/* ends a search that runs */
extern void cudal1_devices_stop(void);

/* advances a search, and refreshes the registrations; *ended: a search ended, so look for jobs */
extern Cudal1Call cudal1_devices_poll(bool *ended);

/* claims jobs for devices that have room; look: a job may have been queued since the last call */
extern Cudal1Call cudal1_devices_claim(const char *worker, bool look);

extern int	cudal1_devices_count;

/* why nothing can be measured; since when claims fail, and why the last one did; or empty */
extern char cudal1_devices_problem[CUDAL1_NOTE_SIZE];
extern char cudal1_devices_failure[CUDAL1_NOTE_SIZE];

/* generate.c: requests to language models, sent by one cudal1-generate */

/*
 * Stores answers, makes candidates of them, advances campaigns and sends requests.  look: something
 * may have changed in the database.
 */
extern Cudal1Call cudal1_generate_poll(const char *worker, bool look);

/* why requests that wait are not sent, in words; empty: they are, or none waits */
extern char cudal1_generate_problem[CUDAL1_NOTE_SIZE];

/* milliseconds until the next poll is due even if nothing happens, a second at most */
extern long cudal1_generate_next_ms(void);

/* ends the program and reports nothing: the extension is gone, or the worker ends by an error */
extern void cudal1_generate_drop(void);

/* ends the program, stores the answers at hand, gives the claims back */
extern void cudal1_generate_leave(const char *worker);

#endif							/* CUDAL1_WORKER_H */
