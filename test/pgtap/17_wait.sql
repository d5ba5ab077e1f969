-- Waiting: answers row by row, and no wait for what can't be seen. Not one transaction, for that reason.
COMMIT;
SELECT plan(25);

SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch') \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d1 \gset
SELECT cudal1_submit('t', 'a') AS a \gset
SELECT cudal1_submit('t', 'b') AS b \gset
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d1, 'w') \gset
SELECT cudal1.finish(:j, :n, '{"outcome": "successful", "score": 1.5}') \g /dev/null

SELECT results_eq(format('SELECT * FROM cudal1_wait(ARRAY[%s])', :a), format($$VALUES (%s::bigint, 'successful', 1.5::float8)$$, :a), 'a final candidate is answered at once');
SELECT results_eq(format('SELECT * FROM cudal1_wait(ARRAY[%1$s, %2$s, %1$s], ''0.05 seconds'')', :a, :b),
	format($$VALUES (%1$s::bigint, 'successful', 1.5::float8), (%2$s, 'queued', NULL), (%1$s, 'successful', 1.5)$$, :a, :b), 'one row per element, in order, repeats kept, as they stand');
SELECT is((SELECT count(*) FROM cudal1_wait('{}')), 0::bigint, 'nothing to wait for');
SELECT is((SELECT count(*) FROM cudal1_wait(ARRAY[:b], '0')), 1::bigint, 'a timeout of 0 looks once');
SELECT throws_ok('SELECT cudal1_wait(NULL)', '22004', NULL, 'as is NULL');
SELECT throws_ok('SELECT cudal1_wait(ARRAY[NULL::bigint])', '22004', NULL, 'and one in the array');
SELECT throws_ok('SELECT cudal1_wait(''{}'', NULL)', '22004', NULL, 'and no timeout');

-- its own writes
BEGIN;
SELECT cudal1_submit('t', 'c') AS c \gset
SELECT throws_ok('SELECT cudal1_wait(ARRAY[' || :c || '])', '25001', NULL, 'a candidate of this transaction is an error');
SELECT results_eq(format('SELECT candidate_id FROM cudal1_wait(ARRAY[%s], ''0'')', :b), ARRAY[:b]::bigint[], 'one of an earlier is not');
SAVEPOINT s;
SELECT cudal1_cancel(ARRAY[:b]) \g /dev/null
SELECT throws_ok('SELECT cudal1_wait(ARRAY[' || :b || '])', '25001', NULL, 'nor one cancelled by it');
ROLLBACK TO s;
SELECT cudal1_submit('t', 'b', priority => 5) \g /dev/null
SELECT throws_ok('SELECT cudal1_wait(ARRAY[' || :b || '])', '25001', NULL, 'a job of this transaction is one, too');
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT throws_ok('SELECT cudal1_wait(ARRAY[' || :a || '])', '25001', NULL, 'above read committed nothing is waited for');
ROLLBACK;

-- a cancelled statement
BEGIN;
CREATE FUNCTION pg_temp.interrupted(id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM cudal1_wait(ARRAY[id]);
	RETURN false;
EXCEPTION WHEN query_canceled THEN
	RETURN true;
END
$$;
-- the call is in its wait by then
SET LOCAL statement_timeout = '1s';
SELECT ok(pg_temp.interrupted(:b), 'a wait can be interrupted');
ROLLBACK;

-- cancelling what runs
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d1, 'w') \gset
SELECT is(cudal1_cancel(ARRAY[:b]), 1::bigint, 'a running candidate is cancelled');
SELECT is((SELECT state FROM cudal1_wait(ARRAY[:b], '0')), 'measuring', 'as soon as its worker has stopped');
SELECT is(cudal1_cancel(ARRAY[:b]), 0::bigint, 'once');
SELECT is(cudal1.heartbeat(:j, :n), 'cancel', 'the worker hears of it');
SELECT is(cudal1.finish(:j, :n, '{"outcome": "successful", "score": 1.5}'), 'stored', 'whatever it reports');
SELECT is((SELECT state FROM cudal1_wait(ARRAY[:b], '1 s')), 'discarded', 'the candidate is discarded');

-- an imported score
SELECT cudal1_import_result('t', 'i', 2, 'm', 'd') AS i \gset
SELECT is((SELECT state FROM cudal1_wait(ARRAY[:i], '1 s')), 'successful', 'an imported candidate is final');
SELECT cudal1_submit('t', 'i') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1_wait(ARRAY[:i], '0.1 s')), 1::bigint, 'submitted, it is waited for');
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d1, 'w') \gset
SELECT cudal1.finish(:j, :n, '{"outcome": "crash"}') \g /dev/null
SELECT results_eq(format('SELECT state, reward FROM cudal1_wait(ARRAY[%s])', :i), $$VALUES ('failed', 0::float8)$$, 'until it is measured');

-- a deadline
SELECT cudal1_submit('t', 'late', deadline => clock_timestamp() - interval '1 s') AS l \gset
SELECT cudal1.expire_leases() \g /dev/null
SELECT is((SELECT state FROM cudal1_wait(ARRAY[:l])), 'discarded', 'a job whose deadline has passed is cancelled');

-- plans that this session made while there was little to read are kept; statistics that say otherwise come later
VACUUM ANALYZE cudal1.job, cudal1.candidate;
SELECT cudal1_cancel(ARRAY[:l]) FROM generate_series(1, 6) \g /dev/null
SELECT cudal1_cancel(ARRAY[cudal1_submit('t', 'early ' || n)]) FROM generate_series(1, 6) AS n \g /dev/null
SELECT array_agg(candidate_id) AS many FROM cudal1_submit_batch(array_fill('t'::text, ARRAY[1000]), ARRAY(SELECT 'many ' || n FROM generate_series(1, 1000) AS n)) \gset
BEGIN;
SELECT is(cudal1_cancel(:'many'), 1000::bigint, 'a thousand are cancelled');
SELECT cmp_ok((SELECT sum(seq_tup_read) FROM pg_stat_xact_all_tables WHERE schemaname = 'cudal1'), '<', 10000::numeric, 'without reading all of them for each');
COMMIT;
