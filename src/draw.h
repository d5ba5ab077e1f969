/*
 * draw.h
 *		One draw of exemplars, and the strategies that make it.
 *
 * A strategy (bucket, island, random) fills in the picks of a draw.  All functions below run
 * between SPI_connect and SPI_finish.
 */
#ifndef CUDAL1_DRAW_H
#define CUDAL1_DRAW_H

#include "postgres.h"

/* a task in a pool, with the columns that a draw depends on */
typedef struct Cudal1DrawTask
{
	int64		id;
	int32		pool;			/* pool whose codes are drawn from */
	double		width;			/* of a bucket */
	bool		log_scale;
	double		temperature;
	char	   *strategy;
	int32		islands;
	double		island_temperature;
	int64		island_period;
} Cudal1DrawTask;

/* a bucket, or a cluster of an island: a draw chooses a cell first, then a code in it */
typedef struct Cudal1Cell
{
	int64		number;			/* k of a bucket, hundredths of a cluster */
	int64		codes;			/* of a cluster 0 until one of its codes is drawn */
	double		mean;			/* on the task's scale */
	double		probability;
} Cudal1Cell;

typedef struct Cudal1Draw
{
	Cudal1DrawTask task;
	uint64		key;			/* random numbers are hashes of key and counter */
	uint64		counter;
	double		temperature;	/* NaN: the strategy takes the task's */
	Cudal1Cell *cells;			/* from the highest reward down */
	int			ncells;
	int64		codes;			/* in all buckets of the task in the pool */
	int32		island;			/* -1: none */
	bool		shared;			/* codes of all islands are on the island */
	int64		registrations;	/* of the island */
	Datum	   *picks;			/* candidate_ids */
	int			npicks;
} Cudal1Draw;

/* at most n picks; n is not above the room of draw->picks */
extern void cudal1_draw_buckets(Cudal1Draw *draw, int n);
extern void cudal1_draw_islands(Cudal1Draw *draw, int n);
extern void cudal1_draw_random(Cudal1Draw *draw, int n);

/* the buckets that hold codes, and their number in draw->codes */
extern void cudal1_draw_load_buckets(Cudal1Draw *draw);

/* sets the probability of each cell: the softmax of mean / temperature */
extern void cudal1_draw_probabilities(Cudal1Draw *draw, double temperature);

/* a seed from the system's source of randomness */
extern int64 cudal1_draw_fresh_seed(void);

/* starts the stream: the same seed gives the same numbers on every server and in every session */
extern void cudal1_draw_seed(Cudal1Draw *draw, int64 seed);

#endif							/* CUDAL1_DRAW_H */
