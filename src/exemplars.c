/*
 * exemplars.c
 *		Draws of exemplars: by bucket, by island, at random.
 *
 * A draw reads bucket rows of one task (or cluster rows of one island) and then one index entry a code: slots are dense, so a
 * uniform pick is a number below the count.  Its cost does not depend on the number of candidates, nor on how many buckets
 * there are: where the strategy prefers high scores, it reads them from the best one down and stops where none that follows
 * can win; where all codes are alike it reads none, as places are dense over all buckets of a task.  Only before a task's
 * islands are founded the codes of a cluster that is drawn are counted, since nothing numbers them.  All its queries use the
 * snapshot of the calling statement; otherwise a code that moves between two of them would leave a slot that nobody finds.
 *
 * Randomness comes through one door, a counter hashed with a seed: draw i of seed s is the same on every server and in every
 * session, and the seed of a draw that was not given one is taken from the system's source.
 *
 * Without replacement over buckets is done by Gumbel's trick: adding independent Gumbel noise to ln p and taking the n largest
 * has exactly the law of drawing one after the other and renormalising.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "nearest.h"
#include "score.h"

PG_FUNCTION_INFO_V1(cudal1_bucket_stats);
PG_FUNCTION_INFO_V1(cudal1_sample_exemplars);
PG_FUNCTION_INFO_V1(cudal1_draw);
PG_FUNCTION_INFO_V1(cudal1_random_seed);

/* more codes than any prompt holds, few enough for comparing each with each */
#define MAX_EXEMPLARS	1000

/* buckets or clusters read by one query: more than most draws need */
#define BUCKETS_AT_ONCE	64

typedef struct Draws
{
	uint64		key;
	uint64		counter;
} Draws;

typedef struct Task
{
	int64		id;
	double		width;
	bool		log_scale;
	double		temperature;
	char	   *strategy;
	double		island_temperature;
	int64		island_period;
} Task;

/* a bucket, or a cluster of an island: what is drawn first */
typedef struct Cell
{
	int64		number;			/* k of a bucket, hundredths of a cluster */
	int64		codes;			/* 0: not counted yet */
	double		mean;			/* on the task's scale */
	double		probability;
} Cell;

typedef struct Pick
{
	int64		number;			/* of the cell; at random there is one */
	int64		slot;
} Pick;

typedef struct Exemplar
{
	int64		candidate;
	double		reward;
	Datum		code;
} Exemplar;

typedef struct Draw
{
	Task		task;
	int			strategy;
	double		temperature;
	Cell	   *cells;
	int			ncells;
	bool		has_island;
	int32		island;
	int32		epoch;
	int64		registrations;
	Pick	   *picks;
	int			npicks;
	int64		codes;			/* at random, or before islands are founded: how many the task has */
} Draw;

enum
{
	STRATEGY_BUCKET,
	STRATEGY_ISLAND,
	STRATEGY_RANDOM,
};
static const char *const strategies[] = {"bucket", "island", "random"};

