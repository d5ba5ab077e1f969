/*
 * wake.c
 *		Sessions wake workers and waiting sessions when a transaction has committed.
 *
 * Waking is put off to the commit, because a worker that is woken sooner would find nothing.  The
 * flags below live in the backend, and an abort clears them.  A prepared transaction wakes no
 * worker; the worker's poll finds its work.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "settings.h"
#include "shared.h"

PG_FUNCTION_INFO_V1(cudal1_wake);
PG_FUNCTION_INFO_V1(cudal1_wake_waiters);
PG_FUNCTION_INFO_V1(cudal1_sleep_until_verdict);
PG_FUNCTION_INFO_V1(cudal1_is_own);
PG_FUNCTION_INFO_V1(cudal1_check_database);

static bool wake_worker = false;
static bool wake_waiters = false;

static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			if (wake_worker)
				cudal1_shared_wake_worker(MyDatabaseId);
			if (wake_waiters)
				cudal1_shared_wake_waiters();
			/* FALLTHROUGH */
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			wake_worker = wake_waiters = false;
			break;
		default:
			break;
	}
}

static void
at_commit(bool *wake)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(at_transaction_end, NULL);
	registered = true;
	*wake = true;
}

/* cudal1.wake() -> void */
Datum
cudal1_wake(PG_FUNCTION_ARGS)
{
	at_commit(&wake_worker);
	PG_RETURN_VOID();
}

/* cudal1.wake_waiters() -> void */
Datum
cudal1_wake_waiters(PG_FUNCTION_ARGS)
{
	at_commit(&wake_waiters);
	PG_RETURN_VOID();
}

/* cudal1.sleep_until_verdict(seconds float8) -> void */
Datum
cudal1_sleep_until_verdict(PG_FUNCTION_ARGS)
{
	/* more than 30 years, and no overflow */
	cudal1_shared_sleep((long) Min(PG_GETARG_FLOAT8(0) * 1000, 1e12));
	PG_RETURN_VOID();
}

/* cudal1.is_own(row_xmin xid) -> bool */
Datum
cudal1_is_own(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(TransactionIdIsCurrentTransactionId(PG_GETARG_TRANSACTIONID(0)));
}

/*
 * cudal1.check_database() -> bool
 *
 * CREATE EXTENSION calls this last.  It warns if nothing would be measured here, before the first
 * submission, and makes the worker look for the new extension.
 */
Datum
cudal1_check_database(PG_FUNCTION_ARGS)
{
	char	   *database;
	ListCell   *cell;

	/* an upgraded database was checked when its extension was created */
	if (IsBinaryUpgrade)
		PG_RETURN_BOOL(false);
	at_commit(&wake_worker);
	if (!cudal1_is_preloaded())
	{
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cudal1 is not preloaded, so this server measures nothing by itself"),
				 errhint("Add cudal1 to shared_preload_libraries and restart the server, or let"
						 " agents measure.")));
		PG_RETURN_BOOL(false);
	}
	database = get_database_name(MyDatabaseId);
	foreach(cell, cudal1_settings_databases())
	{
		if (strcmp(lfirst(cell), database) == 0)
			PG_RETURN_BOOL(true);
	}
	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("database \"%s\" has no worker, so this server measures nothing in it",
					database),
			 errhint("Add it to cudal1.databases and reload the configuration.")));
	PG_RETURN_BOOL(false);
}
