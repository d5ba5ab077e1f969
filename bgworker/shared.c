/*
 * shared.c
 *		The shared memory of launcher, workers and the sessions that wake them.
 *
 * One lock guards all of it, because it is seldom held: the launcher takes it every few seconds,
 * workers at their start and end, and a submitting session takes it shared while it searches at
 * most 64 slots.  The condition variable of waiting sessions has its own spinlock.
 *
 * When a signal kills a worker, the server goes through crash recovery, which initialises this
 * memory again.  So no slot has to be cleaned after a process that could not clean it itself.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/builtins.h"

#include "compat.h"
#include "shared.h"

PG_FUNCTION_INFO_V1(cudal1_worker_state);
PG_FUNCTION_INFO_V1(cudal1_preloaded);

#define TRANCHE "cudal1"

/* how long the launcher sleeps when nothing wakes it, and while a worker is missing */
#define NAP_MS 5000
#define MISSING_NAP_MS 500
/* a worker that has not attached after this time is started again */
#define START_TIMEOUT_MS 30000
/* a worker that ends after more than this time has not failed at its start */
#define HEALTHY_MS 30000

typedef struct Slot
{
	char		name[NAMEDATALEN];	/* empty: the slot is free */
	bool		listed;
	bool		wanted;			/* the database exists and accepts connections */
	Oid			database;
	int			pid;			/* 0: no worker */
	Latch	   *latch;			/* of the worker */
	int			failures;		/* failed starts in a row */
	TimestampTz since;
	TimestampTz launched_at;	/* 0: no start is under way */
	TimestampTz not_before;
	char		note[CUDAL1_NOTE_SIZE];
} Slot;

typedef struct Shared
{
	LWLock	   *lock;
	ConditionVariable waiters;
	Latch	   *launcher;		/* NULL: there is none */
	Slot		slots[CUDAL1_MAX_DATABASES];
} Shared;

static Shared *shared = NULL;
static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

static int	my_slot = -1;