/* the finaliser of SplitMix64 */
static uint64
mix(uint64 x)
{
	x = (x ^ (x >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void
seed_draws(Draws *draws, int64 seed)
{
	draws->key = mix((uint64) seed + UINT64CONST(0x9e3779b97f4a7c15));
	draws->counter = 0;
}

static uint64
next_draw(Draws *draws)
{
	return mix(draws->key + ++draws->counter * UINT64CONST(0x9e3779b97f4a7c15));
}

/* in (0, 1), both ends excluded: the largest is 1 - 2^-53, the number below 1 */
static double
draw_fraction(Draws *draws)
{
	return ((double) (next_draw(draws) >> 12) + 0.5) * 0x1p-52;
}

/* uniform in 0 .. n - 1; numbers of the incomplete last stretch are drawn again */
static int64
draw_below(Draws *draws, int64 n)
{
	uint64		range = (uint64) n;
	uint64		surplus = (-range) % range;
	uint64		x;

	do
		x = next_draw(draws);
	while (x < surplus);
	return (int64) (x % range);
}

static int64
fresh_seed(void)
{
	int64		seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not draw a random seed")));
	return seed;
}

/*
 * cudal1.random_seed() RETURNS bigint
 */
Datum
cudal1_random_seed(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(fresh_seed());
}

/* runs a query through a plan kept for the session, in the snapshot of the calling statement */
static void
execute(SPIPlanPtr *plan, const char *query, int nargs, Oid *types, Datum *args)
{
	if (*plan == NULL)
	{
		SPIPlanPtr	prepared = SPI_prepare(query, nargs, types);

		if (prepared == NULL || SPI_keepplan(prepared) != 0)
			elog(ERROR, "could not prepare \"%s\"", query);
		*plan = prepared;
	}
	if (SPI_execute_plan(*plan, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not execute \"%s\"", query);
}

/* a column of a row of the last query; no column read here can be NULL but where the caller asks */
static Datum
column(uint64 row, int number, bool *isnull)
{
	bool		ignored;

	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, number, isnull ? isnull : &ignored);
}

static void
load_task(text *name, Task *task)
{
	static SPIPlanPtr plan = NULL;
	static SPIPlanPtr absent = NULL;
	Oid			types[] = {TEXTOID};
	Datum		args[] = {PointerGetDatum(name)};

	execute(&plan, "SELECT t.task_id, t.bucket_width, t.score_scale = 'log', t.temperature, t.strategy, k.temperature, k.period"
			" FROM cudal1.task AS t CROSS JOIN LATERAL cudal1.island_constants(t.options) AS k WHERE t.name = $1",
			1, types, args);
	if (SPI_processed == 0)
		execute(&absent, "SELECT cudal1.find_task($1)", 1, types, args);	/* raises the error */
	task->id = DatumGetInt64(column(0, 1, NULL));
	task->width = DatumGetFloat8(column(0, 2, NULL));
	task->log_scale = DatumGetBool(column(0, 3, NULL));
	task->temperature = DatumGetFloat8(column(0, 4, NULL));
	task->strategy = TextDatumGetCString(column(0, 5, NULL));
	task->island_temperature = DatumGetFloat8(column(0, 6, NULL));
	task->island_period = DatumGetInt64(column(0, 7, NULL));
}

static double
check_temperature(FunctionCallInfo fcinfo, int position, double otherwise)
{
	double		temperature;

	if (PG_ARGISNULL(position))
		return otherwise;
	temperature = PG_GETARG_FLOAT8(position);
	if (!isfinite(temperature) || !(temperature > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"temperature\" must be a finite number above 0")));
	return temperature;
}

static text *
check_task(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"task\" must not be NULL")));
	return PG_GETARG_TEXT_PP(0);
}

/*
 * Probabilities of cells: softmax of mean / temperature.  The paper centres on the mean of the means, which changes nothing
 * but the range of the exponentials; the maximum serves that purpose better.
 */
static void
compute_probabilities(Cell *cells, int n, double temperature)
{
	double		largest = -INFINITY;
	double		sum = 0;

	for (int i = 0; i < n; i++)
		largest = fmax(largest, cells[i].mean);
	for (int i = 0; i < n; i++)
		sum += cells[i].probability = exp((cells[i].mean - largest) / temperature);
	for (int i = 0; i < n; i++)
		cells[i].probability /= sum;
}

/* a row of bucket, codes, sum_micro, sum_ln_nano */
static void
read_bucket(const Task *task, uint64 row, Cell *cell)
{
	cell->number = DatumGetInt32(column(row, 1, NULL));
	cell->codes = DatumGetInt64(column(row, 2, NULL));
	cell->mean = task->log_scale ? (double) DatumGetInt64(column(row, 4, NULL)) / 1e9 / (double) cell->codes
		: (double) DatumGetInt64(column(row, 3, NULL)) / 1e6 / (double) cell->codes;
}

static void
load_buckets(const Task *task, Cell **cells, int *n)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(task->id)};

	execute(&plan, "SELECT bucket, codes, sum_micro, sum_ln_nano FROM cudal1.bucket WHERE task_id = $1 AND codes > 0"
			" ORDER BY bucket", 1, types, args);
	*n = (int) SPI_processed;
	*cells = palloc(Max(*n, 1) * sizeof(Cell));
	for (int i = 0; i < *n; i++)
		read_bucket(task, i, &(*cells)[i]);
}

/* descending order becomes ascending */
static void
reverse_cells(Cell *cells, int n)
{
	for (int i = 0; i < n / 2; i++)
	{
		Cell		other = cells[i];

		cells[i] = cells[n - 1 - i];
		cells[n - 1 - i] = other;
	}
}

