/*
 * draw_island.c
 *		Strategy island (FunSearch): a cluster of one island, then a code of the cluster.
 *
 * A cluster holds the codes of an island whose rewards are equal in hundredths.  All islands that
 * hold a code are as likely.  Clusters are drawn with replacement by softmax(reward / temperature),
 * and the temperature falls with the island's registrations.
 *
 * A draw writes nothing, so it founds no islands.  Before a task's islands in a pool are founded,
 * all of its codes there would be on each of them.  The draw then reads the same clusters from the
 * index of the pool's best codes, one index entry a cluster.  Nothing numbers the codes of such a
 * cluster, so they are counted when the cluster is drawn.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "draw.h"
#include "query.h"

/* the codes that found_islands() puts on every island of task $1 in pool $2 */
#define PLACED_CODES " FROM cudal1.bucket_slot AS s WHERE s.task_id = $1 AND s.pool_id = $2" \
	" AND s.micro >= 0"

/* rewards are kept in millionths, clusters in hundredths */
#define MICRO_OF_CLUSTER	INT64CONST(10000)

/*
 * Where the clusters of a draw are.  The query finds up to `most` of those below number $5, whose
 * rewards are below $6 millionths, the highest first.
 */
typedef struct Source
{
	int			most;
	Cudal1Query query;
} Source;

static Source of_island = {CUDAL1_CELLS_AT_ONCE, {
	"SELECT cluster, codes FROM cudal1.island_cell"
	" WHERE task_id = $1 AND pool_id = $2 AND island = $3 AND epoch = $4 AND cluster < $5"
	" AND codes > 0"
	" ORDER BY cluster DESC LIMIT " CppAsString2(CUDAL1_CELLS_AT_ONCE),
	6, {INT8OID, INT4OID, INT4OID, INT4OID, INT8OID, INT8OID}}};

static Source of_pool = {1, {
	"SELECT (s.micro + 5000) / 10000, 0::bigint" PLACED_CODES
	" AND s.micro < $6 ORDER BY s.micro DESC LIMIT 1",
	6, {INT8OID, INT4OID, INT4OID, INT4OID, INT8OID, INT8OID}}};

/* the temperature falls to 0 within a period of registrations, and starts anew */
static void
cool_down(Cudal1Draw *draw)
{
	int64		period = draw->task.island_period;

	draw->temperature *= 1 - (double) (draw->registrations % period) / (double) period;
}

/* the reward of a cluster on the task's scale */
static double
cluster_mean(const Cudal1Draw *draw, int64 number)
{
	double		reward = (double) number / 100;

	return draw->task.log_scale ? log(fmax(reward, 0.005)) : reward;
}

/* the lowest reward of a cluster in millionths, as cudal1.reward_cluster() rounds */
static int64
cluster_edge(int64 number)
{
	return number * MICRO_OF_CLUSTER - MICRO_OF_CLUSTER / 2;
}

/*
 * Clusters are read from the best one down.  All that are left out have together less than a
 * 1e-20th of the probability.  A cluster is drawn by a number of 52 bits, so leaving them out
 * changes no draw.
 */
static void
load_clusters(Cudal1Draw *draw, Source *source)
{
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
		Int32GetDatum(draw->island), Int32GetDatum(draw->epoch), Int64GetDatum(PG_INT64_MAX),
	Int64GetDatum(PG_INT64_MAX)};
	bool		over = false;

	while (!over)
	{
		cudal1_query(&source->query, args);
		cudal1_draw_reserve_cells(draw);
		over = SPI_processed < source->most;
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			Cudal1Cell *cell = &draw->cells[draw->ncells];

			cell->number = DatumGetInt64(cudal1_query_column(row, 1));
			cell->codes = DatumGetInt64(cudal1_query_column(row, 2));
			cell->mean = cluster_mean(draw, cell->number);
			if ((draw->cells[0].mean - cell->mean) / draw->temperature > 70)
			{
				over = true;
				break;
			}
			args[4] = Int64GetDatum(cell->number);
			args[5] = Int64GetDatum(cluster_edge(cell->number));
			draw->ncells++;
		}
		SPI_freetuptable(SPI_tuptable);
	}
	cudal1_draw_reverse_cells(draw);
}

/*
 * One island that holds anything, each with the same chance.  False: the task has none in the pool
 * yet.
 */
