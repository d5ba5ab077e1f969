/*
 * query.c
 *		Queries by SPI, in the snapshot of the calling statement.
 */
#include "query.h"

void
cudal1_query(Cudal1Query *query, Datum *args)
{
	if (query->plan == NULL)
	{
		/* planning anew for each call would cost more than the query */
		SPIPlanPtr	prepared = SPI_prepare_cursor(query->text, query->nargs, query->types,
												  CURSOR_OPT_GENERIC_PLAN);

		if (prepared == NULL || SPI_keepplan(prepared) != 0)
			elog(ERROR, "could not prepare \"%s\"", query->text);
		query->plan = prepared;
	}
	if (SPI_execute_plan(query->plan, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not execute \"%s\"", query->text);
}

Datum
cudal1_query_column(uint64 row, int number)
{
	bool		isnull;

	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, number, &isnull);
}
