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

/* runs a query by a plan that is kept for the session */
extern void cudal1_query(SPIPlanPtr *plan, const char *query, int nargs, Oid *types, Datum *args);

/* a column, from 1, of a row of the last query, which is not NULL */
extern Datum cudal1_query_column(uint64 row, int number);

#endif							/* CUDAL1_QUERY_H */
