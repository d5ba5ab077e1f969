/*
 * The shared memory of launcher and workers: one slot a listed database, plain values only.
 *
 * No pointer, descriptor or latch of one process lies here: whoever dies can leave nothing behind that another would
 * follow. A latch is found by the process number, and setting a stranger's latch by mistake only makes him look around.
 */
#ifndef CUDAL1_SHARED_H
#define CUDAL1_SHARED_H

#include "postgres.h"

#include "utils/timestamp.h"

#define CUDAL1_MAX_DATABASES 64
#define CUDAL1_NOTE_SIZE 160

/* a copy of a slot, for whoever only reads */
typedef struct Cudal1SlotView
{
	char		name[NAMEDATALEN];
	Oid			database;
	int			pid;
	TimestampTz since;
	char		note[CUDAL1_NOTE_SIZE];
} Cudal1SlotView;

extern void cudal1_shared_init(void);

/* readers */
extern int	cudal1_shared_slots(Cudal1SlotView *views, int size);

/* launcher */
extern void cudal1_launcher_attach(void);
extern void cudal1_launcher_wake(void);

typedef struct Cudal1Listed
{
	char		name[NAMEDATALEN];
	Oid			database;		/* InvalidOid: there is none of this name */
	bool		connectable;
} Cudal1Listed;

/* brings the slots in line with the list; fills start[] with databases to start a worker for, returns their number */
extern int	cudal1_launcher_reconcile(const Cudal1Listed *listed, int nlisted, Oid *start, long *next_ms);
extern void cudal1_launcher_start_failed(Oid database, const char *note);

/* worker of a database */
extern bool cudal1_slot_attach(Oid database);
extern bool cudal1_slot_must_leave(void);
extern void cudal1_slot_note(const char *format,...) pg_attribute_printf(1, 2);

/* any backend */
extern void cudal1_shared_wake_worker(Oid database);
extern void cudal1_shared_wake_waiters(void);
extern bool cudal1_shared_agents_idle(Oid database);
extern void cudal1_shared_announce_agent(Oid database, TimestampTz until);

/* sends the database's worker away and keeps it away until release_hold (or this backend's end) */
extern void cudal1_shared_hold(Oid database);
extern void cudal1_shared_release_hold(void);

#endif							/* CUDAL1_SHARED_H */
