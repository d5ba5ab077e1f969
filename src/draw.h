/*
 * draw.h
 *		One draw of exemplars, and the parts that its strategies share.
 *
 * A strategy (bucket, island, random) fills in the picks of a draw, and later fetches the code of
 * each pick.  All functions below run between SPI_connect and SPI_finish.
 */
#ifndef CUDAL1_DRAW_H
#define CUDAL1_DRAW_H

#include "postgres.h"

#define CUDAL1_CELLS_AT_ONCE	64	/* cells read by one query: more than most draws need */

/* a stream of random numbers: a counter, hashed with a key */
typedef struct Cudal1Stream
{
	uint64		key;
	uint64		counter;
} Cudal1Stream;

/* a task in a pool, with the columns that a draw depends on */
typedef struct Cudal1DrawTask
{
	int64		id;
	int32		pool;			/* its codes alone are drawn from */
	double		width;			/* of a bucket */
	bool		log_scale;
	double		temperature;
	char	   *strategy;
	double		island_temperature;
	int64		island_period;
} Cudal1DrawTask;

/* a bucket, or a cluster of an island: a draw chooses a cell first, then a code in it */
typedef struct Cudal1Cell
{
	int64		number;			/* k of a bucket, hundredths of a cluster */
	int64		codes;			/* 0: not counted yet */
	double		mean;			/* on the task's scale */
	double		probability;
} Cudal1Cell;

/* a code: a slot of a cell.  Strategy random has no cells, and counts the task's codes instead */
typedef struct Cudal1Pick
{
	int64		number;			/* of the cell; 0 in strategy random */
	int64		slot;
} Cudal1Pick;

typedef struct Cudal1Draw
{
	Cudal1DrawTask task;
	Cudal1Stream stream;
	double		temperature;	/* NaN: the strategy takes the task's */
	Cudal1Cell *cells;			/* from the lowest reward up, once the strategy has run */
	int			ncells;
	int			room;			/* for that many cells */
	bool		has_island;
	int32		island;
	int32		epoch;
	int64		registrations;	/* of the island; before the task's are founded, of the task */
	Cudal1Pick *picks;
	int			npicks;
	int64		codes;			/* of the task in the pool; random, and island without islands */
} Cudal1Draw;

/* strategies: at most n picks, and the code of a pick as one row candidate_id, reward, code */
extern void cudal1_draw_buckets(Cudal1Draw *draw, int n);
extern void cudal1_draw_islands(Cudal1Draw *draw, int n);
extern void cudal1_draw_random(Cudal1Draw *draw, int n);
extern void cudal1_draw_bucket_code(const Cudal1Draw *draw, const Cudal1Pick *pick);
extern void cudal1_draw_island_code(const Cudal1Draw *draw, const Cudal1Pick *pick);
extern void cudal1_draw_random_code(const Cudal1Draw *draw, const Cudal1Pick *pick);

/* randomness: the same seed gives the same numbers on every server and in every session */
extern int64 cudal1_draw_fresh_seed(void);
extern void cudal1_draw_seed(Cudal1Draw *draw, int64 seed);

/* in (0, 1), both ends excluded; the largest is 1 - 2^-53 */
extern double cudal1_draw_fraction(Cudal1Draw *draw);

/* uniform in 0 .. n - 1 */
extern int64 cudal1_draw_below(Cudal1Draw *draw, int64 n);

/* makes room for another CUDAL1_CELLS_AT_ONCE cells */
extern void cudal1_draw_reserve_cells(Cudal1Draw *draw);

/* the other way round: cells are read from the highest reward down and kept from the lowest up */
extern void cudal1_draw_reverse_cells(Cudal1Draw *draw);

/* a row bucket, codes, sum_micro, sum_ln_nano of cudal1.bucket */
extern void cudal1_draw_read_bucket(const Cudal1DrawTask *task, uint64 row, Cudal1Cell *cell);

/* sets the probability of each cell: the softmax of mean / temperature */
extern void cudal1_draw_probabilities(Cudal1Cell *cells, int n, double temperature);

/* reads how many codes the task has in the pool */
extern void cudal1_draw_count_codes(Cudal1Draw *draw);

extern bool cudal1_draw_is_picked(const Cudal1Draw *draw, int64 number, int64 slot);
extern void cudal1_draw_pick(Cudal1Draw *draw, int64 number, int64 slot);

#endif							/* CUDAL1_DRAW_H */
