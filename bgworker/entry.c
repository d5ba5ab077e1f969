/*
 * entry.c
 *		Calls of the queue's entry points by SPI.
 *
 * Another session may drop the extension between any two calls, and create it again.  So every call
 * checks in its own transaction that the extension is still the one that was found, the worker
 * remembers nothing of it but its oid, and names are looked up at each call.
 *
 * The worker is a superuser, so it fixes what a database or a role may have set for its session: an
 * empty search path; no timeouts but a lock timeout; no wait for standbys, which would hold up a
 * shutdown; and no compilation of queries, which would take longer than the queries.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "worker.h"

volatile bool cudal1_entry_in_call = false;

Oid			cudal1_extension = InvalidOid;
bool		cudal1_connected = true;

#define MAX_ARGUMENTS 5

/*
 * A character that the database's encoding lacks becomes a question mark, because the quotation
 * marks of a compiler's message must not make a verdict fail.
 */
static char *
to_server(const char *text)
{
	int			encoding = GetDatabaseEncoding();
	int			left = strlen(text);
	Oid			conversion = InvalidOid;
	StringInfoData out;

	if (encoding != PG_UTF8 && encoding != PG_SQL_ASCII)
		conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	if (!OidIsValid(conversion))
		return pg_any_to_server(text, left, PG_UTF8);
	pg_verify_mbstr(PG_UTF8, text, left, false);
	initStringInfo(&out);
	while (left > 0)
	{
		unsigned char *rest = (unsigned char *) unconstify(char *, text);
		unsigned char piece[4096];
		int			taken = pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding, rest,
														  Min(left, 1024), piece, sizeof(piece),
														  true);

		appendStringInfoString(&out, (char *) piece);
		if (taken == 0)
		{
			appendStringInfoChar(&out, '?');
			taken = pg_encoding_mblen(PG_UTF8, text);
		}
		text += taken;
		left -= taken;
	}
	return out.data;
}

/* aborts the transaction; no interrupt may come between an aborted transaction and its end */
static ErrorData *
abort_call(MemoryContext caller)
{
	ErrorData  *error;

	HOLD_INTERRUPTS();
	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	AbortOutOfAnyTransaction();
	FlushErrorState();
	RESUME_INTERRUPTS();
	return error;
}

/* runs the query; the conversion of an argument looks up functions and may fail */
static void
execute(const char *query, int n, const char *const *arguments, char **columns, int ncolumns)
{
	Oid			types[MAX_ARGUMENTS];
	Datum		values[MAX_ARGUMENTS];
	char		nulls[MAX_ARGUMENTS];

	Assert(n <= MAX_ARGUMENTS);
	for (int i = 0; i < n; i++)
	{
		types[i] = TEXTOID;
		nulls[i] = arguments[i] != NULL ? ' ' : 'n';
		values[i] = arguments[i] != NULL ? CStringGetTextDatum(to_server(arguments[i])) : (Datum) 0;
	}
	if (SPI_execute_with_args(query, n, types, values, nulls, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "unexpected result of \"%s\"", query);
	for (int i = 0; i < ncolumns && SPI_processed > 0; i++)
	{
		char	   *value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1);

		if (value == NULL)
			continue;
		columns[i] = strdup(pg_server_to_any(value, strlen(value), PG_UTF8));
		if (columns[i] == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory")));
	}
}

/*
 * Whether the extension is the one that was found.  Its lock is held to the end of the transaction:
 * DROP EXTENSION locks the extension before its tables, so it waits for a call, or the call for it,
 * and neither waits for the other in the midst of its work.
 */
static bool
hold_extension(void)
{
	if (!OidIsValid(cudal1_extension) || get_extension_oid("cudal1", true) != cudal1_extension)
		return false;
	LockDatabaseObject(ExtensionRelationId, cudal1_extension, 0, AccessShareLock);
	return get_extension_oid("cudal1", true) == cudal1_extension;
}

Cudal1Call
cudal1_queue_run(const char *query, int n, const char *const *arguments, char **columns,
				 int ncolumns)
{
	Cudal1Call volatile outcome = CUDAL1_CALL_DONE;
	MemoryContext caller = CurrentMemoryContext;

	for (int i = 0; i < ncolumns; i++)
		columns[i] = NULL;
	PG_TRY();
	{
		/* read by the SIGTERM handler */
		cudal1_entry_in_call = true;
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		SPI_connect();
		PushActiveSnapshot(GetTransactionSnapshot());
		pgstat_report_activity(STATE_RUNNING, query);
		if (!hold_extension())
			outcome = CUDAL1_CALL_GONE;
		else
			execute(query, n, arguments, columns, ncolumns);
		SPI_finish();
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		ErrorData  *error = abort_call(caller);

		outcome = cudal1_queue_failed(unpack_sql_state(error->sqlerrcode));
		ereport(LOG,
				(errcode(error->sqlerrcode),
				 errmsg("cudal1 worker: %s", error->message),
				 error->detail ? errdetail_internal("%s", error->detail) : 0,
				 error->context ? errcontext("%s", error->context) : 0,
				 errhidestmt(true)));
		strlcpy(cudal1_problem, error->message,
				1 + pg_mbcliplen(error->message, strlen(error->message),
								 sizeof(cudal1_problem) - 1));
		for (int i = 0; i < ncolumns; i++)
		{
			free(columns[i]);
			columns[i] = NULL;
		}
		FreeErrorData(error);
	}
	PG_END_TRY();
	cudal1_entry_in_call = false;
	QueryCancelPending = false;
	MemoryContextSwitchTo(caller);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	return outcome;
}

Cudal1Call
cudal1_entry_find_extension(void)
{
	MemoryContext caller = CurrentMemoryContext;

	StartTransactionCommand();
	cudal1_extension = get_extension_oid("cudal1", true);
	CommitTransactionCommand();
	MemoryContextSwitchTo(caller);
	return OidIsValid(cudal1_extension) ? CUDAL1_CALL_DONE : CUDAL1_CALL_GONE;
}

void
cudal1_note_problem(char noted[CUDAL1_NOTE_SIZE], const char *text)
{
	if (strcmp(noted, text) != 0)
		ereport(LOG,
				(errmsg("cudal1 worker: %s", text)));
	strlcpy(noted, text, CUDAL1_NOTE_SIZE);
}

/* ---- what supervise/ needs of a worker: the log, and the queue by SPI ---- */

static void
write_log(const char *format,...)
{
	char		text[2048];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ereport(LOG,
			(errmsg("%s", text)));
}

void
cudal1_entry_prepare(void)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"synchronous_commit", "local"},
		{"statement_timeout", "0"},
		/* A call waiting for a lock holds up all jobs of the worker; a failed one is repeated. */
		{"lock_timeout", "1s"},
		{"idle_in_transaction_session_timeout", "0"},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"row_security", "off"},
		{"jit", "off"},
		{"application_name", "cudal1 worker"},
	};

	for (int i = 0; i < lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	if (!cudal1_children_prepare(write_log))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create an epoll descriptor: %m")));
}
