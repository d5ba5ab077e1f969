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

#include "compat.h"
#include "entry.h"
#include "settings.h"
#include "supervise/report.h"

volatile bool cudal1_entry_in_call = false;

static Oid	extension = InvalidOid;
static MemoryContext caller_context;

#define MAX_ARGUMENTS 5

/* an argument of a call, as its caller has it; the Datum is made within the call's transaction */
typedef struct Argument
{
	enum
	{
		ARGUMENT_NONE,
		ARGUMENT_TEXT,			/* in UTF-8, whatever the encoding of the database is; or NULL */
		ARGUMENT_BIGINT,
		ARGUMENT_INT,
		ARGUMENT_BOOL,
		ARGUMENT_SECONDS,
	}			kind;
	const char *text;
	int64		number;
} Argument;

static Argument
utf8(const char *text)
{
	return (Argument) {ARGUMENT_TEXT, text, 0};
}

static Argument
bigint(int64 number)
{
	return (Argument) {ARGUMENT_BIGINT, NULL, number};
}

static Argument
integer(int number)
{
	return (Argument) {ARGUMENT_INT, NULL, number};
}

static Argument
boolean(bool value)
{
	return (Argument) {ARGUMENT_BOOL, NULL, value};
}

/* the time after which a claim without a sign of life goes to another worker */
static Argument
lease(void)
{
	return (Argument) {ARGUMENT_SECONDS, NULL, cudal1_lease_seconds};
}

void
cudal1_entry_prepare_session(void)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"synchronous_commit", "local"},
		{"statement_timeout", "0"},
		/* while a call waits for a lock, all jobs of the worker wait; a failed call is repeated */
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
}

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

/* makes type and value of an argument; the conversion of text looks up functions and may fail */
static Datum
make_argument(const Argument *argument, Oid *type, char *null)
{
	*null = ' ';
	switch (argument->kind)
	{
		case ARGUMENT_BIGINT:
			*type = INT8OID;
			return Int64GetDatum(argument->number);
		case ARGUMENT_INT:
			*type = INT4OID;
			return Int32GetDatum((int32) argument->number);
		case ARGUMENT_BOOL:
			*type = BOOLOID;
			return BoolGetDatum(argument->number != 0);
		case ARGUMENT_SECONDS:
			*type = FLOAT8OID;
			return Float8GetDatum((double) argument->number);
		default:
			*type = TEXTOID;
			if (argument->text != NULL)
				return CStringGetTextDatum(to_server(argument->text));
			*null = 'n';
			return (Datum) 0;
	}
}

static bool
is_transient(int code)
{
	switch (ERRCODE_TO_CATEGORY(code))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_TRANSACTION_ROLLBACK):
		case ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES):
		case ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION):
		case ERRCODE_TO_CATEGORY(ERRCODE_SYSTEM_ERROR):
			return true;
		default:
			return code == ERRCODE_LOCK_NOT_AVAILABLE || code == ERRCODE_OBJECT_IN_USE;
	}
}

static void
begin_call(const char *activity)
{
	/* read by the SIGTERM handler */
	cudal1_entry_in_call = true;
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	SPI_connect();
	PushActiveSnapshot(GetTransactionSnapshot());
	pgstat_report_activity(STATE_RUNNING, activity);
}

