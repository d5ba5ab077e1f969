/*
 * shared.h
 *		The shared memory of launcher, workers and sessions: one slot for each listed database.
 *
 * The slots hold plain values only, no pointer, descriptor or latch, so a process that dies leaves
 * nothing behind that another would follow.  A process finds the latch of another by its number.
 * If the number belongs to a new process meanwhile, setting its latch makes it look once in vain.
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

/*
 * Makes the slots agree with the list.  Fills start[] with the databases that need a worker now,
 * and returns their number.
 */
extern int	cudal1_launcher_reconcile(const Cudal1Listed *listed, int nlisted, Oid *start,
									  long *next_ms);
extern void cudal1_launcher_start_failed(Oid database, const char *note);

/* worker of a database */
extern bool cudal1_slot_attach(Oid database);
extern bool cudal1_slot_must_leave(void);
extern void cudal1_slot_note(const char *format,...) pg_attribute_printf(1, 2);

/* any backend */
extern void cudal1_shared_wake_worker(Oid database);
extern void cudal1_shared_wake_waiters(void);

/*
 * Waiting for a verdict: prepare, then look, then sleep, and look again after each return.  A
 * commit between the look and the sleep ends the sleep at once.
 *
 *		cudal1_waiters_prepare(); while (!everything_is_final() && left > 0)
 *		cudal1_waiters_sleep(left); cudal1_waiters_cancel();
 *
 * cudal1_waiters_sleep() sleeps at most timeout_ms milliseconds (1 or more), and may return sooner
 * for no reason; without preloading it is a plain sleep of at most 100 ms.  It serves interrupts:
 * a cancelled query raises an error.  cudal1_waiters_cancel() is safe at any time, and an aborted
 * transaction cancels by itself.
 */
extern void cudal1_waiters_prepare(void);
extern void cudal1_waiters_sleep(long timeout_ms);
extern void cudal1_waiters_cancel(void);

#endif							/* CUDAL1_SHARED_H */
