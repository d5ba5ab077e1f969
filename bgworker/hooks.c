/*
 * Sessions speak to workers at two moments only: when a transaction has committed, and when a database is about to be
 * dropped or renamed.
 *
 * Waking is put off to the commit because a worker woken sooner would find nothing; the flags below live in the backend,
 * and an abort forgets them. A prepared transaction wakes nobody: the worker's fallback poll finds its work.
 *
 * PostgreSQL refuses to drop or rename a database while a worker is connected to it, and has no way to ask the worker to
 * leave (before version 19). The hooks do: the worker goes, and stays away until the transaction of the
 * command has ended, however it ends.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_database.h"
#include "catalog/pg_extension.h"
#include "commands/async.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/timestamp.h"

#include "bgworker.h"
#include "compat.h"
#include "hooks.h"
#include "settings.h"
#include "shared.h"

PG_FUNCTION_INFO_V1(cudal1_wake);
PG_FUNCTION_INFO_V1(cudal1_wake_waiters);
PG_FUNCTION_INFO_V1(cudal1_announce_idle);
PG_FUNCTION_INFO_V1(cudal1_check_database);

#define CHANNEL "cudal1_work"
#define MAX_IDLE_SECONDS 3600

static object_access_hook_type previous_object_access = NULL;
static ProcessUtility_hook_type previous_utility = NULL;

static bool callback_registered = false;
static bool wake_worker = false;
static bool wake_waiters = false;
static bool wake_launcher = false;

static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			/* as late as possible, so that an agent which has just said it is idle is heard */
			if (wake_worker && cudal1_shared_agents_idle(MyDatabaseId))
				Async_Notify(CHANNEL, NULL);
			break;
		case XACT_EVENT_COMMIT:
			if (wake_worker)
				cudal1_shared_wake_worker(MyDatabaseId);
			if (wake_waiters)
				cudal1_shared_wake_waiters();
			if (wake_launcher)
				cudal1_launcher_wake();
			/* FALLTHROUGH */
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			wake_worker = wake_waiters = wake_launcher = false;
			cudal1_shared_release_hold();
			break;
		default:
			break;
	}
}

static void
register_callback(void)
{
	if (!callback_registered)
	{
		RegisterXactCallback(at_transaction_end, NULL);
		callback_registered = true;
	}
}

void
cudal1_wake_worker_at_commit(void)
{
	register_callback();
	wake_worker = true;
}

void
cudal1_wake_waiters_at_commit(void)
{
	register_callback();
	wake_waiters = true;
}

static void
hold_database(Oid database)
{
	register_callback();
	cudal1_shared_hold(database);
}

static void
object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	if (previous_object_access)
		previous_object_access(access, classId, objectId, subId, arg);

	if (classId == DatabaseRelationId && access == OAT_DROP)
		hold_database(objectId);
	else if (classId == DatabaseRelationId && access == OAT_POST_CREATE)
	{
		register_callback();
		wake_launcher = true;
	}
	else if (classId == ExtensionRelationId && access == OAT_DROP)
	{
		char	   *name = get_extension_name(objectId);

		/* the worker ends its children when it finds the extension gone: let it look at once */
		if (name != NULL && strcmp(name, "cudal1") == 0)
			cudal1_wake_worker_at_commit();
	}
}

/* a database that the command cannot touch while someone is connected, InvalidOid if none */
static Oid
database_to_vacate(Node *statement)
{
	const char *name = NULL;
	Oid			database;

	if (IsA(statement, RenameStmt) && ((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
		name = ((RenameStmt *) statement)->subname;
	else if (IsA(statement, AlterDatabaseStmt))
	{
		AlterDatabaseStmt *alter = (AlterDatabaseStmt *) statement;
		ListCell   *cell;

		foreach(cell, alter->options)
		{
			if (strcmp(((DefElem *) lfirst(cell))->defname, "tablespace") == 0)
				name = alter->dbname;
		}
	}
	else if (IsA(statement, CreatedbStmt))
	{
		ListCell   *cell;

		name = "template1";
		foreach(cell, ((CreatedbStmt *) statement)->options)
		{
			DefElem    *option = lfirst(cell);

			if (strcmp(option->defname, "template") == 0 && option->arg != NULL)
				name = defGetString(option);
		}
	}
	if (name == NULL)
		return InvalidOid;
	database = get_database_oid(name, true);

	/* these checks run before the command's own: who may not do it must not disturb the worker either */
	if (!OidIsValid(database) || database == MyDatabaseId ||
		!cudal1_owns_database(database, GetUserId()))
		return InvalidOid;
	return database;
}

static void
process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree, ProcessUtilityContext context,
				ParamListInfo params, QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	Node	   *statement = pstmt->utilityStmt;

	if ((IsA(statement, RenameStmt) || IsA(statement, AlterDatabaseStmt) || IsA(statement, CreatedbStmt)) &&
		IsTransactionState())
	{
		Oid			database = database_to_vacate(statement);

		/* the list of databases may now mean others */
		if (!IsA(statement, RenameStmt) || ((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
		{
			register_callback();
			wake_launcher = true;
		}
		if (OidIsValid(database))
			hold_database(database);
	}
	if (previous_utility)
		previous_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
}

void
cudal1_hooks_install(void)
{
	previous_object_access = object_access_hook;
	object_access_hook = object_access;
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}

/* cudal1.wake() -> void */
Datum
cudal1_wake(PG_FUNCTION_ARGS)
{
	cudal1_wake_worker_at_commit();
	PG_RETURN_VOID();
}

/* cudal1.wake_waiters() -> void */
Datum
cudal1_wake_waiters(PG_FUNCTION_ARGS)
{
	cudal1_wake_waiters_at_commit();
	PG_RETURN_VOID();
}

/* cudal1.announce_idle(seconds float8) -> void */
Datum
cudal1_announce_idle(PG_FUNCTION_ARGS)
{
	float8		seconds = PG_GETARG_FLOAT8(0);

	if (!(seconds > 0 && seconds <= MAX_IDLE_SECONDS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"seconds\" is out of range"),
				 errdetail("It must be above 0 and at most %d.", MAX_IDLE_SECONDS)));
	cudal1_shared_announce_agent(MyDatabaseId,
								 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (int64) (seconds * 1000)));
	PG_RETURN_VOID();
}

/*
 * cudal1.check_database() -> bool. CREATE EXTENSION ends with it: it says now, not after the first submission, why nothing
 * would be measured, and makes the worker look for the new extension.
 */
Datum
cudal1_check_database(PG_FUNCTION_ARGS)
{
	char	   *database;
	ListCell   *cell;

	/* a restored or upgraded database has been looked at when it was made */
	if (IsBinaryUpgrade)
		PG_RETURN_BOOL(false);
	cudal1_wake_worker_at_commit();
	if (!cudal1_is_preloaded())
	{
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cudal1 is not preloaded, so this server measures nothing by itself"),
				 errhint("Add cudal1 to shared_preload_libraries and restart the server, or let agents measure.")));
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
			 errmsg("database \"%s\" has no worker, so this server measures nothing in it", database),
			 errhint("Add it to cudal1.databases and reload the configuration.")));
	PG_RETURN_BOOL(false);
}