static bool
choose_island(Cudal1Draw *draw)
{
	static Cudal1Query query = {
		"SELECT i.island, i.epoch, i.registrations,"
		" EXISTS (SELECT FROM cudal1.island_cell AS c WHERE c.task_id = i.task_id"
		" AND c.pool_id = i.pool_id AND c.island = i.island AND c.epoch = i.epoch"
		" AND c.codes > 0)"
		" FROM cudal1.island AS i WHERE i.task_id = $1 AND i.pool_id = $2"
		" ORDER BY 4 DESC, i.island",
		2, {INT8OID, INT4OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool)};
	int64		inhabited = 0;
	int64		chosen;

	cudal1_query(&query, args);
	if (SPI_processed == 0)
		return false;
	while (inhabited < SPI_processed && DatumGetBool(cudal1_query_column(inhabited, 4)))
		inhabited++;
	if (inhabited > 0)
	{
		chosen = cudal1_draw_below(draw, inhabited);
		draw->has_island = true;
		draw->island = DatumGetInt32(cudal1_query_column(chosen, 1));
		draw->epoch = DatumGetInt32(cudal1_query_column(chosen, 2));
		draw->registrations = DatumGetInt64(cudal1_query_column(chosen, 3));
	}
	return true;
}

static void
count_cluster(const Cudal1Draw *draw, Cudal1Cell *cell)
{
	static Cudal1Query query = {
		"SELECT count(*)" PLACED_CODES " AND s.micro >= $3 AND s.micro < $4",
		4, {INT8OID, INT4OID, INT8OID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
		Int64GetDatum(cluster_edge(cell->number)),
	Int64GetDatum(cluster_edge(cell->number + 1))};

	cudal1_query(&query, args);
	cell->codes = DatumGetInt64(cudal1_query_column(0, 1));
}

/* the cluster in whose share of the probability a fraction lies */
static Cudal1Cell *
cluster_at(const Cudal1Draw *draw, double fraction)
{
	int			i = 0;

	while (i < draw->ncells - 1 && fraction >= draw->cells[i].probability)
		fraction -= draw->cells[i++].probability;
	return &draw->cells[i];
}

/*
 * Draws min(clusters, n) clusters.  A code is shown once: where a cluster is drawn again, another
 * code of it is taken, and none if it has no other.
 */
void
cudal1_draw_islands(Cudal1Draw *draw, int n)
{
	bool		founded = choose_island(draw);
	int			wanted;

	if (isnan(draw->temperature))
		draw->temperature = draw->task.island_temperature;
	if (founded && !draw->has_island)
		return;
	if (!founded)
	{
		cudal1_draw_count_codes(draw);
		draw->registrations = draw->codes;
	}
	cool_down(draw);
	load_clusters(draw, founded ? &of_island : &of_pool);
	cudal1_draw_probabilities(draw->cells, draw->ncells, draw->temperature);

	wanted = Min(n, draw->ncells);
	for (int i = 0; i < wanted; i++)
	{
		Cudal1Cell *cell = cluster_at(draw, cudal1_draw_fraction(draw));
		int64		taken = 0;
		int64		slot;

		for (int p = 0; p < draw->npicks; p++)
			taken += draw->picks[p].number == cell->number;
		if (cell->codes == 0)
			count_cluster(draw, cell);
		if (taken >= cell->codes)
			continue;
		do
			slot = cudal1_draw_below(draw, cell->codes);
		while (cudal1_draw_is_picked(draw, cell->number, slot));
		cudal1_draw_pick(draw, cell->number, slot);
	}
}

static void
fetch_by_slot(const Cudal1Draw *draw, const Cudal1Pick *pick)
{
	static Cudal1Query query = {
		"SELECT c.candidate_id, c.reward, c.code FROM cudal1.island_slot AS s"
		" JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id"
		" WHERE s.task_id = $1 AND s.pool_id = $2 AND s.island = $3"
		" AND s.epoch = $4 AND s.cluster = $5 AND s.slot = $6",
		6, {INT8OID, INT4OID, INT4OID, INT4OID, INT8OID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
		Int32GetDatum(draw->island), Int32GetDatum(draw->epoch), Int64GetDatum(pick->number),
	Int64GetDatum(pick->slot)};

	cudal1_query(&query, args);
}

static void
fetch_by_rank(const Cudal1Draw *draw, const Cudal1Pick *pick)
{
	static Cudal1Query query = {
		"SELECT c.candidate_id, c.reward, c.code"
		" FROM (SELECT s.candidate_id" PLACED_CODES
		" AND s.micro >= $3 AND s.micro < $4"
		" ORDER BY s.micro DESC, s.candidate_id OFFSET $5 LIMIT 1) AS s"
		" JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id",
		5, {INT8OID, INT4OID, INT8OID, INT8OID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
		Int64GetDatum(cluster_edge(pick->number)),
	Int64GetDatum(cluster_edge(pick->number + 1)), Int64GetDatum(pick->slot)};

	cudal1_query(&query, args);
}

void
cudal1_draw_island_code(const Cudal1Draw *draw, const Cudal1Pick *pick)
{
	if (draw->has_island)
		fetch_by_slot(draw, pick);
	else
		fetch_by_rank(draw, pick);
}
