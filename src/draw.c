/*
 * draw.c
 *		What the strategies of a draw share: random numbers, queries, cells and picks.
 *
 * Every random number comes from one counter hashed with a seed, so draw i of seed s is the same on
 * every server and in every session.  A draw that was given no seed takes one from the system's
 * source.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "draw.h"
#include "query.h"

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
	draw->stream.key = mix((uint64) seed + UINT64CONST(0x9e3779b97f4a7c15));
	draw->stream.counter = 0;
}

static uint64
next_number(Cudal1Stream *stream)
{
	return mix(stream->key + ++stream->counter * UINT64CONST(0x9e3779b97f4a7c15));
}

double
cudal1_draw_fraction(Cudal1Draw *draw)
{
	return ((double) (next_number(&draw->stream) >> 12) + 0.5) * 0x1p-52;
}

/* a number of the incomplete last stretch is drawn again, so that all remainders are as likely */
int64
cudal1_draw_below(Cudal1Draw *draw, int64 n)
{
	uint64		range = (uint64) n;
	uint64		surplus = (-range) % range;
	uint64		x;

	do
		x = next_number(&draw->stream);
	while (x < surplus);
	return (int64) (x % range);
}

void
cudal1_draw_reserve_cells(Cudal1Draw *draw)
{
	if (draw->ncells + CUDAL1_CELLS_AT_ONCE <= draw->room)
		return;
	draw->room = 2 * draw->room + CUDAL1_CELLS_AT_ONCE;
	if (draw->cells == NULL)
		draw->cells = palloc(draw->room * sizeof(Cudal1Cell));
	else
		draw->cells = repalloc(draw->cells, draw->room * sizeof(Cudal1Cell));
}

void
cudal1_draw_reverse_cells(Cudal1Draw *draw)
{
	for (int i = 0, j = draw->ncells - 1; i < j; i++, j--)
	{
		Cudal1Cell	other = draw->cells[i];

		draw->cells[i] = draw->cells[j];
		draw->cells[j] = other;
	}
}

void
cudal1_draw_read_bucket(const Cudal1DrawTask *task, uint64 row, Cudal1Cell *cell)
{
	double		sum;

	cell->number = DatumGetInt32(cudal1_query_column(row, 1));
	cell->codes = DatumGetInt64(cudal1_query_column(row, 2));
	if (task->log_scale)
		sum = (double) DatumGetInt64(cudal1_query_column(row, 4)) / 1e9;
	else
		sum = (double) DatumGetInt64(cudal1_query_column(row, 3)) / 1e6;
	cell->mean = sum / (double) cell->codes;
}

/*
 * The paper subtracts the mean of the means before it takes exponentials.  This subtracts the
 * largest mean: the probabilities are the same, and no exponential overflows.
 */
void
cudal1_draw_probabilities(Cudal1Cell *cells, int n, double temperature)
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

void
cudal1_draw_count_codes(Cudal1Draw *draw)
{
	static Cudal1Query query = {
		"SELECT codes FROM cudal1.placement WHERE task_id = $1 AND pool_id = $2",
		2, {INT8OID, INT4OID}};
	Datum		args[] = {Int64GetDatum(draw->task.id), Int32GetDatum(draw->task.pool)};

	cudal1_query(&query, args);
	if (SPI_processed > 0)
		draw->codes = DatumGetInt64(cudal1_query_column(0, 1));
}

bool
cudal1_draw_is_picked(const Cudal1Draw *draw, int64 number, int64 slot)
{
	for (int i = 0; i < draw->npicks; i++)
		if (draw->picks[i].number == number && draw->picks[i].slot == slot)
			return true;
	return false;
}

void
cudal1_draw_pick(Cudal1Draw *draw, int64 number, int64 slot)
{
	draw->picks[draw->npicks].number = number;
	draw->picks[draw->npicks].slot = slot;
	draw->npicks++;
}
