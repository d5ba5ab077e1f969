/*
 * report.h
 *		Results of claims, as the queue takes them: several in one transaction.
 */
#ifndef CUDAL1_SUPERVISE_REPORT_H
#define CUDAL1_SUPERVISE_REPORT_H

#include "src/buffer.h"
#include "jobs.h"

/*
 * The query of a report: one row of one column, with the answers of cudal1.finish() in their order.
 * Its arguments are ids ($1), attempts ($2), tokens ($3) and results ($4).
 */
#define CUDAL1_FINISH_QUERY \
	"SELECT pg_catalog.string_agg(cudal1.finish(x.job_id, x.attempt, x.token, x.result), ' '" \
	" ORDER BY x.n)" \
	" FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::int[])," \
	" pg_catalog.unnest($3::text[]), pg_catalog.jsonb_array_elements($4::jsonb))" \
	" WITH ORDINALITY AS x(job_id, attempt, token, result, n)"

#define CUDAL1_FINISH_ARGUMENTS 4

/* the arguments, as texts; false: no memory. Freed with cudal1_report_free() either way */
extern bool cudal1_report_write(const Cudal1Report *reports, int n,
								Cudal1Buffer arguments[CUDAL1_FINISH_ARGUMENTS]);
extern void cudal1_report_free(Cudal1Buffer arguments[CUDAL1_FINISH_ARGUMENTS]);

/* what the query answered, or NULL: sets `answer` of each */
extern void cudal1_report_read(Cudal1Report *reports, int n, const char *answer);

#endif							/* CUDAL1_SUPERVISE_REPORT_H */
