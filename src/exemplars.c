/*
 * exemplars.c
 *		Draws of exemplars as SQL sees them, and the buckets that they are drawn from.
 *
 * Draws read counts and means of buckets, or an index entry for each cluster of an island, and then
 * look for the picked codes by an index.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "arrays.h"
#include "draw.h"
#include "nearest.h"
#include "query.h"
#include "score.h"

PG_FUNCTION_INFO_V1(cudal1_bucket_stats);
PG_FUNCTION_INFO_V1(cudal1_sample_exemplars);
PG_FUNCTION_INFO_V1(cudal1_draw);
PG_FUNCTION_INFO_V1(cudal1_random_seed);

/* more codes than any prompt holds, and few enough to compare each with each */
#define MAX_EXEMPLARS	1000

typedef struct Strategy
{
	const char *name;
	const char *cells;			/* the name of its cells in a prompt's record; NULL: none */
	const char *cell;
	void		(*draw) (Cudal1Draw *draw, int n);
} Strategy;

static const Strategy strategies[] = {
	{"bucket", "buckets", "bucket", cudal1_draw_buckets},
	{"island", "clusters", "cluster", cudal1_draw_islands},
	{"random", NULL, NULL, cudal1_draw_random},
};

/* cudal1.random_seed() RETURNS bigint */
Datum
cudal1_random_seed(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(cudal1_draw_fresh_seed());
}

/* the names of a task and a pool */
static void
load_task(text *name, text *pool, Cudal1DrawTask *task, bool draws)
{
	static Cudal1Query query = {
		"SELECT t.task_id, t.bucket_width, t.score_scale = 'log', t.temperature,"
		" t.strategy, k.temperature, k.period, t.retired_at IS NOT NULL,"
		" p.pool_id, k.islands"
		" FROM cudal1.task AS t CROSS JOIN cudal1.pool AS p"
		" CROSS JOIN LATERAL cudal1.island_constants(t.options) AS k"
		" WHERE t.name = $1 AND p.name = $2",
		2, {TEXTOID, TEXTOID}};
	static Cudal1Query absent = {
		"SELECT cudal1.find_pool($2), cudal1.find_task($1)",
		2, {TEXTOID, TEXTOID}};
	Datum		args[] = {PointerGetDatum(name), PointerGetDatum(pool)};

	cudal1_query(&query, args);
	/* find_task() or find_pool() raises the error, with the names that may have been meant */
	if (SPI_processed == 0 || (draws && DatumGetBool(cudal1_query_column(0, 8))))
		cudal1_query(&absent, args);
	task->id = DatumGetInt64(cudal1_query_column(0, 1));
	task->width = DatumGetFloat8(cudal1_query_column(0, 2));
	task->log_scale = DatumGetBool(cudal1_query_column(0, 3));
	task->temperature = DatumGetFloat8(cudal1_query_column(0, 4));
	task->strategy = TextDatumGetCString(cudal1_query_column(0, 5));
	task->island_temperature = DatumGetFloat8(cudal1_query_column(0, 6));
	task->island_period = DatumGetInt64(cudal1_query_column(0, 7));
	task->pool = DatumGetInt32(cudal1_query_column(0, 9));
	task->islands = DatumGetInt32(cudal1_query_column(0, 10));
}

/* NaN where the argument is NULL */
static double
check_temperature(FunctionCallInfo fcinfo, int position)
{
	double		temperature;

	if (PG_ARGISNULL(position))
		return get_float8_nan();
	temperature = PG_GETARG_FLOAT8(position);
	if (!(temperature >= 1e-6 && temperature <= 1e9))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"temperature\" must be a number between 1e-6 and 1e9")));
	return temperature;
}

static text *
check_name(FunctionCallInfo fcinfo, int position, const char *argument)
{
	cudal1_argument_required(fcinfo, position, argument);
	return PG_GETARG_TEXT_PP(position);
}

static const Strategy *
find_strategy(const char *name)
{
	return &strategies[cudal1_nearest_row("strategy", name, strategies, lengthof(strategies),
										  sizeof(Strategy), "Valid strategies are \"bucket\","
										  " \"island\" and \"random\".")];
}

/* Describes a draw for the record of a prompt. */
static Datum
describe_draw(const Strategy *strategy, const Cudal1Draw *draw)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"strategy\": \"%s\"", strategy->name);
	if (strategy->cells == NULL)
	{
		appendStringInfo(&json, ", \"codes\": %lld}", (long long) draw->codes);
		return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
	}
	appendStringInfo(&json, ", \"temperature\": %s", float8out_internal(draw->temperature));
	if (strategy->draw == cudal1_draw_islands)
		appendStringInfo(&json, ", \"registrations\": %lld", (long long) draw->registrations);
	appendStringInfo(&json, ", \"%s\": [", strategy->cells);
	for (int i = draw->ncells - 1; i >= 0; i--)
	{
		const Cudal1Cell *cell = &draw->cells[i];

		/* a cell that no fraction of 52 bits would draw */
		if (cell->probability < DBL_EPSILON / 4)
			continue;
		appendStringInfo(&json, "%s{\"%s\": %lld, ", json.data[json.len - 1] == '[' ? "" : ", ",
						 strategy->cell, (long long) cell->number);
		if (cell->codes > 0)
			appendStringInfo(&json, "\"codes\": %lld, ", (long long) cell->codes);
		appendStringInfo(&json, "\"mean\": %s, \"probability\": %s}",
						 float8out_internal(cell->mean), float8out_internal(cell->probability));
	}
	appendStringInfoString(&json, "]}");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/*
 * One draw into the result set of the calling function: four columns for users, or six for a
 * prompt's record.
 */
