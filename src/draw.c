/*
 * draw.c
 *		Strategies of a draw: buckets by softmax, islands, codes at random.
 *
 * Every random number comes from one counter hashed with a seed, so draw i of seed s is the same on
 * every server and in every session.  A draw that was given no seed takes one from the system's
 * source.
 *
 * A draw chooses a bucket (or a cluster of an island) by counts that are kept, and then one of its
 * codes by an index: the k-th, or one near a random hash where there are many.
 */
#include "draw.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "query.h"

/* clusters whose probability is e^-40 of the best one's change no draw: fractions have 52 bits */
#define HOPELESS	40

/*
 * Codes of a bucket above which a draw reads a cell of about CELL_CODES of them, not all up to the
 * k-th.  Hashes spread codes evenly: that a cell has twice as many has a chance below 1e-16.
 */
#define LARGE_BUCKET	1024
#define CELL_CODES		100

#define CODES_OF_BUCKET	"SELECT candidate_id FROM cudal1.pool_code" \
	" WHERE task_id = $1 AND pool_id = $2 AND bucket = $3 AND NOT copy"
#define OF_HASH			" ORDER BY hashint8(candidate_id), candidate_id"

/* the finaliser of SplitMix64 */
static uint64
mix(uint64 x)
{
	x = (x ^ (x >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

int64
cudal1_draw_fresh_seed(void)
{
	int64		seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not draw a random seed")));
	return seed;
}

void
cudal1_draw_seed(Cudal1Draw *draw, int64 seed)
{
	draw->key = mix((uint64) seed + UINT64CONST(0x9e3779b97f4a7c15));
	draw->counter = 0;
}

static uint64
next_number(Cudal1Draw *draw)
{
	return mix(draw->key + ++draw->counter * UINT64CONST(0x9e3779b97f4a7c15));
}

/* in (0, 1), both ends excluded; the largest is 1 - 2^-53 */
static double
next_fraction(Cudal1Draw *draw)
{
	return ((double) (next_number(draw) >> 12) + 0.5) * 0x1p-52;
}

/*
 * Uniform in 0 .. n - 1.  A number of the incomplete last stretch is drawn again, so that all
 * remainders are as likely.
 */
static int64
next_below(Cudal1Draw *draw, int64 n)
{
	uint64		range = (uint64) n;
	uint64		surplus = (-range) % range;
	uint64		x;

	do
		x = next_number(draw);
	while (x < surplus);
	return (int64) (x % range);
}

void
cudal1_draw_load_buckets(Cudal1Draw *draw)
{
	static Cudal1Query query = {
		"SELECT bucket, codes, mean FROM cudal1.bucket WHERE task_id = $1 AND pool_id = $2"
		" ORDER BY bucket DESC",
		2, {INT8OID, INT4OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool)};

	cudal1_query(&query, args);
	draw->ncells = (int) SPI_processed;
	draw->cells = palloc(Max(draw->ncells, 1) * sizeof(Cudal1Cell));
	for (int i = 0; i < draw->ncells; i++)
	{
		Cudal1Cell *cell = &draw->cells[i];

		cell->number = DatumGetInt32(cudal1_query_column(i, 1));
		cell->codes = DatumGetInt64(cudal1_query_column(i, 2));
		cell->mean = DatumGetFloat8(cudal1_query_column(i, 3));
		draw->codes += cell->codes;
	}
}

/*
 * The paper subtracts the mean of the means before it takes exponentials.  This subtracts the
 * largest mean: the probabilities are the same, and no exponential overflows.
 */
void
cudal1_draw_probabilities(Cudal1Draw *draw, double temperature)
{
	double		largest = -INFINITY;
	double		sum = 0;

	for (int i = 0; i < draw->ncells; i++)
		largest = fmax(largest, draw->cells[i].mean);
	for (int i = 0; i < draw->ncells; i++)
	{
		Cudal1Cell *cell = &draw->cells[i];

		sum += cell->probability = exp((cell->mean - largest) / temperature);
	}
	for (int i = 0; i < draw->ncells; i++)
		draw->cells[i].probability /= sum;
}

static void
report_missing(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("a score interval of a task has fewer codes than are counted"),
			 errhint("Look for differences with cudal1_check().")));
}

/* the candidate in the only row of a query that counts and codes must agree on */
static void
pick_code(Cudal1Draw *draw, Cudal1Query *query, Datum *args)
{
	cudal1_query(query, args);
	if (SPI_processed != 1)
		report_missing();
	draw->picks[draw->npicks++] = cudal1_query_column(0, 1);
}

static bool
was_picked(const Cudal1Draw *draw, Datum candidate)
{
	for (int i = 0; i < draw->npicks; i++)
		if (draw->picks[i] == candidate)
			return true;
	return false;
}

/*
 * A code of a large bucket, each with the same chance, that was not picked before.  A cell, one of
 * equal stretches of hashes, is drawn, and one of so many places in it as no cell has codes.  Where
 * the place is empty, both are drawn again.  About half of the places hold a code.
 */
static void
pick_by_hash(Cudal1Draw *draw, const Cudal1Cell *bucket)
{
	static Cudal1Query query = {CODES_OF_BUCKET
		" AND hashint8(candidate_id) BETWEEN $4 AND $5" OF_HASH " OFFSET $6 LIMIT 1",
	6, {INT8OID, INT4OID, INT4OID, INT4OID, INT4OID, INT8OID}};
	uint64		width = (UINT64CONST(1) << 32) * CELL_CODES / bucket->codes;
	int64		cells = (PG_UINT32_MAX / width) + 1;

	for (int tries = 0; tries < 100000; tries++)
	{
		int64		first = PG_INT32_MIN + next_below(draw, cells) * (int64) width;
		int64		place = next_below(draw, 2 * CELL_CODES);
		Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
			Int32GetDatum((int32) bucket->number), Int32GetDatum((int32) first),
		Int32GetDatum((int32) Min(first + (int64) width - 1, PG_INT32_MAX)), Int64GetDatum(place)};
		Datum		candidate;

		cudal1_query(&query, args);
		if (SPI_processed == 0)
			continue;
		candidate = cudal1_query_column(0, 1);
		SPI_freetuptable(SPI_tuptable);
		if (was_picked(draw, candidate))
			continue;
		draw->picks[draw->npicks++] = candidate;
		return;
	}
	report_missing();
}

