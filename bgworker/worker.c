/*
 * worker.c
 *		The worker of one database.
 *
 * The worker waits in one place, for its latch and for its children, and then looks at everything
 * that may have changed.  A wake-up only makes it look sooner; nothing is lost if it misses one.
 * No transaction is open while it waits.
 *
 * Exit statuses: the postmaster restarts the whole server for any status but 0 and 1.  It never
 * starts this worker again, because the launcher does.  So an error ends the worker with status 1.
 * That is safe, because claims have leases, and the next worker takes back the jobs of this one.
 */
#include "postgres.h"

#include <signal.h>

#include "access/xlog.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "compat.h"
#include "settings.h"
#include "shared.h"
#include "worker.h"

extern PGDLLEXPORT void cudal1_worker_main(Datum database);

/* how often the worker looks at all that is due, and whether a command waits for it to leave */
#define WANTED_MS 1000
/* how long children may take to end: at a shutdown, and while a session waits for the database */
#define SHUTDOWN_MS 1000
#define VACATE_MS 100

static char server_name[64];
static char worker_name[128];

/* the extension was found, and the jobs of former workers were taken back */
static bool ready = false;
static int64 poll_at = 0;
static int64 expire_at = 0;
static int64 wanted_at = 0;

/* the lock timeout arrives as SIGINT, too; between calls there is nothing to cancel */
static void
handle_sigint(SIGNAL_ARGS)
{
	int			saved = errno;

	if (cudal1_entry_in_call)
	{
		InterruptPending = true;
		QueryCancelPending = true;
	}
	SetLatch(MyLatch);
	errno = saved;
}

/* ends the loop, and a call that waits for a lock */
static void
handle_sigterm(SIGNAL_ARGS)
{
	ShutdownRequestPending = true;
	handle_sigint(postgres_signal_arg);
}

/* runs at every end but a crash, where the parent-death signal kills the children */
static void
end_children(int code, Datum arg)
{
	cudal1_devices_stop();
	cudal1_jobs_drop();
	cudal1_generate_drop();
}

static void
note_state(void)
{
	const char *problem = cudal1_devices_problem;
	const char *more = cudal1_generate_problem[0] == '\0' ? ""
		: psprintf("; no requests are sent: %s", cudal1_generate_problem);

	if (!ready)
		cudal1_slot_note("waiting for CREATE EXTENSION cudal1");
	else if (cudal1_devices_count == 0)
		cudal1_slot_note("no device: %s%s", problem[0] ? problem : "looking for devices", more);
	else if (cudal1_devices_failure[0] != '\0')
		cudal1_slot_note("%s", cudal1_devices_failure);
	else if (cudal1_jobs_count() > 0)
		cudal1_slot_note("measuring, jobs: %d, devices: %d%s", cudal1_jobs_count(),
						 cudal1_devices_count, more);
	else if (!cudal1_enabled)
		cudal1_slot_note("paused: cudal1.enabled is off");
	else
		cudal1_slot_note("idle, devices: %d%s%s%s", cudal1_devices_count, problem[0] ? "; " : "",
						 problem, more);
}

static void
lose_extension(void)
{
	if (ready)
		ereport(LOG,
				(errmsg("cudal1 worker: the extension is gone, measurements are ended")));
	cudal1_jobs_drop();
	cudal1_devices_drop();
	cudal1_generate_drop();
	ready = false;
}

/* looks for the extension, and takes up work once it is there */
static void
find_extension(void)
{
	const char *arguments[] = {server_name, worker_name};
	int64		taken;

	if (cudal1_entry_find_extension() != CUDAL1_CALL_DONE ||
		cudal1_queue_number("SELECT cudal1.take_back($1, $2)", 2, arguments, &taken) !=
		CUDAL1_CALL_DONE)
		return;
	if (taken > 0)
		ereport(LOG,
				(errmsg("cudal1 worker: took back " INT64_FORMAT " jobs of a former worker",
						taken)));
	ready = true;
	poll_at = 0;
	cudal1_devices_look();
}

