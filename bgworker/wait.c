/*
 * wait.c
 *		cudal1_wait(): waiting for verdicts.
 *
 * A waiting session sleeps until a transaction that decided something commits, then looks again
 * with a new snapshot.  Two waits would never end, so they are errors: one for a candidate or a job
 * that the waiting transaction wrote, because no worker sees it before the commit; and one under a
 * transaction snapshot, which never shows a verdict.
 *
 * The call keeps the snapshot of its query, because the query may join the answer with tables.
 * VACUUM can't remove rows that the snapshot sees, and a wait of hours makes claims slow for all
 * sessions. So callers pass timeouts of tens of seconds, and call again.
 *
 * A candidate is final if its state is.  An imported score is final only if no measurement of its
 * code is queued here, because a session that submits the code waits for that measurement.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#include "shared.h"

PG_FUNCTION_INFO_V1(cudal1_wait);

/* column numbers of the query that looks */
enum
{
	LOOK_ID = 1,
	LOOK_STATE,
	LOOK_REWARD,
	LOOK_FINAL,
	LOOK_CANDIDATE_XMIN,
	LOOK_JOB_XMIN,
};

static const char look_query[] =
"SELECT u.id, c.state, c.reward,"
" c.state IN ('successful', 'failed', 'discarded') AND (NOT c.imported OR j.job_id IS NULL),"
" c.xmin, j.xmin"
" FROM pg_catalog.unnest($1) WITH ORDINALITY AS u (id, i)"
" LEFT JOIN cudal1.candidate AS c ON c.candidate_id = u.id"
" LEFT JOIN LATERAL (SELECT x.job_id, x.xmin FROM cudal1.job AS x"
" WHERE x.candidate_id = c.candidate_id AND x.kind IN ('measure', 'verify')"
" AND (c.imported OR c.state IN ('queued', 'measuring', 'verifying'))"
" ORDER BY x.job_id DESC LIMIT 1) AS j ON true"
" ORDER BY u.i";

static bool
is_own(HeapTuple row, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		xmin = SPI_getbinval(row, desc, column, &isnull);

	return !isnull && TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin));
}

/* the candidates of an array that are not final, or NULL; errors for those that never will be */
static ArrayType *
look(SPIPlanPtr plan, ArrayType *ids)
{
	Datum		values[1] = {PointerGetDatum(ids)};
	TupleDesc	desc;
	Datum	   *pending;
	int			npending = 0;
	ArrayType  *result;

	if (SPI_execute_plan(plan, values, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look at candidates");
	desc = SPI_tuptable->tupdesc;
	pending = palloc(sizeof(Datum) * (SPI_processed + 1));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		bool		isnull;
		int64		id = DatumGetInt64(SPI_getbinval(row, desc, LOOK_ID, &isnull));

		(void) SPI_getbinval(row, desc, LOOK_STATE, &isnull);
		if (isnull)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("candidate " INT64_FORMAT " does not exist", id),
					 errhint("Ids come from cudal1_submit(); cudal1.candidate lists them.")));
		if (is_own(row, desc, LOOK_CANDIDATE_XMIN) || is_own(row, desc, LOOK_JOB_XMIN))
			ereport(ERROR,
					(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
					 errmsg("cannot wait for candidate " INT64_FORMAT
							", which this transaction wrote", id),
					 errdetail("No worker sees it before the transaction commits."),
					 errhint("Commit first, then call cudal1_wait().")));
		if (!DatumGetBool(SPI_getbinval(row, desc, LOOK_FINAL, &isnull)))
			pending[npending++] = Int64GetDatum(id);
	}
	result = npending == 0 ? NULL : construct_array(pending, npending, INT8OID, sizeof(int64),
													FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	pfree(pending);
	return result;
}

static int64
interval_milliseconds(const Interval *interval)
{
	double		ms = interval->time / 1000.0 +
		((double) interval->day + 30.0 * interval->month) * SECS_PER_DAY * 1000.0;

	if (ms < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("timeout must not be negative")));
	/* more than 30 years, and no overflow */
	return (int64) Min(ms, 1e12);
}

static int64
milliseconds_until(TimestampTz deadline)
{
	return TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
}

/* waits until all candidates are final or the time is over; leaves the last look at them in SPI */
static void
wait_for(SPIPlanPtr plan, ArrayType *ids, TimestampTz deadline)
{
	cudal1_waiters_prepare();
	for (;;)
	{
		/* The look is the answer if nothing is missing, or no time is left. */
		ArrayType  *pending = look(plan, ids);
		long		left = milliseconds_until(deadline);

		if (pending == NULL || left <= 0)
			break;

		/* Look at the missing ones alone until all are final. */
		do
		{
			ArrayType  *before = pending;

			SPI_freetuptable(SPI_tuptable);
			cudal1_waiters_sleep(left);
			pending = look(plan, before);
			pfree(before);
			left = milliseconds_until(deadline);
		} while (pending != NULL && left > 0);
		SPI_freetuptable(SPI_tuptable);
	}
	cudal1_waiters_cancel();
}

/*
 * cudal1_wait(candidate_ids bigint[], timeout interval)
 * RETURNS TABLE (candidate_id bigint, state text, reward float8)
 */
Datum
cudal1_wait(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ArrayType  *ids;
	TimestampTz deadline;
	SPIPlanPtr	plan;
	Oid			types[1] = {INT8ARRAYOID};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("candidate_ids and timeout must not be null")));
	ids = PG_GETARG_ARRAYTYPE_P(0);
	if (array_contains_nulls(ids))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("candidate_ids must not contain nulls")));
	deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
										   interval_milliseconds(PG_GETARG_INTERVAL_P(1)));
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("cudal1_wait() needs transaction isolation level read committed"),
				 errdetail("The snapshot of this transaction never shows a verdict."),
				 errhint("Call it outside of a transaction, with default_transaction_isolation"
						 " 'read committed'.")));

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	plan = SPI_prepare(look_query, 1, types);
	if (plan == NULL)
		elog(ERROR, "could not prepare \"%s\"", look_query);

	wait_for(plan, ids, deadline);

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		Datum		out[3];
		bool		nulls[3];

		for (int k = 0; k < 3; k++)
			out[k] = SPI_getbinval(row, SPI_tuptable->tupdesc, LOOK_ID + k, &nulls[k]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, out, nulls);
	}
	SPI_finish();
	return (Datum) 0;
}