static void
shared_request(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(MAXALIGN(sizeof(Shared)));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

static void
shared_startup(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();

	/* reset in case this is a restart within the postmaster */
	shared = NULL;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("cudal1 workers", sizeof(Shared), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(Shared));
		shared->lock = &GetNamedLWLockTranche(TRANCHE)->lock;
		ConditionVariableInit(&shared->waiters);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
cudal1_shared_init(void)
{
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = shared_request;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = shared_startup;
}

bool
cudal1_is_preloaded(void)
{
	return shared != NULL;
}

/* caller holds the lock; NULL when the database has no slot */
static Slot *
find_slot(Oid database)
{
	for (int i = 0; i < CUDAL1_MAX_DATABASES; i++)
	{
		Slot	   *slot = &shared->slots[i];

		if (slot->name[0] != '\0' && slot->database == database)
			return slot;
	}
	return NULL;
}

/* ---- SQL ---- */

/* cudal1.worker_state() RETURNS TABLE (database text, pid int, since timestamptz, note text) */
Datum
cudal1_worker_state(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Slot	   *slots = palloc0(sizeof(shared->slots));

	InitMaterializedSRF(fcinfo, 0);
	if (shared != NULL)
	{
		LWLockAcquire(shared->lock, LW_SHARED);
		memcpy(slots, shared->slots, sizeof(shared->slots));
		LWLockRelease(shared->lock);
	}
	for (int i = 0; i < CUDAL1_MAX_DATABASES; i++)
	{
		Datum		values[] = {CStringGetTextDatum(slots[i].name), Int32GetDatum(slots[i].pid),
			TimestampTzGetDatum(slots[i].since), CStringGetTextDatum(slots[i].note)};
		bool		nulls[] = {false, slots[i].pid == 0, slots[i].since == 0, false};

		if (slots[i].name[0] != '\0')
			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* cudal1.preloaded() RETURNS boolean */
Datum
cudal1_preloaded(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(cudal1_is_preloaded());
}

/* ---- launcher ---- */

static void
launcher_detach(int code, Datum arg)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (shared->launcher == &MyProc->procLatch)
		shared->launcher = NULL;
	LWLockRelease(shared->lock);
}

void
cudal1_launcher_attach(void)
{
	before_shmem_exit(launcher_detach, (Datum) 0);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->launcher = &MyProc->procLatch;
	LWLockRelease(shared->lock);
}

/* the slot of a listed database, which is made if need be; NULL if all slots are taken */
static Slot *
slot_of(const char *name)
{
	Slot	   *empty = NULL;

	for (int i = 0; i < CUDAL1_MAX_DATABASES; i++)
	{
		if (strcmp(shared->slots[i].name, name) == 0)
			return &shared->slots[i];
		if (empty == NULL && shared->slots[i].name[0] == '\0')
			empty = &shared->slots[i];
	}
	if (empty != NULL)
	{
		memset(empty, 0, sizeof(Slot));
		strlcpy(empty->name, name, NAMEDATALEN);
	}
	return empty;
}

/* makes the slots agree with the list; caller holds the lock exclusively */
static void
adopt_list(const Cudal1Listed *listed, int nlisted)
{
	for (int i = 0; i < CUDAL1_MAX_DATABASES; i++)
		shared->slots[i].listed = false;

	for (int l = 0; l < nlisted; l++)
	{
		Slot	   *slot = slot_of(listed[l].name);

		/* workers of databases that are no longer listed still leave: the next look finds room */
		if (slot == NULL)
			continue;
		slot->listed = true;
		slot->wanted = OidIsValid(listed[l].database) && listed[l].connectable;
		if (slot->database != listed[l].database)
		{
			/* another database has the name now; a worker of the former one leaves first */
			if (slot->pid != 0)
			{
				slot->listed = false;
				continue;
			}
			slot->database = listed[l].database;
			slot->failures = 0;
			slot->launched_at = 0;
			slot->not_before = 0;
		}
		if (slot->pid != 0)
			continue;
		if (!OidIsValid(listed[l].database))
			strlcpy(slot->note, "there is no such database", CUDAL1_NOTE_SIZE);
		else if (!listed[l].connectable)
			strlcpy(slot->note, "the database does not accept connections", CUDAL1_NOTE_SIZE);
	}
}

/* whether to start a worker now */
static bool
is_start_due(Slot *slot, TimestampTz now)
{
	if (slot->launched_at != 0)
	{
		if (!TimestampDifferenceExceeds(slot->launched_at, now, START_TIMEOUT_MS))
			return false;
		slot->failures++;
	}
	return slot->not_before <= now;
}

/* a worker of the slot has ended, or did not start; failures: in a row */
static void
back_off(Slot *slot, int failures, const char *note)
{
	slot->failures = failures;
	slot->launched_at = 0;
	slot->not_before = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
												   cudal1_backoff_ms(failures));
	strlcpy(slot->note, note, CUDAL1_NOTE_SIZE);
}

long
cudal1_launcher_reconcile(const Cudal1Listed *listed, int nlisted, bool (*start) (Oid database))
{
	TimestampTz now = GetCurrentTimestamp();
	long		next_ms = NAP_MS;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	adopt_list(listed, nlisted);
	for (int i = 0; i < CUDAL1_MAX_DATABASES; i++)
	{
		Slot	   *slot = &shared->slots[i];

		if (slot->name[0] == '\0')
			continue;
		if (!slot->listed)
		{
			/* free once its worker has left */
			if (slot->pid == 0 &&
				(slot->launched_at == 0 ||
				 TimestampDifferenceExceeds(slot->launched_at, now, START_TIMEOUT_MS)))
				memset(slot, 0, sizeof(Slot));
			continue;
		}
		if (slot->pid != 0 || !slot->wanted)
			continue;
		next_ms = MISSING_NAP_MS;
		if (!is_start_due(slot, now))
			continue;
		slot->launched_at = now;
		strlcpy(slot->note, "starting", CUDAL1_NOTE_SIZE);
		if (!start(slot->database))
			back_off(slot, slot->failures + 1,
					 "no background worker is free: raise max_worker_processes");
	}
	LWLockRelease(shared->lock);
	return next_ms;
}

/* ---- worker ---- */

/* runs at every end but a crash, before the process leaves the process array */
static void
slot_detach(int code, Datum arg)
{
	TimestampTz now = GetCurrentTimestamp();
	Slot	   *slot;

	if (my_slot < 0)
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	slot = &shared->slots[my_slot];
	if (slot->pid == MyProcPid)
	{
		bool		healthy = TimestampDifferenceExceeds(slot->since, now, HEALTHY_MS);

		/* a worker that left, without an error, is started again at once */
		slot->pid = 0;
		back_off(slot, healthy || code == 0 ? 0 : slot->failures + 1,
				 "ended, will be started again");
		if (code == 0)
			slot->not_before = 0;
		slot->since = now;
	}
	my_slot = -1;
	if (shared->launcher != NULL)
		SetLatch(shared->launcher);
	LWLockRelease(shared->lock);
}

/* false if the database is not listed, or has a worker already */
bool
cudal1_slot_attach(Oid database)
{
	Slot	   *slot;
	bool		attached = false;

	before_shmem_exit(slot_detach, (Datum) 0);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	slot = find_slot(database);
	if (slot != NULL && slot->pid == 0)
	{
		if (!slot->listed)
			slot->launched_at = 0;
		else
		{
			my_slot = slot - shared->slots;
			slot->pid = MyProcPid;
			slot->latch = &MyProc->procLatch;
			slot->since = GetCurrentTimestamp();
			slot->launched_at = 0;
			strlcpy(slot->note, "connecting", CUDAL1_NOTE_SIZE);
			attached = true;
		}
	}
	LWLockRelease(shared->lock);
	return attached;
}

bool
cudal1_slot_must_leave(void)
{
	bool		listed;

	LWLockAcquire(shared->lock, LW_SHARED);
	listed = shared->slots[my_slot].listed;
	LWLockRelease(shared->lock);
	return !listed;
}

void
cudal1_slot_note(const char *format,...)
{
	static char last[CUDAL1_NOTE_SIZE] = "";
	char		note[CUDAL1_NOTE_SIZE];
	va_list		args;

	va_start(args, format);
	vsnprintf(note, sizeof(note), format, args);
	va_end(args);
	if (my_slot < 0 || strcmp(note, last) == 0)
		return;
	strlcpy(last, note, sizeof(last));
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	strlcpy(shared->slots[my_slot].note, note, CUDAL1_NOTE_SIZE);
	LWLockRelease(shared->lock);
}

/* ---- any backend ---- */

void
cudal1_shared_wake_worker(Oid database)
{
	Slot	   *slot;

	if (shared == NULL)
		return;
	LWLockAcquire(shared->lock, LW_SHARED);
	slot = find_slot(database);
	if (slot != NULL && slot->pid != 0)
		SetLatch(slot->latch);
	LWLockRelease(shared->lock);
}

/* ---- waiters ---- */

void
cudal1_shared_wake_waiters(void)
{
	if (shared != NULL)
		ConditionVariableBroadcast(&shared->waiters);
}

void
cudal1_shared_sleep(long timeout_ms)
{
	static uint32 event = 0;

	if (shared != NULL)
	{
		(void) ConditionVariableTimedSleep(&shared->waiters, Max(1, timeout_ms),
										   cudal1_wait_event(&event, "Cudal1Verdict"));
		return;
	}
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Max(1, Min(timeout_ms, 100)), cudal1_wait_event(&event, "Cudal1Verdict"));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}