/* Looks at everything once; GONE if the extension is gone. */
static Cudal1Call
poll_all(bool woken)
{
	int64		now = cudal1_clock_ms();
	int			ended;
	bool		found;
	bool		look;

	if (cudal1_jobs_poll(&ended) == CUDAL1_CALL_GONE ||
		cudal1_devices_poll(&found) == CUDAL1_CALL_GONE)
		return CUDAL1_CALL_GONE;
	if (now >= expire_at)
	{
		const char *arguments[] = {worker_name};

		if (cudal1_queue_run("SELECT cudal1.expire_leases(), cudal1.release_requests($1)",
							 1, arguments, NULL, 0) == CUDAL1_CALL_GONE)
			return CUDAL1_CALL_GONE;
		expire_at = now + Max(1000, (int64) cudal1_lease_seconds * 250);
	}
	look = woken || now >= poll_at || ended > 0 || found;
	if (now >= poll_at)
		poll_at = now + cudal1_idle_poll;
	if (cudal1_generate_poll(worker_name, look) == CUDAL1_CALL_GONE)
		return CUDAL1_CALL_GONE;
	return cudal1_enabled ? cudal1_devices_claim(worker_name, look) : CUDAL1_CALL_DONE;
}

static long
next_ms(void)
{
	int64		now = cudal1_clock_ms();
	long		next = wanted_at - now;

	if (ready)
		next = Min(Min(next, poll_at - now),
				   Min(cudal1_jobs_next_ms(), cudal1_generate_next_ms()));
	return Max(1, next);
}

/* the settings that a search for devices depends on */
static char *
search_settings(void)
{
	return psprintf("%s|%s|%s|%s|%d", cudal1_devices, cudal1_measure_path, cudal1_scratch_dir,
					cudal1_python, cudal1_allow_unsandboxed);
}

static void
reload(void)
{
	char	   *before = search_settings();

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);

	/* A search for devices waits until nothing is measured, so not every reload starts one. */
	if (ready && (strcmp(before, search_settings()) != 0 || cudal1_devices_problem[0] != '\0'))
		cudal1_devices_look();
	poll_at = 0;
}

/*
 * Whether a session waits for this database to be without connections.  The commands that need
 * that (DROP, RENAME, SET TABLESPACE, a copy by TEMPLATE) hold a lock on it that no connection
 * could be begun beside, and wait five seconds for those that are there.  The next worker waits for
 * the lock in its start.
 */
static bool
is_wanted(void)
{
	int64		now = cudal1_clock_ms();
	LOCKTAG		tag;

	if (now < wanted_at)
		return false;
	wanted_at = now + WANTED_MS;
	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (LockAcquire(&tag, RowExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, RowExclusiveLock, true);
	return false;
}

static void
leave(bool vacate)
{
	cudal1_devices_stop();
	cudal1_generate_leave(worker_name);
	cudal1_jobs_leave(vacate ? VACATE_MS : SHUTDOWN_MS);
	proc_exit(0);
}

void
cudal1_worker_main(Datum database)
{
	static uint32 event = 0;
	MemoryContext context;
	bool		woken = true;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, handle_sigint);
	pqsignal(SIGTERM, handle_sigterm);
	BackgroundWorkerUnblockSignals();

	/* registered before there are children; until then it does nothing */
	before_shmem_exit(end_children, (Datum) 0);
	if (!cudal1_slot_attach(DatumGetObjectId(database)))
		proc_exit(0);
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, 0);
	cudal1_entry_prepare();
	snprintf(server_name, sizeof(server_name), "server " UINT64_FORMAT, GetSystemIdentifier());
	snprintf(worker_name, sizeof(worker_name), "%s worker %d since " INT64_FORMAT, server_name,
			 MyProcPid, (int64) MyStartTime);

	context = AllocSetContextCreate(TopMemoryContext, "cudal1 worker", ALLOCSET_DEFAULT_SIZES);
	for (;;)
	{
		int			events;

		CHECK_FOR_INTERRUPTS();
		if (ShutdownRequestPending)
			leave(false);
		if (cudal1_slot_must_leave() || is_wanted())
			leave(true);
		MemoryContextSwitchTo(context);
		if (ConfigReloadPending)
			reload();
		if (!ready)
			find_extension();
		if (ready && poll_all(woken) == CUDAL1_CALL_GONE)
			lose_extension();
		cudal1_children_collect();
		note_state();
		MemoryContextReset(context);
		if (ShutdownRequestPending)
			continue;
		events = WaitLatchOrSocket(MyLatch,
								   WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT |
								   WL_EXIT_ON_PM_DEATH,
								   cudal1_children_epoll, next_ms(),
								   cudal1_wait_event(&event, "Cudal1WorkerMain"));
		woken = (events & WL_LATCH_SET) != 0;
		if (woken)
			ResetLatch(MyLatch);
	}
}
