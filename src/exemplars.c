/*
 * exemplars.c
 *		Draws of exemplars as SQL sees them, and the buckets that they are drawn from.
 *
 * A draw costs the same however many candidates and buckets a task has.  It reads rows of buckets
 * (or of an island's clusters) from the best one down, stops where none that follows can win, and
 * then reads one index entry a code.  Slots are dense, so a pick is a number below the count.
 */
#include "postgres.h"

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
	void		(*fetch) (const Cudal1Draw *draw, const Cudal1Pick *pick);
} Strategy;

static const Strategy strategies[] = {
	{"bucket", "buckets", "bucket", cudal1_draw_buckets, cudal1_draw_bucket_code},
	{"island", "clusters", "cluster", cudal1_draw_islands, cudal1_draw_island_code},
	{"random", NULL, NULL, cudal1_draw_random, cudal1_draw_random_code},
};

typedef struct Exemplar
{
	int64		candidate;
	double		reward;
	Datum		code;
} Exemplar;

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
		" p.pool_id"
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

static void
fetch_exemplar(const Strategy *strategy, const Cudal1Draw *draw, const Cudal1Pick *pick,
			   Exemplar *exemplar)
{
	strategy->fetch(draw, pick);
	if (SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 strategy->cells ?
				 errmsg("slot %lld of a score interval is empty", (long long) pick->slot) :
				 errmsg("place %lld of a task is empty", (long long) pick->slot),
				 errhint("Look for differences with cudal1.recount(),"
						 " repair them with cudal1.rebucket().")));
	exemplar->candidate = DatumGetInt64(cudal1_query_column(0, 1));
	exemplar->reward = DatumGetFloat8(cudal1_query_column(0, 2));
	exemplar->code = PointerGetDatum(PG_DETOAST_DATUM_COPY(cudal1_query_column(0, 3)));
}

static int
compare_exemplars(const void *a, const void *b)
{
	const Exemplar *x = a;
	const Exemplar *y = b;

	if (x->reward != y->reward)
		return x->reward < y->reward ? -1 : 1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* what a draw was made from, for the record of a prompt */
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
	for (int i = 0; i < draw->ncells; i++)
	{
		const Cudal1Cell *cell = &draw->cells[i];

		appendStringInfo(&json, "%s{\"%s\": %lld, ", i > 0 ? ", " : "", strategy->cell,
						 (long long) cell->number);
		if (cell->codes > 0)
			appendStringInfo(&json, "\"codes\": %lld, ", (long long) cell->codes);
		appendStringInfo(&json, "\"mean\": %s, \"probability\": %s}",
						 float8out_internal(cell->mean), float8out_internal(cell->probability));
	}
	appendStringInfoString(&json, "]}");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/*
 * One draw into the result set of the calling function: four columns for users, or seven for a
 * prompt's record.
 */
static Datum
return_draw(FunctionCallInfo fcinfo, bool for_prompt)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Cudal1Draw	draw = {0};
	text	   *name = check_name(fcinfo, 0, "task");
	text	   *pool = check_name(fcinfo, 5, "pool");
	int			n = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	const Strategy *strategy;
	Exemplar   *exemplars;
	Datum		values[7];
	bool		nulls[7] = {false};

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
	draw.picks = palloc(n * sizeof(Cudal1Pick));
	strategy->draw(&draw, n);

	exemplars = palloc(Max(draw.npicks, 1) * sizeof(Exemplar));
	for (int i = 0; i < draw.npicks; i++)
		fetch_exemplar(strategy, &draw, &draw.picks[i], &exemplars[i]);
	qsort(exemplars, draw.npicks, sizeof(Exemplar), compare_exemplars);

	if (for_prompt)
	{
		values[4] = Int32GetDatum(draw.island);
		values[5] = Int32GetDatum(draw.epoch);
		nulls[4] = nulls[5] = !draw.has_island;
		values[6] = describe_draw(strategy, &draw);
	}
	for (int i = 0; i < draw.npicks; i++)
	{
		values[0] = Int64GetDatum(exemplars[i].candidate);
		values[1] = Int32GetDatum(cudal1_score_bucket(exemplars[i].reward, draw.task.width,
													  draw.task.log_scale));
		values[2] = Float8GetDatum(exemplars[i].reward);
		values[3] = exemplars[i].code;
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
 * RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text, island int, epoch int,
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

static Cudal1Cell *
load_buckets(const Cudal1DrawTask *task, int *n)
{
	static Cudal1Query query = {
		"SELECT bucket, codes, sum_micro, sum_ln_nano FROM cudal1.bucket"
		" WHERE task_id = $1 AND pool_id = $2 AND codes > 0 ORDER BY bucket",
		2, {INT8OID, INT4OID}};
	Datum		args[] = {Int64GetDatum(task->id), Int32GetDatum(task->pool)};
	Cudal1Cell *buckets;

	cudal1_query(&query, args);
	*n = (int) SPI_processed;
	buckets = palloc(Max(*n, 1) * sizeof(Cudal1Cell));
	for (int i = 0; i < *n; i++)
		cudal1_draw_read_bucket(task, i, &buckets[i]);
	return buckets;
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
	Cudal1DrawTask task;
	Cudal1Cell *buckets;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	load_task(name, pool, &task, false);
	buckets = load_buckets(&task, &n);
	cudal1_draw_probabilities(buckets, n, isnan(temperature) ? task.temperature : temperature);
	for (int i = 0; i < n; i++)
	{
		double		mean = buckets[i].mean;
		Datum		values[6];
		bool		nulls[6] = {false};

		values[0] = Int32GetDatum((int32) buckets[i].number);
		values[1] = Float8GetDatum(bucket_edge(&task, buckets[i].number));
		values[2] = Float8GetDatum(bucket_edge(&task, buckets[i].number + 1));
		values[3] = Int64GetDatum(buckets[i].codes);
		values[4] = Float8GetDatum(task.log_scale ? exp(mean) : mean);
		values[5] = Float8GetDatum(buckets[i].probability);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	SPI_finish();
	return (Datum) 0;
}
