/*
 * Calls of the queue's entry points by SPI.
 *
 * Every call finds out in its own transaction whether the extension is still the one that was found: it may be dropped
 * between any two calls, and created again, and nothing about it is remembered but its oid. Names are looked up at each call.
 *
 * The worker is a superuser, so it pins what a database or a role may have set for its session: an empty search path, no
 * timeouts but a lock timeout, no wait for standbys, which would hold up a shutdown, and no compilation of queries, which would
 * take longer than all of them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "entry.h"
#include "settings.h"

volatile bool cudal1_entry_in_call = false;

static Oid	extension = InvalidOid;
static MemoryContext caller_context;

#define MAX_ARGUMENTS 5

typedef struct Arguments
{
	int			n;
	Oid			types[MAX_ARGUMENTS];
	Datum		values[MAX_ARGUMENTS];
	char		nulls[MAX_ARGUMENTS];
} Arguments;

void
cudal1_entry_prepare_session(void)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"synchronous_commit", "local"},
		{"statement_timeout", "0"},
		/* all jobs of the worker wait meanwhile; a call that gives up is made again */
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

static void
add_argument(Arguments *arguments, Oid type, Datum value, bool isnull)
{
	Assert(arguments->n < MAX_ARGUMENTS);
	arguments->types[arguments->n] = type;
	arguments->values[arguments->n] = value;
	arguments->nulls[arguments->n] = isnull ? 'n' : ' ';
	arguments->n++;
}