/*
 * Means fall with the number of the bucket, since intervals don't overlap, and the noise is bounded, since it is made of 52
 * bits: where even the largest noise would not lift a bucket over the n-th key, it and all below it are out.  What is left
 * out changes no draw, and probabilities by less than what a double holds of them.
 */
static void
draw_buckets(Draw *draw, int n, Draws *draws)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {INT8OID, INT8OID};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int64GetDatum(PG_INT64_MAX)};
	double		largest_noise = 53 * M_LN2; /* of the fraction 1 - 2^-53 */
	Pick	   *first = draw->picks;
	double	   *keys = palloc(n * sizeof(double));
	int			room = BUCKETS_AT_ONCE;
	bool		over = false;

	draw->cells = palloc(room * sizeof(Cell));
	while (!over)
	{
		execute(&plan, "SELECT bucket, codes, sum_micro, sum_ln_nano FROM cudal1.bucket"
				" WHERE task_id = $1 AND bucket < $2 AND codes > 0 ORDER BY bucket DESC LIMIT " CppAsString2(BUCKETS_AT_ONCE),
				2, types, args);
		if (draw->ncells + BUCKETS_AT_ONCE > room)
			draw->cells = repalloc(draw->cells, (room *= 2) * sizeof(Cell));
		over = SPI_processed < BUCKETS_AT_ONCE;
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			Cell	   *cell = &draw->cells[draw->ncells];
			int			place = draw->npicks;
			double		key;

			read_bucket(&draw->task, row, cell);
			/* the constant ln of the softmax's sum is left out */
			key = cell->mean / draw->temperature;
			if (draw->npicks == n && keys[n - 1] > key + largest_noise)
			{
				over = true;
				break;
			}
			draw->ncells++;
			args[1] = Int64GetDatum(cell->number);
			key -= log(-log(draw_fraction(draws)));
			while (place > 0 && key > keys[place - 1])
				place--;
			if (place == n)
				continue;
			if (draw->npicks < n)
				draw->npicks++;
			memmove(&keys[place + 1], &keys[place], (draw->npicks - place - 1) * sizeof(double));
			memmove(&first[place + 1], &first[place], (draw->npicks - place - 1) * sizeof(Pick));
			keys[place] = key;
			first[place].number = cell->number;
			first[place].slot = cell->codes;
		}
	}
	for (int i = 0; i < draw->npicks; i++)
		first[i].slot = draw_below(draws, first[i].slot);
	reverse_cells(draw->cells, draw->ncells);
}

static bool
already_picked(const Draw *draw, int64 number, int64 slot)
{
	for (int i = 0; i < draw->npicks; i++)
		if (draw->picks[i].number == number && draw->picks[i].slot == slot)
			return true;
	return false;
}

static void
count_codes(Draw *draw)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(draw->task.id)};

	execute(&plan, "SELECT codes FROM cudal1.placement WHERE task_id = $1", 1, types, args);
	if (SPI_processed > 0)
		draw->codes = DatumGetInt64(column(0, 1, NULL));
}

static void
draw_random(Draw *draw, int n, Draws *draws)
{
	int64	   *places = NULL;
	int			wanted;

	count_codes(draw);

	/* few codes are shuffled, among many a repetition is rare and drawn again */
	if (draw->codes <= 2 * (int64) n)
	{
		places = palloc(Max(draw->codes, 1) * sizeof(int64));
		for (int64 i = 0; i < draw->codes; i++)
			places[i] = i;
	}
	wanted = (int) Min((int64) n, draw->codes);
	while (draw->npicks < wanted)
	{
		int64		left = draw->codes - (places ? draw->npicks : 0);
		int64		place = draw_below(draws, left);

		if (places)
		{
			int64		chosen = places[place];

			places[place] = places[left - 1];
			place = chosen;
		}
		else if (already_picked(draw, 0, place))
			continue;
		draw->picks[draw->npicks].number = 0;
		draw->picks[draw->npicks].slot = place;
		draw->npicks++;
	}
}

/* the temperature falls to 0 in a period of registrations, and starts anew */
static void
cool_down(Draw *draw)
{
	draw->temperature *= 1 - (double) (draw->registrations % draw->task.island_period) / (double) draw->task.island_period;
}

