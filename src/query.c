/*
 * query.c
 *		Queries by SPI, in the snapshot of the calling statement.
 */
#include "query.h"

void
cudal1_query(SPIPlanPtr *plan, const char *query, int nargs, Oid *types, Datum *args)
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

Datum
cudal1_query_column(uint64 row, int number)
{
	bool		isnull;

	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, number, &isnull);
}
