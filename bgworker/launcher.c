/*
 * launcher.c
 *		The library's entry, and the launcher, which keeps one worker running for every database in
 *		cudal1.databases.
 *
 * Whenever it wakes, it compares the workers that should run with those that do.  It relies on no
 * event, because databases come and go, the list changes, workers end, and the launcher itself may
 * have been restarted.  Workers are registered with BGW_NEVER_RESTART, so that only the launcher
 * starts them, with one backoff.
 *
 * The launcher is connected to no database.  The shared catalogs say which databases exist and
 * accept connections.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "settings.h"
#include "shared.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);
extern PGDLLEXPORT void cudal1_launcher_main(Datum arg);

/*
 * With this exit status the postmaster starts the launcher again.  After 0 it would not, and after
 * a higher one it would restart the server.
 */
#define EXIT_RESTART 1

/* of the library's, started once the server accepts writes; seconds until it is started again */
static BackgroundWorker
describe(const char *type, const char *function, int restart)
{
	BackgroundWorker worker = {.bgw_restart_time = restart};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	strlcpy(worker.bgw_library_name, "cudal1", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, function, sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, type, BGW_MAXLEN);
	strlcpy(worker.bgw_type, type, BGW_MAXLEN);
	return worker;
}

/* settings in every process, all else only where the server preloads the library */
void
_PG_init(void)
{
	BackgroundWorker launcher = describe("cudal1 launcher", "cudal1_launcher_main", 1);

	cudal1_settings_define();
	if (!process_shared_preload_libraries_in_progress)
		return;
	cudal1_shared_init();

	/* during pg_upgrade nothing may be measured, and no worker may write */
	if (!IsBinaryUpgrade)
		RegisterBackgroundWorker(&launcher);
}

/* fills in which of the listed databases exist and accept connections */
static void
look_up_databases(Cudal1Listed *listed, int nlisted)
{
	Relation	relation;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	relation = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(relation, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

		for (int i = 0; i < nlisted; i++)
		{
			if (strcmp(NameStr(row->datname), listed[i].name) == 0)
			{
				listed[i].database = row->oid;
				listed[i].connectable = row->datallowconn && row->datconnlimit != -2;
			}
		}
	}
	table_endscan(scan);
	table_close(relation, AccessShareLock);
	CommitTransactionCommand();
	pgstat_report_stat(true);
}

/* once for each list that names databases that are not there */
static void
warn_of_missing(const Cudal1Listed *listed, int nlisted)
{
	static char *warned = NULL;
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < nlisted; i++)
		if (!OidIsValid(listed[i].database))
			appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", listed[i].name);
	if (names.len > 0 && (warned == NULL || strcmp(warned, names.data) != 0))
		ereport(WARNING,
				(errcode(ERRCODE_UNDEFINED_DATABASE),
				 errmsg("cudal1.databases names what does not exist: %s", names.data),
				 errhint("A worker starts as soon as a database has the name.")));
	if (warned != NULL)
		pfree(warned);
	warned = MemoryContextStrdup(TopMemoryContext, names.data);
}

static bool
start_worker(Oid database)
{
	static bool complained = false;
	BackgroundWorker worker = describe("cudal1 worker", "cudal1_worker_main", BGW_NEVER_RESTART);
	bool		started;

	worker.bgw_main_arg = ObjectIdGetDatum(database);
	worker.bgw_notify_pid = MyProcPid;
	snprintf(worker.bgw_name, BGW_MAXLEN, "cudal1 worker of database %u", database);
	started = RegisterDynamicBackgroundWorker(&worker, NULL);
	if (!started && !complained)
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("could not start a cudal1 worker: all background workers are in use"),
				 errhint("Raise max_worker_processes by one for the launcher and one for each"
						 " database in cudal1.databases.")));
	complained = !started;
	return started;
}

static long
start_missing(void)
{
	Cudal1Listed listed[CUDAL1_MAX_DATABASES];
	int			nlisted = 0;
	ListCell   *cell;

	memset(listed, 0, sizeof(listed));
	foreach(cell, cudal1_settings_databases())
	{
		if (nlisted < CUDAL1_MAX_DATABASES)
			strlcpy(listed[nlisted++].name, lfirst(cell), NAMEDATALEN);
	}
	look_up_databases(listed, nlisted);
	warn_of_missing(listed, nlisted);
	return cudal1_launcher_reconcile(listed, nlisted, start_worker);
}

void
cudal1_launcher_main(Datum arg)
{
	MemoryContext context;
	static uint32 event = 0;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, SIG_IGN);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	cudal1_launcher_attach();

	context = AllocSetContextCreate(TopMemoryContext, "cudal1 launcher", ALLOCSET_DEFAULT_SIZES);
	pgstat_report_activity(STATE_IDLE, NULL);
	while (!ShutdownRequestPending)
	{
		long		nap;

		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		MemoryContextSwitchTo(context);
		nap = start_missing();
		MemoryContextReset(context);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, nap,
						 cudal1_wait_event(&event, "Cudal1LauncherMain"));
		ResetLatch(MyLatch);
	}

	/* after pg_terminate_backend it is started again; in a shutdown the status is ignored */
	proc_exit(EXIT_RESTART);
}