/* the reward of a cluster on the task's scale */
static double
cluster_mean(const Draw *draw, int64 number)
{
	double		reward = (double) number / 100;

	return draw->task.log_scale ? log(fmax(reward, 0.005)) : reward;
}

/*
 * Clusters of an island from the best one down; what is left out has, all together, less than a 1e-20th of the probability.
 * The slots are drawn with replacement, each by one number of 52 bits, so no draw could tell.
 */
static void
load_cells(Draw *draw, SPIPlanPtr *plan, Datum *args)
{
	Oid			types[] = {INT8OID, INT4OID, INT4OID, INT8OID};
	int			room = BUCKETS_AT_ONCE;
	bool		over = false;

	args[3] = Int64GetDatum(PG_INT64_MAX);
	draw->cells = palloc0(room * sizeof(Cell));
	while (!over)
	{
		execute(plan, "SELECT cluster, codes FROM cudal1.island_cell WHERE task_id = $1 AND island = $2 AND epoch = $3"
				" AND cluster < $4 AND codes > 0 ORDER BY cluster DESC LIMIT " CppAsString2(BUCKETS_AT_ONCE), 4, types, args);
		if (draw->ncells + BUCKETS_AT_ONCE > room)
			draw->cells = repalloc(draw->cells, (room *= 2) * sizeof(Cell));
		over = SPI_processed < BUCKETS_AT_ONCE;
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			Cell	   *cell = &draw->cells[draw->ncells];

			cell->number = DatumGetInt64(column(row, 1, NULL));
			cell->codes = DatumGetInt64(column(row, 2, NULL));
			if ((cluster_mean(draw, draw->cells[0].number) - cluster_mean(draw, cell->number)) / draw->temperature > 70)
			{
				over = true;
				break;
			}
			args[3] = Int64GetDatum(cell->number);
			draw->ncells++;
		}
	}
	reverse_cells(draw->cells, draw->ncells);
}

/* the lowest reward of a cluster, to the last bit: rewards are rounded to hundredths, those above 1e9 count as 1e9 */
static double
cluster_edge(int64 number)
{
	double		edge = ((double) number - 0.5) / 100;

	if (number > INT64CONST(100000000000))
		return get_float8_infinity();
	while (rint(edge * 100) >= (double) number)
		edge = nextafter(edge, -INFINITY);
	while (rint(edge * 100) < (double) number)
		edge = nextafter(edge, INFINITY);
	return edge;
}

/* what would be on every island, were they founded */
#define PLACED_CANDIDATES "FROM cudal1.candidate WHERE task_id = $1 AND state = 'successful' AND purpose = 'normal'"

/*
 * Likewise where the task has no islands yet, and every candidate would be on all of them: the index of a task's best leads
 * from each cluster to the next one below it.  Its codes are counted where it is drawn.
 */
static void
load_unfounded_cells(Draw *draw)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {INT8OID, FLOAT8OID};
	Datum		args[] = {Int64GetDatum(draw->task.id), Float8GetDatum(get_float8_infinity())};
	int			room = BUCKETS_AT_ONCE;

	draw->cells = palloc0(room * sizeof(Cell));
	for (;;)
	{
		Cell	   *cell;

		execute(&plan, "SELECT cudal1.reward_cluster(reward) " PLACED_CANDIDATES " AND reward < $2 ORDER BY reward DESC LIMIT 1",
				2, types, args);
		if (SPI_processed == 0)
			break;
		if (draw->ncells == room)
			draw->cells = repalloc(draw->cells, (room *= 2) * sizeof(Cell));
		cell = &draw->cells[draw->ncells];
		cell->number = DatumGetInt64(column(0, 1, NULL));
		cell->codes = 0;
		SPI_freetuptable(SPI_tuptable);
		if ((cluster_mean(draw, draw->cells[0].number) - cluster_mean(draw, cell->number)) / draw->temperature > 70)
			break;
		args[1] = Float8GetDatum(cluster_edge(cell->number));
		draw->ncells++;
	}
	reverse_cells(draw->cells, draw->ncells);
}

static void
count_cell(const Draw *draw, Cell *cell)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {INT8OID, FLOAT8OID, FLOAT8OID};
	Datum		args[] = {Int64GetDatum(draw->task.id), Float8GetDatum(cluster_edge(cell->number)),
	Float8GetDatum(cluster_edge(cell->number + 1))};

	if (cell->codes > 0)
		return;
	execute(&plan, "SELECT count(*) " PLACED_CANDIDATES " AND reward >= $2 AND reward < $3", 3, types, args);
	cell->codes = DatumGetInt64(column(0, 1, NULL));
}

