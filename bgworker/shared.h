/*
 * shared.h
 *		The shared memory of launcher, workers and sessions: one slot for each listed database.
 *
 * The slots hold plain values, and of a process its latch, which stays where it is when the process
 * dies.  If it belongs to a new process meanwhile, setting it makes that one look once in vain.
 *
 * What any backend calls works without shared_preload_libraries, too.  Waking does nothing then.
 */
#ifndef CUDAL1_SHARED_H
#define CUDAL1_SHARED_H

#include "postgres.h"

#include "utils/timestamp.h"

#define CUDAL1_MAX_DATABASES 64
#define CUDAL1_NOTE_SIZE 160

extern void cudal1_shared_init(void);

/* whether this server preloaded the library, so that shared memory and workers exist */
extern bool cudal1_is_preloaded(void);

/* milliseconds from so many failures in a row to the next try */
static inline long
cudal1_backoff_ms(int failures)
{
	return Min(60000, 500L << Min(failures, 10));
}

/* launcher */
extern void cudal1_launcher_attach(void);

typedef struct Cudal1Listed
{
	char		name[NAMEDATALEN];
	Oid			database;		/* InvalidOid: no database has this name */
	bool		connectable;
} Cudal1Listed;

/* Makes slots agree with the list, and starts missing workers; milliseconds to the next look. */
extern long cudal1_launcher_reconcile(const Cudal1Listed *listed, int nlisted,
									  bool (*start) (Oid database));

/* worker of a database */
extern bool cudal1_slot_attach(Oid database);
extern bool cudal1_slot_must_leave(void);
extern void cudal1_slot_note(const char *format,...) pg_attribute_printf(1, 2);

/* any backend */
extern void cudal1_shared_wake_worker(Oid database);
extern void cudal1_shared_wake_waiters(void);
/*
 * Sleeps until cudal1_shared_wake_waiters() is called, at most timeout_ms milliseconds, and may
 * return sooner for no reason.  The first call returns at once, and from then on what wakes before
 * the next call ends that one at once.  So a caller looks after each return, and misses nothing.
 * Without preloading it is a plain sleep of at most 100 ms.
 */
extern void cudal1_shared_sleep(long timeout_ms);

#endif							/* CUDAL1_SHARED_H */
