/*
 * hooks.c
 *		Sessions signal workers when a transaction has committed, and when a database is about to be
 *		dropped or renamed.
 *
 * Waking is put off to the commit, because a worker that is woken sooner would find nothing.  The
 * flags below live in the backend, and an abort clears them.  A prepared transaction wakes no
 * worker; the worker's poll finds its work.
 *
 * PostgreSQL refuses to drop or rename a database while a worker is connected to it, and before
 * version 19 it has no way to ask the worker to leave.  The hooks do that: the worker ends, and no
 * other starts until the transaction of the command has ended, however it ends.
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

#include "compat.h"
#include "settings.h"
#include "shared.h"
#include "start.h"

PG_FUNCTION_INFO_V1(cudal1_wake);
PG_FUNCTION_INFO_V1(cudal1_wake_waiters);
PG_FUNCTION_INFO_V1(cudal1_announce_idle);
PG_FUNCTION_INFO_V1(cudal1_check_database);

#define CHANNEL "cudal1_work"
#define MAX_IDLE_SECONDS 3600

static object_access_hook_type previous_object_access = NULL;
static ProcessUtility_hook_type previous_utility = NULL;

static bool wake_worker = false;
static bool wake_waiters = false;
static bool wake_launcher = false;

static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			/* as late as possible, so that an agent that has just announced itself is notified */
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
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(at_transaction_end, NULL);
	registered = true;
}

static void
at_commit(bool *wake)
{
	register_callback();
	*wake = true;
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
		at_commit(&wake_launcher);
	else if (classId == ExtensionRelationId && access == OAT_DROP)
	{
		char	   *name = get_extension_name(objectId);

		/* the worker ends its children when it finds the extension gone */
		if (name != NULL && strcmp(name, "cudal1") == 0)
			at_commit(&wake_worker);
	}
}

/* the database that must have no connections for the command; InvalidOid if there is none */
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

	/* the command checks its rights later, and a role without them must not disturb the worker */
	if (!OidIsValid(database) || database == MyDatabaseId ||
		!cudal1_owns_database(database, GetUserId()))
		return InvalidOid;
	return database;
}

/* whether the statement may change which databases exist under which names */
static bool
is_about_databases(Node *statement)
{
	if (IsA(statement, RenameStmt))
		return ((RenameStmt *) statement)->renameType == OBJECT_DATABASE;
	return IsA(statement, AlterDatabaseStmt) || IsA(statement, CreatedbStmt);
}

static void
process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
				ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *queryEnv,
				DestReceiver *dest, QueryCompletion *qc)
{
	ProcessUtility_hook_type next = previous_utility ? previous_utility : standard_ProcessUtility;

	if (is_about_databases(pstmt->utilityStmt) && IsTransactionState())
	{
		Oid			database = database_to_vacate(pstmt->utilityStmt);

		/* names in cudal1.databases may now mean other databases */
		at_commit(&wake_launcher);
		if (OidIsValid(database))
			hold_database(database);
	}
	next(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
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

/* cudal1.announce_idle(seconds float8) -> void */
Datum
cudal1_announce_idle(PG_FUNCTION_ARGS)
{
	float8		seconds = PG_GETARG_FLOAT8(0);
	TimestampTz now = GetCurrentTimestamp();

	if (!(seconds > 0 && seconds <= MAX_IDLE_SECONDS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"seconds\" is out of range"),
				 errdetail("It must be above 0 and at most %d.", MAX_IDLE_SECONDS)));
	cudal1_shared_announce_agent(MyDatabaseId,
								 TimestampTzPlusMilliseconds(now, (int64) (seconds * 1000)));
	PG_RETURN_VOID();
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