/*
 * Clusters of one island that holds anything, each island with the same chance.
 */
static void
load_clusters(Draw *draw, Draws *draws)
{
	static SPIPlanPtr islands = NULL;
	static SPIPlanPtr cells = NULL;
	Oid			types[] = {INT8OID};
	Datum		args[4] = {Int64GetDatum(draw->task.id)};

	execute(&islands, "SELECT i.island, i.epoch, i.registrations, EXISTS (SELECT FROM cudal1.island_cell AS c"
			" WHERE c.task_id = i.task_id AND c.island = i.island AND c.epoch = i.epoch AND c.codes > 0)"
			" FROM cudal1.island AS i WHERE i.task_id = $1 ORDER BY 4 DESC, i.island", 1, types, args);
	if (SPI_processed > 0)
	{
		int64		inhabited = 0;
		int64		chosen;

		while (inhabited < SPI_processed && DatumGetBool(column(inhabited, 4, NULL)))
			inhabited++;
		if (inhabited == 0)
			return;
		chosen = draw_below(draws, inhabited);
		draw->has_island = true;
		draw->island = DatumGetInt32(column(chosen, 1, NULL));
		draw->epoch = DatumGetInt32(column(chosen, 2, NULL));
		draw->registrations = DatumGetInt64(column(chosen, 3, NULL));

		args[1] = Int32GetDatum(draw->island);
		args[2] = Int32GetDatum(draw->epoch);
		cool_down(draw);
		load_cells(draw, &cells, args);
		return;
	}

	count_codes(draw);
	draw->registrations = draw->codes;
	cool_down(draw);
	load_unfounded_cells(draw);
}

/*
 * FunSearch: min(clusters, n) clusters with replacement, the temperature falling with the island's registrations.  A code
 * is shown once: where its cluster is drawn again another of the cluster is taken, and none if there is no other.
 */
static void
draw_island(Draw *draw, int n, Draws *draws)
{
	int			wanted;

	load_clusters(draw, draws);
	for (int i = 0; i < draw->ncells; i++)
		draw->cells[i].mean = cluster_mean(draw, draw->cells[i].number);
	compute_probabilities(draw->cells, draw->ncells, draw->temperature);

	wanted = Min(n, draw->ncells);
	for (int i = 0; i < wanted; i++)
	{
		double		fraction = draw_fraction(draws);
		int			cell = 0;
		int64		taken = 0;
		int64		slot;

		while (cell < draw->ncells - 1 && fraction >= draw->cells[cell].probability)
			fraction -= draw->cells[cell++].probability;
		for (int p = 0; p < draw->npicks; p++)
			taken += draw->picks[p].number == draw->cells[cell].number;
		count_cell(draw, &draw->cells[cell]);
		if (taken >= draw->cells[cell].codes)
			continue;
		do
			slot = draw_below(draws, draw->cells[cell].codes);
		while (already_picked(draw, draw->cells[cell].number, slot));
		draw->picks[draw->npicks].number = draw->cells[cell].number;
		draw->picks[draw->npicks].slot = slot;
		draw->npicks++;
	}
}