static void
end_call(void)
{
	SPI_finish();
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* after a call, however it ended */
static void
after_call(void)
{
	cudal1_entry_in_call = false;
	QueryCancelPending = false;
	MemoryContextSwitchTo(caller_context);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
}

/* a function or a table is missing while the extension is dropped: the next call finds out */
static bool
is_missing(int code)
{
	return code == ERRCODE_UNDEFINED_FUNCTION || code == ERRCODE_UNDEFINED_TABLE ||
		code == ERRCODE_INVALID_SCHEMA_NAME || code == ERRCODE_UNDEFINED_OBJECT;
}

/* aborts the transaction; no interrupt may come between an aborted transaction and its end */
static void
abort_call(ErrorData **error)
{
	HOLD_INTERRUPTS();
	MemoryContextSwitchTo(caller_context);
	if (error != NULL)
		*error = CopyErrorData();
	else
		EmitErrorReport();
	AbortOutOfAnyTransaction();
	FlushErrorState();
	RESUME_INTERRUPTS();
}

/* runs the query; the text forms of its first row are copied to the caller's context, in UTF-8 */
static void
execute(const char *query, const Argument *arguments, char **columns, int ncolumns)
{
	Oid			types[MAX_ARGUMENTS];
	Datum		values[MAX_ARGUMENTS];
	char		nulls[MAX_ARGUMENTS];
	int			n = 0;

	while (arguments != NULL && arguments[n].kind != ARGUMENT_NONE)
	{
		Assert(n < MAX_ARGUMENTS);
		values[n] = make_argument(&arguments[n], &types[n], &nulls[n]);
		n++;
	}
	if (SPI_execute_with_args(query, n, types, values, nulls, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "unexpected result of \"%s\"", query);
	for (int i = 0; i < ncolumns && SPI_processed > 0; i++)
	{
		char	   *value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1);

		if (value != NULL)
			columns[i] = MemoryContextStrdup(caller_context,
											 pg_server_to_any(value, strlen(value), PG_UTF8));
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
	if (!OidIsValid(extension) || get_extension_oid("cudal1", true) != extension)
		return false;
	LockDatabaseObject(ExtensionRelationId, extension, 0, AccessShareLock);
	return get_extension_oid("cudal1", true) == extension;
}

/*
 * Runs one query of at most one row in a transaction of its own.  arguments: up to MAX_ARGUMENTS,
 * the last followed by one of kind ARGUMENT_NONE; or NULL.  columns[] is NULL where there is no
 * row.
 */
static Cudal1Call
run(const char *query, const Argument *arguments, char **columns, int ncolumns, char **problem)
{
	Cudal1Call volatile outcome = CUDAL1_CALL_DONE;

	caller_context = CurrentMemoryContext;
	for (int i = 0; i < ncolumns; i++)
		columns[i] = NULL;
	PG_TRY();
	{
		begin_call(query);
		if (!hold_extension())
			outcome = CUDAL1_CALL_GONE;
		else
			execute(query, arguments, columns, ncolumns);
		end_call();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		abort_call(&error);
		outcome = is_missing(error->sqlerrcode) || is_transient(error->sqlerrcode) ?
			CUDAL1_CALL_TRANSIENT : CUDAL1_CALL_FAILED;
		ereport(LOG,
				(errcode(error->sqlerrcode),
				 errmsg("cudal1 worker: %s", error->message),
				 error->detail ? errdetail_internal("%s", error->detail) : 0,
				 error->context ? errcontext("%s", error->context) : 0,
				 errhidestmt(true)));
		if (problem != NULL)
			*problem = pstrdup(error->message);
		FreeErrorData(error);
	}
	PG_END_TRY();
	after_call();
	return outcome;
}

static int64
number(const char *column, int64 otherwise)
{
	return column == NULL ? otherwise : strtoll(column, NULL, 10);
}

Cudal1Call
cudal1_entry_find_extension(void)
{
	Oid volatile found = InvalidOid;

	caller_context = CurrentMemoryContext;
	PG_TRY();
	{
		begin_call("looking for extension cudal1");
		found = get_extension_oid("cudal1", true);
		end_call();
	}
	PG_CATCH();
	{
		abort_call(NULL);
	}
	PG_END_TRY();
	after_call();
	extension = found;
	return OidIsValid(extension) ? CUDAL1_CALL_DONE : CUDAL1_CALL_GONE;
}

Cudal1Call
cudal1_entry_still_there(void)
{
	return run("SELECT 1", NULL, NULL, 0, NULL);
}

Oid
cudal1_entry_extension(void)
{
	return extension;
}

/* ---- the worker and its devices ---- */

Cudal1Call
cudal1_entry_take_back(const char *server, const char *worker, int64 *taken)
{
	Argument	arguments[] = {utf8(server), utf8(worker), {0}};
	char	   *columns[1];
	Cudal1Call	outcome = run("SELECT cudal1.take_back($1, $2), cudal1.expire_requests($1, $2)",
							  arguments, columns, 1, NULL);

	*taken = number(columns[0], 0);
	return outcome;
}

Cudal1Call
cudal1_entry_register_device(const char *host, const char *line, int64 *device_id, char **key)
{
	Argument	arguments[] = {utf8(host), utf8(line), {0}};
	char	   *columns[2];
	Cudal1Call	outcome = run("SELECT cudal1.register_device($1, $2::jsonb), $2::jsonb ->> 'key'",
							  arguments, columns, 2, NULL);

	if (outcome != CUDAL1_CALL_DONE)
		return outcome;
	if (columns[0] == NULL || columns[1] == NULL)
		return CUDAL1_CALL_FAILED;
	*device_id = number(columns[0], 0);
	*key = columns[1];
	return CUDAL1_CALL_DONE;
}

/* ---- jobs ---- */

Cudal1Call
cudal1_entry_claim(int64 device_id, const char *worker, Cudal1Claim *claim)
{
	Argument	arguments[] = {bigint(device_id), utf8(worker), lease(), {0}};
	char	   *columns[6];
	Cudal1Call	outcome = run(CUDAL1_CLAIM_QUERY, arguments, columns, 6, NULL);

	memset(claim, 0, sizeof(*claim));
	for (int i = 0; i < 4; i++)
		if (columns[i] == NULL)
			return outcome;
	claim->job_id = number(columns[0], 0);
	claim->attempt = (int) number(columns[1], 0);
	strlcpy(claim->token, columns[2], sizeof(claim->token));
	claim->job = columns[3];
	claim->limit_seconds = (int) number(columns[4], 3600);
	claim->mates = columns[5];
	return outcome;
}

/* the first arguments of every report on a claim */
#define OF_CLAIM(claim) \
	bigint((claim)->job_id), integer((claim)->attempt), utf8((claim)->token)

Cudal1Call
cudal1_entry_heartbeat(const Cudal1Claim *claim, const char *progress, Cudal1Verdict *verdict)
{
	Argument	arguments[] = {OF_CLAIM(claim), utf8(progress), lease(), {0}};
	char	   *columns[1];
	Cudal1Call	outcome = run("SELECT cudal1.heartbeat($1, $2, $3, $4::jsonb,"
							  " pg_catalog.make_interval(secs => $5))",
							  arguments, columns, 1, NULL);

	*verdict = cudal1_verdict_of(columns[0]);
	return outcome;
}

Cudal1Call
cudal1_entry_finish(Cudal1Report *reports, int n, char **problem)
{
	Cudal1Buffer text[CUDAL1_FINISH_ARGUMENTS];
	Cudal1Call	outcome = CUDAL1_CALL_TRANSIENT;

	if (cudal1_report_write(reports, n, text))
	{
		Argument	arguments[] = {utf8(text[0].data), utf8(text[1].data), utf8(text[2].data),
		utf8(text[3].data), {0}};
		char	   *columns[1];

		outcome = run(CUDAL1_FINISH_QUERY, arguments, columns, 1, problem);
		cudal1_report_read(reports, n, columns[0]);
	}
	cudal1_report_free(text);
	return outcome;
}

Cudal1Call
cudal1_entry_release(const Cudal1Claim *claim)
{
	Argument	arguments[] = {OF_CLAIM(claim), {0}};

	return run("SELECT cudal1.release($1, $2, $3)", arguments, NULL, 0, NULL);
}

Cudal1Call
cudal1_entry_expire_leases(void)
{
	return run("SELECT cudal1.expire_leases(), cudal1.expire_requests()", NULL, NULL, 0, NULL);
}

/* ---- requests to language models, and campaigns ---- */

static char *
lines_of(char *column)
{
	return column == NULL ? pstrdup("") : column;
}

Cudal1Call
cudal1_entry_requests_claim(const char *worker, int most, char **jobs, int *count)
{
	static const char *const query =
		"SELECT pg_catalog.string_agg(c.job::text || E'\n', ''), pg_catalog.count(*)"
		" FROM cudal1.claim_requests($1,"
		" $2 - (SELECT pg_catalog.count(*) FROM cudal1.request AS r"
		" WHERE r.state = 'running' AND r.worker = $1)::int,"
		" pg_catalog.make_interval(secs => $3)) AS c";
	Argument	arguments[] = {utf8(worker), integer(most), lease(), {0}};
	char	   *columns[2];
	Cudal1Call	outcome = run(query, arguments, columns, 2, NULL);

	*count = (int) number(columns[1], 0);
	*jobs = lines_of(columns[0]);
	return outcome;
}

Cudal1Call
cudal1_entry_requests_store(const char *answers, char **stored, char **left_over)
{
	Argument	arguments[] = {utf8(answers), {0}};
	char	   *columns[2];
	Cudal1Call	outcome = run("SELECT f.stored, f.left_over"
							  " FROM cudal1.finish_requests($1) AS f",
							  arguments, columns, 2, NULL);

	*stored = lines_of(columns[0]);
	*left_over = lines_of(columns[1]);
	return outcome;
}

Cudal1Call
cudal1_entry_requests_hold(const char *worker, char **cancels)
{
	static const char *const query =
		"SELECT pg_catalog.string_agg(pg_catalog.jsonb_build_object('type', 'cancel',"
		" 'request_id', h.request_id, 'attempt', h.attempt)::text || E'\n', '')"
		" FROM cudal1.hold_requests($1, pg_catalog.make_interval(secs => $2)) AS h";
	Argument	arguments[] = {utf8(worker), lease(), {0}};
	char	   *columns[1];
	Cudal1Call	outcome = run(query, arguments, columns, 1, NULL);

	*cancels = lines_of(columns[0]);
	return outcome;
}

Cudal1Call
cudal1_entry_requests_release(const char *worker, bool lost)
{
	Argument	arguments[] = {utf8(worker), boolean(lost), {0}};

	return run("SELECT cudal1.release_requests($1, $2)", arguments, NULL, 0, NULL);
}

Cudal1Call
cudal1_entry_requests_next(int64 *next_ms)
{
	char	   *columns[1];
	Cudal1Call	outcome = run("SELECT LEAST(pg_catalog.ceil(cudal1.next_request() * 1000),"
							  " 86400000)::bigint",
							  NULL, columns, 1, NULL);

	*next_ms = number(columns[0], -1);
	return outcome;
}

static Cudal1Call
count_steps(const char *query, int64 *steps)
{
	char	   *columns[1];
	Cudal1Call	outcome = run(query, NULL, columns, 1, NULL);

	*steps = number(columns[0], 0);
	return outcome;
}

Cudal1Call
cudal1_entry_requests_take(int64 *steps)
{
	return count_steps("SELECT cudal1.take_answers(16)", steps);
}

Cudal1Call
cudal1_entry_campaigns_advance(int64 *steps)
{
	return count_steps("SELECT cudal1.advance_campaigns(16)", steps);
}
