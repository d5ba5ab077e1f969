/*
 * query.h
 *		Queries by SPI, in the snapshot of the calling statement.
 *
 * With a later snapshot, a code that moves between two queries of a draw would leave a slot empty
 * that the first query counted.
 */
#ifndef CUDAL1_QUERY_H
#define CUDAL1_QUERY_H

#include "postgres.h"

#include "executor/spi.h"

typedef struct Cudal1Query
{
	const char *text;
	int			nargs;
	Oid			types[6];
	SPIPlanPtr	plan;			/* made at the first call, and kept for the session */
} Cudal1Query;

extern void cudal1_query(Cudal1Query *query, Datum *args);

/* a column, from 1, of a row of the last query, which is not NULL */
extern Datum cudal1_query_column(uint64 row, int number);

#endif							/* CUDAL1_QUERY_H */