static void
fetch_exemplar(const Draw *draw, const Pick *pick, Exemplar *exemplar)
{
	static SPIPlanPtr by_bucket = NULL;
	static SPIPlanPtr by_place = NULL;
	static SPIPlanPtr by_cluster = NULL;
	static SPIPlanPtr by_rank = NULL;

	if (draw->strategy == STRATEGY_RANDOM)
	{
		Oid			types[] = {INT8OID, INT8OID};
		Datum		args[] = {Int64GetDatum(draw->task.id), Int64GetDatum(pick->slot)};

		execute(&by_place, "SELECT c.candidate_id, c.reward, c.code FROM cudal1.bucket_slot AS s"
				" JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id"
				" WHERE s.task_id = $1 AND s.place = $2", 2, types, args);
	}
	else if (draw->strategy == STRATEGY_BUCKET)
	{
		Oid			types[] = {INT8OID, INT4OID, INT8OID};
		Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum((int32) pick->number), Int64GetDatum(pick->slot)};

		execute(&by_bucket, "SELECT c.candidate_id, c.reward, c.code FROM cudal1.bucket_slot AS s"
				" JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id"
				" WHERE s.task_id = $1 AND s.bucket = $2 AND s.slot = $3", 3, types, args);
	}
	else if (draw->has_island)
	{
		Oid			types[] = {INT8OID, INT4OID, INT4OID, INT8OID, INT8OID};
		Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->island), Int32GetDatum(draw->epoch),
		Int64GetDatum(pick->number), Int64GetDatum(pick->slot)};

		execute(&by_cluster, "SELECT c.candidate_id, c.reward, c.code FROM cudal1.island_slot AS s"
				" JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id"
				" WHERE s.task_id = $1 AND s.island = $2 AND s.epoch = $3 AND s.cluster = $4 AND s.slot = $5",
				5, types, args);
	}
	else
	{
		Oid			types[] = {INT8OID, FLOAT8OID, FLOAT8OID, INT8OID};
		Datum		args[] = {Int64GetDatum(draw->task.id), Float8GetDatum(cluster_edge(pick->number)),
		Float8GetDatum(cluster_edge(pick->number + 1)), Int64GetDatum(pick->slot)};

		execute(&by_rank, "SELECT candidate_id, reward, code " PLACED_CANDIDATES " AND reward >= $2 AND reward < $3"
				" ORDER BY reward DESC, candidate_id OFFSET $4 LIMIT 1", 4, types, args);
	}
	if (SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 draw->strategy == STRATEGY_RANDOM ? errmsg("place %lld of a task is empty", (long long) pick->slot)
				 : errmsg("slot %lld of a score interval is empty", (long long) pick->slot),
				 errhint("Look for differences with cudal1.recount(), repair them with cudal1.rebucket().")));
	exemplar->candidate = DatumGetInt64(column(0, 1, NULL));
	exemplar->reward = DatumGetFloat8(column(0, 2, NULL));
	exemplar->code = PointerGetDatum(PG_DETOAST_DATUM_COPY(column(0, 3, NULL)));
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
describe_draw(const Draw *draw)
{
	StringInfoData json;
	bool		clusters = draw->strategy == STRATEGY_ISLAND;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"strategy\": \"%s\"", strategies[draw->strategy]);
	if (draw->strategy != STRATEGY_RANDOM)
		appendStringInfo(&json, ", \"temperature\": %s", float8out_internal(draw->temperature));
	if (clusters)
		appendStringInfo(&json, ", \"registrations\": %lld", (long long) draw->registrations);
	if (draw->strategy == STRATEGY_RANDOM)
	{
		appendStringInfo(&json, ", \"codes\": %lld}", (long long) draw->codes);
		return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
	}
	appendStringInfo(&json, ", \"%s\": [", clusters ? "clusters" : "buckets");
	for (int i = 0; i < draw->ncells; i++)
	{
		appendStringInfo(&json, "%s{\"%s\": %lld, ", i > 0 ? ", " : "", clusters ? "cluster" : "bucket",
						 (long long) draw->cells[i].number);
		if (draw->cells[i].codes > 0)
			appendStringInfo(&json, "\"codes\": %lld, ", (long long) draw->cells[i].codes);
		appendStringInfo(&json, "\"mean\": %s, \"probability\": %s}", float8out_internal(draw->cells[i].mean),
						 float8out_internal(draw->cells[i].probability));
	}
	appendStringInfoString(&json, "]}");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/*
 * One draw into the result set of the calling function: four columns for users, or seven for a prompt's record.
 */