static void
pick_of_bucket(Cudal1Draw *draw, const Cudal1Cell *bucket, int64 k)
{
	static Cudal1Query query = {CODES_OF_BUCKET OF_HASH " OFFSET $4 LIMIT 1",
	4, {INT8OID, INT4OID, INT4OID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
	Int32GetDatum((int32) bucket->number), Int64GetDatum(k)};

	if (bucket->codes > LARGE_BUCKET)
		pick_by_hash(draw, bucket);
	else
		pick_code(draw, &query, args);
}

/*
 * Strategy bucket (CUDA-L1, eq. 1) draws n distinct buckets by softmax(mean / temperature), and one
 * code of each.  Drawing without replacement is done by Gumbel's trick: independent Gumbel noise is
 * added to ln p, and the n largest sums win.  This has exactly the law of drawing one bucket after
 * the other and renormalising.
 */
void
cudal1_draw_buckets(Cudal1Draw *draw, int n)
{
	double	   *keys = palloc((n + 1) * sizeof(double));
	int		   *best = palloc((n + 1) * sizeof(int));	/* cells, the largest key first */
	int			nbest = 0;

	if (isnan(draw->temperature))
		draw->temperature = draw->task.temperature;
	cudal1_draw_load_buckets(draw);
	for (int i = 0; i < draw->ncells; i++)
	{
		/* ln p but for the logarithm of the softmax's sum, which is the same in all buckets */
		double		key = draw->cells[i].mean / draw->temperature
			- log(-log(next_fraction(draw)));
		int			rank = nbest;

		for (; rank > 0 && key > keys[rank - 1]; rank--)
		{
			keys[rank] = keys[rank - 1];
			best[rank] = best[rank - 1];
		}
		keys[rank] = key;
		best[rank] = i;
		nbest = Min(nbest + 1, n);
	}
	for (int i = 0; i < nbest; i++)
	{
		Cudal1Cell *cell = &draw->cells[best[i]];

		pick_of_bucket(draw, cell, next_below(draw, cell->codes));
	}
	cudal1_draw_probabilities(draw, draw->temperature);
}

/*
 * Strategy random draws n distinct codes: numbers below the count of all codes, which the counts of
 * buckets turn into codes.  Floyd's algorithm takes one random number for each.
 */
void
cudal1_draw_random(Cudal1Draw *draw, int n)
{
	int64	   *chosen;
	int			wanted;

	cudal1_draw_load_buckets(draw);
	wanted = (int) Min((int64) n, draw->codes);
	chosen = palloc(Max(wanted, 1) * sizeof(int64));
	for (int i = 0; i < wanted; i++)
	{
		int64		last = draw->codes - wanted + i;
		int64		k = next_below(draw, last + 1);
		int			cell = 0;

		for (int j = 0; j < i; j++)
			if (chosen[j] == k)
			{
				k = last;
				break;
			}
		chosen[i] = k;
		while (k >= draw->cells[cell].codes)
			k -= draw->cells[cell++].codes;
		pick_of_bucket(draw, &draw->cells[cell], k);
	}
}

/* Draws an island that holds a code, each with the same chance; false: there is none. */
static bool
choose_island(Cudal1Draw *draw)
{
	static Cudal1Query query = {
		"SELECT n, coalesce(i.shared, true), coalesce(i.registrations,"
		" (SELECT sum(b.codes)::bigint FROM cudal1.bucket AS b"
		" WHERE b.task_id = $1 AND b.pool_id = $2))"
		" FROM generate_series(0, $3 - 1) AS n LEFT JOIN cudal1.island AS i"
		" ON i.task_id = $1 AND i.pool_id = $2 AND i.island = n"
		" WHERE EXISTS (SELECT FROM cudal1.pool_code AS s WHERE s.task_id = $1"
		" AND s.pool_id = $2 AND s.island = n AND s.cluster IS NOT NULL)"
		" OR coalesce(i.shared, true) AND EXISTS (SELECT FROM cudal1.pool_code AS s"
		" WHERE s.task_id = $1 AND s.pool_id = $2 AND s.island = -1 AND s.cluster IS NOT NULL)"
		" ORDER BY n",
		3, {INT8OID, INT4OID, INT4OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
	Int32GetDatum(draw->task.islands)};
	int64		chosen;

	cudal1_query(&query, args);
	if (SPI_processed == 0)
		return false;
	chosen = next_below(draw, (int64) SPI_processed);
	draw->island = DatumGetInt32(cudal1_query_column(chosen, 1));
	draw->shared = DatumGetBool(cudal1_query_column(chosen, 2));
	draw->registrations = DatumGetInt64(cudal1_query_column(chosen, 3));
	return true;
}

/* Clusters are read from the best one down, an index entry each. */
static void
load_clusters(Cudal1Draw *draw)
{
	static Cudal1Query query = {
		"SELECT greatest((SELECT max(s.cluster) FROM cudal1.pool_code AS s WHERE s.task_id = $1"
		" AND s.pool_id = $2 AND s.island = $3 AND s.cluster < $5),"
		" (SELECT max(s.cluster) FROM cudal1.pool_code AS s WHERE s.task_id = $1"
		" AND s.pool_id = $2 AND s.island = -1 AND $4 AND s.cluster < $5), -1)",
		5, {INT8OID, INT4OID, INT4OID, BOOLOID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
		Int32GetDatum(draw->island), BoolGetDatum(draw->shared), Int64GetDatum(PG_INT64_MAX)};
	int			room = 0;

	for (;;)
	{
		Cudal1Cell	cell = {0};

		cudal1_query(&query, args);
		cell.number = DatumGetInt64(cudal1_query_column(0, 1));
		SPI_freetuptable(SPI_tuptable);
		cell.mean = (double) cell.number / 100;
		if (draw->task.log_scale)
			cell.mean = log(fmax(cell.mean, 0.005));
		if (cell.number < 0 || (draw->ncells > 0 &&
								(draw->cells[0].mean - cell.mean) / draw->temperature > HOPELESS))
			return;
		if (draw->ncells == room)
		{
			room = Max(64, 2 * room);
			draw->cells = draw->cells ? repalloc(draw->cells, room * sizeof(Cudal1Cell)) :
				palloc(room * sizeof(Cudal1Cell));
		}
		draw->cells[draw->ncells++] = cell;
		args[4] = Int64GetDatum(cell.number);
	}
}

static int64
count_cluster(const Cudal1Draw *draw, const Cudal1Cell *cell, int32 island)
{
	static Cudal1Query query = {
		"SELECT count(*) FROM cudal1.pool_code"
		" WHERE task_id = $1 AND pool_id = $2 AND island = $3 AND cluster = $4",
		4, {INT8OID, INT4OID, INT4OID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
	Int32GetDatum(island), Int64GetDatum(cell->number)};

	cudal1_query(&query, args);
	return DatumGetInt64(cudal1_query_column(0, 1));
}

/* a code of the cluster that was not picked yet, each with the same chance, or none */
static void
pick_of_cluster(Cudal1Draw *draw, Cudal1Cell *cell, int64 *taken, int ntaken)
{
	static Cudal1Query query = {
		"SELECT candidate_id FROM cudal1.pool_code"
		" WHERE task_id = $1 AND pool_id = $2 AND island = $3 AND cluster = $4"
		" ORDER BY candidate_id OFFSET $5 LIMIT 1",
		5, {INT8OID, INT4OID, INT4OID, INT8OID, INT8OID}};
	int64		own = count_cluster(draw, cell, draw->island);
	int64		k;
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
	Int32GetDatum(draw->island), Int64GetDatum(cell->number), 0};

	cell->codes = own + (draw->shared ? count_cluster(draw, cell, -1) : 0);
	if (ntaken >= cell->codes)
		return;
	k = next_below(draw, cell->codes - ntaken);
	/* the k-th of those that are left; taken is in ascending order */
	for (int i = 0; i < ntaken && taken[i] <= k; i++)
		k++;
	for (int i = ntaken; i >= 0; i--)
	{
		if (i > 0 && taken[i - 1] > k)
			taken[i] = taken[i - 1];
		else
		{
			taken[i] = k;
			break;
		}
	}
	if (k >= own)
		args[2] = Int32GetDatum(-1);
	args[4] = Int64GetDatum(k >= own ? k - own : k);
	pick_code(draw, &query, args);
}

/*
 * Strategy island (FunSearch): clusters of one island, then a code of each.  A cluster holds the
 * codes of an island whose rewards are equal in hundredths.  min(clusters, n) clusters are drawn
 * with replacement by softmax(reward / temperature), and the temperature falls to 0 within a period
 * of registrations, and starts anew.  A code is shown once: where a cluster is drawn again, another
 * code of it is taken, and none if it has no other.
 */
void
cudal1_draw_islands(Cudal1Draw *draw, int n)
{
	int64		period = draw->task.island_period;
	int64	  **taken;
	int		   *ntaken;
	int			wanted;

	if (isnan(draw->temperature))
		draw->temperature = draw->task.island_temperature;
	if (!choose_island(draw))
		return;
	draw->temperature *= 1 - (double) (draw->registrations % period) / (double) period;
	load_clusters(draw);
	cudal1_draw_probabilities(draw, draw->temperature);

	wanted = Min(n, draw->ncells);
	taken = palloc0(Max(draw->ncells, 1) * sizeof(int64 *));
	ntaken = palloc0(Max(draw->ncells, 1) * sizeof(int));
	for (int i = 0; i < wanted; i++)
	{
		double		fraction = next_fraction(draw);
		int			at = 0;
		int			before = draw->npicks;

		while (at < draw->ncells - 1 && fraction >= draw->cells[at].probability)
			fraction -= draw->cells[at++].probability;
		if (taken[at] == NULL)
			taken[at] = palloc(n * sizeof(int64));
		pick_of_cluster(draw, &draw->cells[at], taken[at], ntaken[at]);
		ntaken[at] += draw->npicks - before;
	}
}
