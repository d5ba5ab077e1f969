/*
 * draw_bucket.c
 *		Strategies bucket and random: codes from the dense slots of a task's buckets in a pool.
 *
 * Strategy bucket (CUDA-L1, eq. 1) draws n distinct buckets by softmax(mean / temperature), and one
 * code of each.  Drawing without replacement is done by Gumbel's trick: independent Gumbel noise is
 * added to ln p, and the n largest sums win.  This has exactly the law of drawing one bucket after
 * the other and renormalising.
 *
 * Strategy random draws n distinct codes.  Each code of a task has a place in the pool, a number
 * that is dense over all buckets, so no bucket is read.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "draw.h"
#include "query.h"

/* puts a bucket at its rank among the n best so far, if it has one; slot holds its codes for now */
static void
rank_bucket(Cudal1Draw *draw, double *keys, int n, const Cudal1Cell *cell, double key)
{
	Cudal1Pick *picks = draw->picks;
	int			rank = draw->npicks;

	while (rank > 0 && key > keys[rank - 1])
		rank--;
	if (rank == n)
		return;
	if (draw->npicks < n)
		draw->npicks++;
	memmove(&keys[rank + 1], &keys[rank], (draw->npicks - rank - 1) * sizeof(double));
	memmove(&picks[rank + 1], &picks[rank], (draw->npicks - rank - 1) * sizeof(Cudal1Pick));
	keys[rank] = key;
	picks[rank].number = cell->number;
	picks[rank].slot = cell->codes;
}

/*
 * Buckets are read from the best one down.  Means fall with the number of the bucket, because the
 * intervals of buckets do not overlap, and the noise is bounded, because it is made of 52 bits.  So
 * reading stops at the first bucket that even the largest noise would not lift over the n-th key.
 * The buckets left out change no draw, and change probabilities by less than a double can hold.
 */
void
cudal1_draw_buckets(Cudal1Draw *draw, int n)
{
	static Cudal1Query query = {
		"SELECT bucket, codes, sum_micro, sum_ln_nano FROM cudal1.bucket"
		" WHERE task_id = $1 AND pool_id = $3 AND bucket < $2 AND codes > 0"
		" ORDER BY bucket DESC LIMIT " CppAsString2(CUDAL1_CELLS_AT_ONCE),
		3, {INT8OID, INT8OID, INT4OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int64GetDatum(PG_INT64_MAX),
	Int32GetDatum(draw->task.pool)};
	double		largest_noise = 53 * M_LN2; /* of the fraction 1 - 2^-53 */
	double	   *keys = palloc(n * sizeof(double));
	bool		over = false;

	if (isnan(draw->temperature))
		draw->temperature = draw->task.temperature;
	while (!over)
	{
		cudal1_query(&query, args);
		cudal1_draw_reserve_cells(draw);
		over = SPI_processed < CUDAL1_CELLS_AT_ONCE;
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			Cudal1Cell *cell = &draw->cells[draw->ncells];
			double		key;

			cudal1_draw_read_bucket(&draw->task, row, cell);
			/* ln p but for the logarithm of the softmax's sum, which is the same in all buckets */
			key = cell->mean / draw->temperature;
			if (draw->npicks == n && keys[n - 1] > key + largest_noise)
			{
				over = true;
				break;
			}
			draw->ncells++;
			args[1] = Int64GetDatum(cell->number);
			rank_bucket(draw, keys, n, cell, key - log(-log(cudal1_draw_fraction(draw))));
		}
	}
	for (int i = 0; i < draw->npicks; i++)
		draw->picks[i].slot = cudal1_draw_below(draw, draw->picks[i].slot);
	cudal1_draw_reverse_cells(draw);
	cudal1_draw_probabilities(draw->cells, draw->ncells, draw->temperature);
}

void
cudal1_draw_bucket_code(const Cudal1Draw *draw, const Cudal1Pick *pick)
{
	static Cudal1Query query = {
		"SELECT c.candidate_id, c.reward, c.code FROM cudal1.bucket_slot AS s"
		" JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id"
		" WHERE s.task_id = $1 AND s.pool_id = $2 AND s.bucket = $3"
		" AND s.slot = $4",
		4, {INT8OID, INT4OID, INT4OID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
	Int32GetDatum((int32) pick->number), Int64GetDatum(pick->slot)};

	cudal1_query(&query, args);
}

/* Few codes are shuffled.  Among many a repetition is rare, and is drawn again. */
void
cudal1_draw_random(Cudal1Draw *draw, int n)
{
	int64	   *places = NULL;
	int			wanted;

	cudal1_draw_count_codes(draw);
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
		int64		place = cudal1_draw_below(draw, left);

		if (places)
		{
			int64		chosen = places[place];

			places[place] = places[left - 1];
			place = chosen;
		}
		else if (cudal1_draw_is_picked(draw, 0, place))
			continue;
		cudal1_draw_pick(draw, 0, place);
	}
}

void
cudal1_draw_random_code(const Cudal1Draw *draw, const Cudal1Pick *pick)
{
	static Cudal1Query query = {
		"SELECT c.candidate_id, c.reward, c.code FROM cudal1.bucket_slot AS s"
		" JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id"
		" WHERE s.task_id = $1 AND s.pool_id = $2 AND s.place = $3",
		3, {INT8OID, INT4OID, INT8OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool),
	Int64GetDatum(pick->slot)};

	cudal1_query(&query, args);
}