static Datum
return_draw(FunctionCallInfo fcinfo, bool for_prompt)
{
	static Cudal1Query query = {
		"SELECT candidate_id, reward, code FROM cudal1.candidate"
		" WHERE candidate_id = ANY ($1) AND reward > 0 ORDER BY reward, candidate_id",
		1, {INT8ARRAYOID}};
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Cudal1Draw	draw = {.island = -1};
	text	   *name = check_name(fcinfo, 0, "task");
	text	   *pool = check_name(fcinfo, 5, "pool");
	int			n = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	const Strategy *strategy;
	Datum		picks;
	Datum		values[6];
	bool		nulls[6] = {false};

	if (n < 1 || n > MAX_EXEMPLARS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"n\" must be between 1 and %d", MAX_EXEMPLARS)));
	draw.temperature = check_temperature(fcinfo, 3);
	cudal1_draw_seed(&draw, PG_ARGISNULL(4) ? cudal1_draw_fresh_seed() : PG_GETARG_INT64(4));

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	load_task(name, pool, &draw.task, true);
	strategy = find_strategy(PG_ARGISNULL(2) ? draw.task.strategy :
							 text_to_cstring(PG_GETARG_TEXT_PP(2)));
	draw.picks = palloc(n * sizeof(Datum));
	strategy->draw(&draw, n);

	if (for_prompt)
	{
		values[4] = Int32GetDatum(draw.island);
		nulls[4] = draw.island < 0;
		values[5] = describe_draw(strategy, &draw);
	}
	picks = PointerGetDatum(construct_array(draw.picks, draw.npicks, INT8OID, sizeof(int64),
											FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	cudal1_query(&query, &picks);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		double		reward = DatumGetFloat8(cudal1_query_column(i, 2));

		values[0] = cudal1_query_column(i, 1);
		values[1] = Int32GetDatum(cudal1_score_bucket(reward, draw.task.width,
													  draw.task.log_scale));
		values[2] = Float8GetDatum(reward);
		values[3] = cudal1_query_column(i, 3);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	SPI_finish();
	return (Datum) 0;
}

/*
 * cudal1_sample_exemplars(task text, n int, strategy text, temperature float8, seed bigint,
 *						   pool text)
 * RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text)
 */
Datum
cudal1_sample_exemplars(PG_FUNCTION_ARGS)
{
	return return_draw(fcinfo, false);
}

/*
 * cudal1.draw(task text, n int, strategy text, temperature float8, seed bigint, pool text)
 * RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text, island int,
 *				  probabilities jsonb)
 */
Datum
cudal1_draw(PG_FUNCTION_ARGS)
{
	return return_draw(fcinfo, true);
}

/* an edge of a bucket as decimal arithmetic gives it: 23 * 0.05 is 1.15 */
static double
bucket_edge(const Cudal1DrawTask *task, int64 number)
{
	char		digits[64];
	double		edge = (double) number * task->width;

	snprintf(digits, sizeof(digits), "%.15g", edge);
	edge = strtod(digits, NULL);
	return task->log_scale ? exp(edge) : edge;
}

/*
 * cudal1_bucket_stats(task text, temperature float8, pool text)
 * RETURNS TABLE (bucket int, lower float8, upper float8, codes bigint, mean float8,
 *				  probability float8)
 */
Datum
cudal1_bucket_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	text	   *name = check_name(fcinfo, 0, "task");
	text	   *pool = check_name(fcinfo, 2, "pool");
	double		temperature = check_temperature(fcinfo, 1);
	Cudal1Draw	draw = {0};

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	load_task(name, pool, &draw.task, false);
	cudal1_draw_load_buckets(&draw);
	cudal1_draw_probabilities(&draw, isnan(temperature) ? draw.task.temperature : temperature);
	for (int i = draw.ncells - 1; i >= 0; i--)
	{
		const Cudal1Cell *bucket = &draw.cells[i];
		Datum		values[6];
		bool		nulls[6] = {false};

		values[0] = Int32GetDatum((int32) bucket->number);
		values[1] = Float8GetDatum(bucket_edge(&draw.task, bucket->number));
		values[2] = Float8GetDatum(bucket_edge(&draw.task, bucket->number + 1));
		values[3] = Int64GetDatum(bucket->codes);
		values[4] = Float8GetDatum(draw.task.log_scale ? exp(bucket->mean) : bucket->mean);
		values[5] = Float8GetDatum(bucket->probability);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	SPI_finish();
	return (Datum) 0;
}