static Datum
return_draw(FunctionCallInfo fcinfo, bool for_prompt)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Draw		draw = {0};
	Draws		draws;
	text	   *name = check_task(fcinfo);
	int			n = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	char	   *strategy = PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2));
	char	   *nearest;
	Exemplar   *exemplars;
	Datum		values[7];
	bool		nulls[7] = {false};

	if (n < 1 || n > MAX_EXEMPLARS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"n\" must be between 1 and %d", MAX_EXEMPLARS)));
	check_temperature(fcinfo, 3, 1);
	seed_draws(&draws, PG_ARGISNULL(4) ? fresh_seed() : PG_GETARG_INT64(4));

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	load_task(name, &draw.task);
	if (strategy == NULL)
		strategy = draw.task.strategy;
	while (draw.strategy < lengthof(strategies) && strcmp(strategies[draw.strategy], strategy) != 0)
		draw.strategy++;

	draw.picks = palloc(n * sizeof(Pick));
	switch (draw.strategy)
	{
		case STRATEGY_BUCKET:
			draw.temperature = check_temperature(fcinfo, 3, draw.task.temperature);
			draw_buckets(&draw, n, &draws);
			break;
		case STRATEGY_ISLAND:
			draw.temperature = check_temperature(fcinfo, 3, draw.task.island_temperature);
			draw_island(&draw, n, &draws);
			break;
		case STRATEGY_RANDOM:
			draw_random(&draw, n, &draws);
			break;
		default:
			nearest = cudal1_nearest_words(strategy, strategies, lengthof(strategies));
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("strategy \"%s\" does not exist", strategy),
					 errhint("%s%sValid strategies are \"bucket\", \"island\" and \"random\".", nearest ? nearest : "", nearest ? " " : "")));
	}

	exemplars = palloc(Max(draw.npicks, 1) * sizeof(Exemplar));
	for (int i = 0; i < draw.npicks; i++)
		fetch_exemplar(&draw, &draw.picks[i], &exemplars[i]);
	qsort(exemplars, draw.npicks, sizeof(Exemplar), compare_exemplars);

	if (for_prompt)
	{
		if (draw.strategy == STRATEGY_BUCKET)
			compute_probabilities(draw.cells, draw.ncells, draw.temperature);
		values[4] = Int32GetDatum(draw.island);
		values[5] = Int32GetDatum(draw.epoch);
		nulls[4] = nulls[5] = !draw.has_island;
		values[6] = describe_draw(&draw);
	}
	for (int i = 0; i < draw.npicks; i++)
	{
		values[0] = Int64GetDatum(exemplars[i].candidate);
		values[1] = Int32GetDatum(cudal1_score_bucket(exemplars[i].reward, draw.task.width, draw.task.log_scale));
		values[2] = Float8GetDatum(exemplars[i].reward);
		values[3] = exemplars[i].code;
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	SPI_finish();
	return (Datum) 0;
}

/*
 * cudal1_sample_exemplars(task text, n int, strategy text, temperature float8, seed bigint)
 * RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text)
 */
Datum
cudal1_sample_exemplars(PG_FUNCTION_ARGS)
{
	return return_draw(fcinfo, false);
}

/*
 * cudal1.draw(task text, n int, strategy text, temperature float8, seed bigint)
 * RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text, island int, epoch int, probabilities jsonb)
 */
Datum
cudal1_draw(PG_FUNCTION_ARGS)
{
	return return_draw(fcinfo, true);
}

/* an edge of a bucket as decimal arithmetic gives it: 23 * 0.05 is 1.15 */
static double
bucket_edge(const Task *task, int64 number)
{
	char		digits[64];
	double		edge = (double) number * task->width;

	snprintf(digits, sizeof(digits), "%.15g", edge);
	edge = strtod(digits, NULL);
	return task->log_scale ? exp(edge) : edge;
}

/*
 * cudal1_bucket_stats(task text, temperature float8)
 * RETURNS TABLE (bucket int, lower float8, upper float8, codes bigint, mean float8, probability float8)
 */
Datum
cudal1_bucket_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	text	   *name = check_task(fcinfo);
	Task		task;
	Cell	   *cells;
	int			n;

	check_temperature(fcinfo, 1, 1);
	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	load_task(name, &task);
	load_buckets(&task, &cells, &n);
	compute_probabilities(cells, n, check_temperature(fcinfo, 1, task.temperature));
	for (int i = 0; i < n; i++)
	{
		Datum		values[6];
		bool		nulls[6] = {false};

		values[0] = Int32GetDatum((int32) cells[i].number);
		values[1] = Float8GetDatum(bucket_edge(&task, cells[i].number));
		values[2] = Float8GetDatum(bucket_edge(&task, cells[i].number + 1));
		values[3] = Int64GetDatum(cells[i].codes);
		values[4] = Float8GetDatum(task.log_scale ? exp(cells[i].mean) : cells[i].mean);
		values[5] = Float8GetDatum(cells[i].probability);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	SPI_finish();
	return (Datum) 0;
}
