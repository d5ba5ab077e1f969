/*
 * queue.c
 *		The entry points of the queue, by queries whose arguments and answers are texts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervise.h"

const char *
cudal1_queue_text(Cudal1Number text, int64_t number)
{
	snprintf(text, sizeof(Cudal1Number), "%lld", (long long) number);
	return text;
}

static int64_t
number_of(const char *text)
{
	return text ? strtoll(text, NULL, 10) : 0;
}

Cudal1Call
cudal1_queue_number(const char *query, int n, const char *const *arguments, int64_t *number)
{
	char	   *column;
	Cudal1Call	outcome = cudal1_queue_run(query, n, arguments, &column, 1);

	*number = number_of(column);
	free(column);
	return outcome;
}

Cudal1Call
cudal1_queue_register(const char *host, const char *line, int64_t *device_id)
{
	return cudal1_queue_number("SELECT cudal1.register_device($1, $2::jsonb)", 2,
							   (const char *const[]) {host, line}, device_id);
}

Cudal1Call
cudal1_queue_claim(int64_t device_id, const char *worker, Cudal1Heat *heat)
{
	/*
	 * A measurement may take two or three builds (of the reference, the candidate, and the first
	 * call of code that compiles itself), its checks, its budget, and the runs of two pairs at
	 * their limit, because it has that many before its budget ends it.
	 */
	static const char query[] =
		"WITH c AS MATERIALIZED (SELECT * FROM cudal1.claim($1::bigint, $2,"
		" pg_catalog.make_interval(secs => $3::float8), 32)"
		" WITH ORDINALITY AS x(job_id, attempt, job, n))"
		" SELECT c.job,"
		" LEAST(1000000, (SELECT pg_catalog.count(*) FROM c AS m)"
		" * pg_catalog.ceil(3 * COALESCE((p ->> 'build_seconds')::float8, 120)"
		" + COALESCE((p ->> 'budget_seconds')::float8, 20)"
		" + COALESCE((p ->> 'check_seconds')::float8, 3)"
		" + 50 * COALESCE((p ->> 'run_limit_max')::float8, 30)))::int,"
		" (SELECT pg_catalog.string_agg(pg_catalog.format('%s %s', m.job_id, m.attempt),"
		" ' ' ORDER BY m.n) FROM c AS m)"
		" FROM c, LATERAL (SELECT c.job -> 'profile') AS x(p)"
		" WHERE c.n = 1";
	Cudal1Number device,
				lease;
	const char *arguments[] = {cudal1_queue_text(device, device_id), worker,
	cudal1_queue_text(lease, cudal1_lease_seconds)};
	char	   *columns[3];
	Cudal1Call	outcome = cudal1_queue_run(query, 3, arguments, columns, 3);
	const char *at = columns[2];
	long long	id;
	int			length;

	memset(heat, 0, sizeof(*heat));
	while (at && heat->n < CUDAL1_MAX_HEAT &&
		   sscanf(at, "%lld %d%n", &id, &heat->claims[heat->n].attempt, &length) == 2)
	{
		heat->claims[heat->n++].job_id = id;
		at += length;
	}
	heat->job = columns[0];
	heat->limit_seconds = (int) number_of(columns[1]);
	free(columns[1]);
	free(columns[2]);
	return outcome;
}

/* a report on a claim: `more` follows what names it */
static Cudal1Call
report(const char *query, const Cudal1Claim *claim, int n, const char *const *more,
	   Cudal1Answer *answer)
{
	static const char *const words[] = {"continue", "cancel", "lost", "stored", "later"};
	Cudal1Number id,
				attempt;
	const char *arguments[5] = {cudal1_queue_text(id, claim->job_id),
	cudal1_queue_text(attempt, claim->attempt)};
	char	   *word;
	Cudal1Call	outcome;

	for (int i = 0; i < n; i++)
		arguments[2 + i] = more[i];
	outcome = cudal1_queue_run(query, 2 + n, arguments, &word, 1);
	*answer = CUDAL1_ANSWER_LOST;
	for (int i = CUDAL1_ANSWER_CONTINUE; word && i <= CUDAL1_ANSWER_LATER; i++)
		if (strcmp(word, words[i]) == 0)
			*answer = (Cudal1Answer) i;
	free(word);
	return outcome;
}

Cudal1Call
cudal1_queue_heartbeat(const Cudal1Claim *claim, const char *progress, Cudal1Answer *answer)
{
	Cudal1Number lease;
	const char *more[] = {progress, cudal1_queue_text(lease, cudal1_lease_seconds)};

	/* of a lease of a minute a crash may take back half a second, so no flush of the log is due */
	return report("SELECT cudal1.heartbeat($1::bigint, $2::int, $3::jsonb,"
				  " pg_catalog.make_interval(secs => $4::float8))"
				  " FROM pg_catalog.set_config('synchronous_commit', 'off', true)",
				  claim, 2, more, answer);
}

Cudal1Call
cudal1_queue_release(const Cudal1Claim *claim)
{
	Cudal1Answer answer;

	return report("SELECT cudal1.release($1::bigint, $2::int)", claim, 0, NULL, &answer);
}

Cudal1Call
cudal1_queue_finish(const Cudal1Claim *claim, const char *result, const char *outcome,
					const char *detail, Cudal1Answer *answer)
{
	static const char query[] =
		"SELECT cudal1.finish($1::bigint, $2::int, COALESCE($3::jsonb,"
		" pg_catalog.jsonb_build_object('type', 'result', 'outcome', $4::text,"
		" 'detail', $5::text)))";
	const char *more[] = {result, outcome, detail};

	return report(query, claim, 3, more, answer);
}