/* what the database's encoding lacks becomes a question mark: a compiler's quotation marks must not cost a verdict */
static char *
to_server(const char *text)
{
	int			left = strlen(text);
	Oid			conversion;
	StringInfoData out;

	if (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII ||
		!OidIsValid(conversion = FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding())))
		return pg_any_to_server(text, left, PG_UTF8);
	pg_verify_mbstr(PG_UTF8, text, left, false);
	initStringInfo(&out);
	while (left > 0)
	{
		unsigned char piece[4096];
		int			taken = pg_do_encoding_conversion_buf(conversion, PG_UTF8, GetDatabaseEncoding(),
														  (unsigned char *) unconstify(char *, text), Min(left, 1024),
														  piece, sizeof(piece), true);

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

/* text that came from outside, which is UTF-8 whatever the database's encoding is */
static void
add_utf8(Arguments *arguments, const char *text)
{
	add_argument(arguments, TEXTOID, text == NULL ? (Datum) 0 : CStringGetTextDatum(to_server(text)), text == NULL);
}

static void
add_lease(Arguments *arguments)
{
	add_argument(arguments, FLOAT8OID, Float8GetDatum((double) cudal1_lease_seconds), false);
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

/*
 * Runs one query that gives at most one row, whose columns' text forms are copied to the caller's
 * context, in the encoding of programs. make builds the arguments inside the transaction, since conversions look for
 * their functions and may fail.
 */
typedef void (*make_arguments) (Arguments *arguments, const void *call);

static Cudal1Call
run(const char *query, make_arguments make, const void *call, char **columns, int ncolumns, int *nrows, char **problem)
{
	Cudal1Call volatile outcome = CUDAL1_CALL_DONE;

	caller_context = CurrentMemoryContext;
	*nrows = 0;
	PG_TRY();
	{
		begin_call(query);
		if (!OidIsValid(extension) || get_extension_oid("cudal1", true) != extension)
			outcome = CUDAL1_CALL_GONE;
		else
		{
			Arguments	arguments = {0};

			if (make != NULL)
				make(&arguments, call);
			if (SPI_execute_with_args(query, arguments.n, arguments.types, arguments.values, arguments.nulls,
									  false, 1) != SPI_OK_SELECT)
				elog(ERROR, "unexpected result of \"%s\"", query);
			if (SPI_processed > 0)
			{
				*nrows = 1;
				for (int i = 0; i < ncolumns; i++)
				{
					char	   *value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1);

					columns[i] = value == NULL ? NULL :
						MemoryContextStrdup(caller_context, pg_server_to_any(value, strlen(value), PG_UTF8));
				}
			}
		}
		end_call();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		/* no interrupt may come between an aborted transaction and its end */
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(caller_context);
		error = CopyErrorData();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		RESUME_INTERRUPTS();

		/* a function is missing while the extension is dropped or upgraded: the next call will know */
		if (error->sqlerrcode == ERRCODE_UNDEFINED_FUNCTION || error->sqlerrcode == ERRCODE_UNDEFINED_TABLE ||
			error->sqlerrcode == ERRCODE_INVALID_SCHEMA_NAME || error->sqlerrcode == ERRCODE_UNDEFINED_OBJECT)
			outcome = CUDAL1_CALL_TRANSIENT;
		else
			outcome = is_transient(error->sqlerrcode) ? CUDAL1_CALL_TRANSIENT : CUDAL1_CALL_FAILED;
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
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(caller_context);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	after_call();
	extension = found;
	return OidIsValid(extension) ? CUDAL1_CALL_DONE : CUDAL1_CALL_GONE;
}

Cudal1Call
cudal1_entry_still_there(void)
{
	int			nrows;

	return run("SELECT 1", NULL, NULL, NULL, 0, &nrows, NULL);
}

/* ---- take_back ---- */

typedef struct TakeBack
{
	const char *server;
	const char *worker;
} TakeBack;

static void
take_back_arguments(Arguments *arguments, const void *call)
{
	const TakeBack *take_back = call;

	add_utf8(arguments, take_back->server);
	add_utf8(arguments, take_back->worker);
}

Cudal1Call
cudal1_entry_take_back(const char *server, const char *worker, int64 *taken)
{
	TakeBack	call = {server, worker};
	char	   *columns[1] = {NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT cudal1.take_back($1, $2), cudal1.expire_requests($1, $2)",
							  take_back_arguments, &call, columns, 1, &nrows, NULL);

	*taken = columns[0] == NULL ? 0 : strtoll(columns[0], NULL, 10);
	return outcome;
}

/* ---- register_device ---- */

typedef struct RegisterDevice
{
	const char *host;
	const char *line;
} RegisterDevice;

static void
register_arguments(Arguments *arguments, const void *call)
{
	const RegisterDevice *device = call;

	add_utf8(arguments, device->host);
	add_utf8(arguments, device->line);
}

Cudal1Call
cudal1_entry_register_device(const char *host, const char *line, int64 *device_id, char **key)
{
	RegisterDevice call = {host, line};
	char	   *columns[2] = {NULL, NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT cudal1.register_device($1, $2::jsonb), $2::jsonb ->> 'key'",
							  register_arguments, &call, columns, 2, &nrows, NULL);

	if (outcome != CUDAL1_CALL_DONE)
		return outcome;
	if (columns[0] == NULL || columns[1] == NULL)
		return CUDAL1_CALL_FAILED;
	*device_id = strtoll(columns[0], NULL, 10);
	*key = columns[1];
	return CUDAL1_CALL_DONE;
}

/* ---- claim ---- */

typedef struct ClaimCall
{
	int64		device_id;
	const char *worker;
} ClaimCall;

static void
claim_arguments(Arguments *arguments, const void *call)
{
	const ClaimCall *claim = call;

	add_argument(arguments, INT8OID, Int64GetDatum(claim->device_id), false);
	add_utf8(arguments, claim->worker);
	add_lease(arguments);
}

Cudal1Call
cudal1_entry_claim(int64 device_id, const char *worker, Cudal1Claim *claim)
{
	/*
	 * What a measurement may take: two or three builds (reference, candidate, the first call of code that compiles itself),
	 * the window, checks and audits beside it, and some runs at their limit.
	 */
	static const char *const query =
		"SELECT c.job_id, c.attempt, c.token, c.job,"
		" LEAST(1000000, pg_catalog.ceil(3 * COALESCE((p ->> 'build_seconds')::float8, 120)"
		" + 2 * COALESCE((p ->> 'window_seconds')::float8, 1800)"
		" + COALESCE((p ->> 'check_seconds')::float8, 3) + COALESCE((p ->> 'audit_seconds')::float8, 1)"
		" + 10 * COALESCE((p ->> 'run_limit_max')::float8, 30)))::int"
		" FROM cudal1.claim($1, $2, pg_catalog.make_interval(secs => $3)) c, LATERAL (SELECT c.job -> 'profile') x(p)";
	ClaimCall	call = {device_id, worker};
	char	   *columns[5] = {NULL, NULL, NULL, NULL, NULL};
	int			nrows;
	Cudal1Call	outcome;

	memset(claim, 0, sizeof(*claim));
	outcome = run(query, claim_arguments, &call, columns, 5, &nrows, NULL);
	if (outcome != CUDAL1_CALL_DONE || nrows == 0 || columns[0] == NULL || columns[1] == NULL || columns[2] == NULL ||
		columns[3] == NULL)
		return outcome;
	claim->job_id = strtoll(columns[0], NULL, 10);
	claim->attempt = atoi(columns[1]);
	strlcpy(claim->token, columns[2], sizeof(claim->token));
	claim->job = columns[3];
	claim->limit_seconds = columns[4] == NULL ? 3600 : atoi(columns[4]);
	return CUDAL1_CALL_DONE;
}

/* ---- heartbeat, finish, release ---- */

typedef struct JobCall
{
	const Cudal1Claim *claim;
	const char *document;
} JobCall;

static void
add_claim(Arguments *arguments, const JobCall *job)
{
	add_argument(arguments, INT8OID, Int64GetDatum(job->claim->job_id), false);
	add_argument(arguments, INT4OID, Int32GetDatum(job->claim->attempt), false);
	add_utf8(arguments, job->claim->token);
}

static void
heartbeat_arguments(Arguments *arguments, const void *call)
{
	const JobCall *job = call;

	add_claim(arguments, job);
	add_utf8(arguments, job->document);
	add_lease(arguments);
}

static void
finish_arguments(Arguments *arguments, const void *call)
{
	const JobCall *job = call;

	add_claim(arguments, job);
	add_utf8(arguments, job->document);
}

static void
release_arguments(Arguments *arguments, const void *call)
{
	const JobCall *job = call;

	add_claim(arguments, job);
}

Cudal1Call
cudal1_entry_heartbeat(const Cudal1Claim *claim, const char *progress, Cudal1Verdict *verdict)
{
	JobCall		call = {claim, progress};
	char	   *columns[1] = {NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT cudal1.heartbeat($1, $2, $3, $4::jsonb, pg_catalog.make_interval(secs => $5))",
							  heartbeat_arguments, &call, columns, 1, &nrows, NULL);

	*verdict = CUDAL1_VERDICT_CONTINUE;
	if (outcome == CUDAL1_CALL_DONE && columns[0] != NULL)
	{
		if (strcmp(columns[0], "cancel") == 0)
			*verdict = CUDAL1_VERDICT_CANCEL;
		else if (strcmp(columns[0], "lost") == 0)
			*verdict = CUDAL1_VERDICT_LOST;
	}
	return outcome;
}

Cudal1Call
cudal1_entry_finish(const Cudal1Claim *claim, const char *result, bool *stored, char **problem)
{
	JobCall		call = {claim, result};
	char	   *columns[1] = {NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT cudal1.finish($1, $2, $3, $4::jsonb)", finish_arguments, &call, columns, 1, &nrows,
							  problem);

	*stored = columns[0] != NULL && strcmp(columns[0], "stored") == 0;
	return columns[0] != NULL && strcmp(columns[0], "later") == 0 ? CUDAL1_CALL_LATER : outcome;
}

Cudal1Call
cudal1_entry_release(const Cudal1Claim *claim)
{
	JobCall		call = {claim, NULL};
	char	   *columns[1] = {NULL};
	int			nrows;

	return run("SELECT cudal1.release($1, $2, $3)", release_arguments, &call, columns, 1, &nrows, NULL);
}

Cudal1Call
cudal1_entry_expire_leases(void)
{
	char	   *columns[1] = {NULL};
	int			nrows;

	return run("SELECT cudal1.expire_leases(), cudal1.expire_requests()", NULL, NULL, columns, 1, &nrows, NULL);
}

/* ---- requests to language models ---- */

typedef struct RequestCall
{
	const char *text;
	int			number;
} RequestCall;

static void
worker_room_lease_arguments(Arguments *arguments, const void *call)
{
	const RequestCall *request = call;

	add_utf8(arguments, request->text);
	add_argument(arguments, INT4OID, Int32GetDatum(request->number), false);
	add_lease(arguments);
}

static void
worker_lease_arguments(Arguments *arguments, const void *call)
{
	const RequestCall *request = call;

	add_utf8(arguments, request->text);
	add_lease(arguments);
}

static void
text_arguments(Arguments *arguments, const void *call)
{
	const RequestCall *request = call;

	add_utf8(arguments, request->text);
}

static void
worker_flag_arguments(Arguments *arguments, const void *call)
{
	const RequestCall *request = call;

	add_utf8(arguments, request->text);
	add_argument(arguments, BOOLOID, BoolGetDatum(request->number != 0), false);
}

static char *
lines_of(char *column)
{
	return column == NULL ? pstrdup("") : column;
}

Cudal1Call
cudal1_entry_requests_claim(const char *worker, int most, char **jobs, int *count)
{
	RequestCall call = {worker, most};
	char	   *columns[2] = {NULL, NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT pg_catalog.string_agg(c.job::text || E'\n', ''), pg_catalog.count(*)"
							  " FROM cudal1.claim_requests($1, $2 - (SELECT pg_catalog.count(*) FROM cudal1.request AS r"
							  " WHERE r.state = 'running' AND r.worker = $1)::int, pg_catalog.make_interval(secs => $3)) AS c",
							  worker_room_lease_arguments, &call, columns, 2, &nrows, NULL);

	*count = columns[1] == NULL ? 0 : atoi(columns[1]);
	*jobs = lines_of(columns[0]);
	return outcome;
}

Cudal1Call
cudal1_entry_requests_store(const char *answers, char **stored, char **left_over)
{
	RequestCall call = {answers, 0};
	char	   *columns[2] = {NULL, NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT f.stored, f.left_over FROM cudal1.finish_requests($1) AS f",
							  text_arguments, &call, columns, 2, &nrows, NULL);

	*stored = lines_of(columns[0]);
	*left_over = lines_of(columns[1]);
	return outcome;
}

Cudal1Call
cudal1_entry_requests_hold(const char *worker, char **cancels)
{
	RequestCall call = {worker, 0};
	char	   *columns[1] = {NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT pg_catalog.string_agg(pg_catalog.jsonb_build_object('type', 'cancel',"
							  " 'request_id', h.request_id, 'attempt', h.attempt)::text || E'\n', '')"
							  " FROM cudal1.hold_requests($1, pg_catalog.make_interval(secs => $2)) AS h",
							  worker_lease_arguments, &call, columns, 1, &nrows, NULL);

	*cancels = lines_of(columns[0]);
	return outcome;
}

Cudal1Call
cudal1_entry_requests_release(const char *worker, bool lost)
{
	RequestCall call = {worker, lost};
	char	   *columns[1] = {NULL};
	int			nrows;

	return run("SELECT cudal1.release_requests($1, $2)", worker_flag_arguments, &call, columns, 1, &nrows, NULL);
}

Cudal1Call
cudal1_entry_requests_next(int64 *next_ms)
{
	char	   *columns[1] = {NULL};
	int			nrows;
	Cudal1Call	outcome = run("SELECT LEAST(pg_catalog.ceil(cudal1.next_request() * 1000), 86400000)::bigint", NULL, NULL,
							  columns, 1, &nrows, NULL);

	*next_ms = columns[0] == NULL ? -1 : strtoll(columns[0], NULL, 10);
	return outcome;
}

static Cudal1Call
count_steps(const char *query, int64 *steps)
{
	char	   *columns[1] = {NULL};
	int			nrows;
	Cudal1Call	outcome = run(query, NULL, NULL, columns, 1, &nrows, NULL);

	*steps = columns[0] == NULL ? 0 : strtoll(columns[0], NULL, 10);
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

Oid
cudal1_entry_extension(void)
{
	return extension;
}
