-- Evaluations, re-verification, imports, and the work of a restored database.
SELECT plan(99);

SELECT cudal1_add_task(name, 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') FROM (VALUES ('t'), ('u'), ('i')) AS v (name) \g /dev/null
CREATE FUNCTION pg_temp.work(device bigint, outcome text, score float8 DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	DELETE FROM cudal1.turn;	-- the order is the subject of 14_queue.sql
	SELECT kind || ' ' || state FROM tap.work(device, jsonb_build_object('outcome', outcome, 'score', score, 'lower', score * 0.9, 'upper', score * 1.1))
$$;
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d1 \gset
SELECT cudal1.register_device('h', '{"key": "cpu:2", "class": "cpu", "model": "N", "languages": ["pytorch"]}') AS other \gset
SELECT cudal1_submit('t', 'best') AS a \gset
SELECT cudal1_submit('t', 'second') AS b \gset
SELECT cudal1_submit('u', 'only') AS c \gset
SELECT cudal1_submit('u', 'failed') AS f \gset
SELECT is(pg_temp.work(:d1, 'successful', 1.9), 'measure successful:1.9', 'one');
SELECT is(pg_temp.work(:d1, 'successful', 1.5), 'measure successful:1.5', 'two');
SELECT is(pg_temp.work(:d1, 'successful', 1.2), 'measure successful:1.2', 'three');
SELECT is(pg_temp.work(:d1, 'crash'), 'measure failed:crash:0', 'four');

-- evaluations
SELECT is(cudal1_evaluate(ARRAY[:a, :c, :f, :a]), 2::bigint, 'successful candidates are evaluated, once each');
SELECT is((SELECT array_agg(DISTINCT trainer) FROM cudal1.job), ARRAY[''], 'they run behind training, as work without a trainer');
SELECT is(cudal1_evaluate(ARRAY[:a]), 0::bigint, 'not twice at once');
SELECT is(cudal1_evaluate(ARRAY[:a], 'N'), 1::bigint, 'but on another model');
SELECT results_eq('SELECT kind, profile, device FROM cudal1.job ORDER BY job_id',
	$$VALUES ('evaluate', 'paper_eval', 'M'), ('evaluate', 'paper_eval', 'M'), ('evaluate', 'paper_eval', 'N')$$, 'with the profile for tables');
SELECT is(pg_temp.work(:other, 'successful', 9), 'evaluate successful:1.9', 'on the other model, which may measure it');
SELECT is(pg_temp.work(:d1, 'successful', 2.5), 'evaluate successful:1.9', 'on its own');
SELECT is(pg_temp.work(:d1, 'crash'), 'evaluate successful:1.2', 'even a crash changes no reward');
SELECT results_eq($$SELECT device_model, score, reward, accepted FROM cudal1.measurement WHERE kind = 'evaluate' ORDER BY measurement_id$$,
	$$VALUES ('N', 9::float8, 9::float8, false), ('M', 2.5, 2.5, false), ('M', NULL, 0, false)$$, 'each adds a measurement');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'and no job');
UPDATE cudal1.measurement SET device_seconds = CASE WHEN score = 9 THEN 2400 ELSE 2160 END WHERE kind = 'evaluate';
SELECT is(cudal1_evaluate(ARRAY[:a, :b]), 2::bigint, 'other evaluations');
SELECT results_eq($$SELECT class, candidates, round(mean_seconds) FROM cudal1.cost WHERE profile = 'paper_eval'$$,
	$$VALUES ('cpu', 3::bigint, 2240::float8)$$, 'whose cost a view shows');
SELECT cudal1_cancel_jobs(ARRAY(SELECT job_id FROM cudal1.job)) \g /dev/null
SELECT is(cudal1_evaluate(ARRAY[:c], NULL, 'quick', 3), 1::bigint, 'the profile can be chosen');
SELECT is((pg_temp.work(:d1, 'lost')), 'evaluate successful:1.2', 'a lost evaluation');
SELECT is((SELECT state || failures FROM cudal1.job), 'queued1', 'is tried again');
SELECT pg_temp.work(:d1, 'lost') FROM generate_series(1, 2) \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'and ends after the attempts');
SELECT is(tap.state(:c), 'successful:1.2', 'with no harm done');
SELECT throws_ok(q, s, NULL, q) FROM (VALUES ($$SELECT cudal1_evaluate(NULL)$$, '22004'), ($$SELECT cudal1_evaluate(ARRAY[NULL::bigint])$$, '22004'), ($$SELECT cudal1_evaluate(ARRAY[-1])$$, '42704'),
	($$SELECT cudal1_evaluate('{}', device => '')$$, '22023'), ($$SELECT cudal1_cancel_jobs(NULL)$$, '22004'), ($$SELECT cudal1_cancel_jobs(ARRAY[NULL::bigint])$$, '22004')) AS v (q, s);
CREATE FUNCTION pg_temp.one_device(id bigint) RETURNS text LANGUAGE sql AS 'SELECT device_key FROM cudal1.device WHERE device_id = id';
SELECT is(cudal1_evaluate(ARRAY[:a], device => pg_temp.one_device(:other)), 1::bigint, 'a device can be named by its key');
SELECT is(cudal1_evaluate(ARRAY[:a], device => 'cuda'), 1::bigint, 'and a class before it has a device');

-- and withdrawn
SELECT is(cudal1_cancel(ARRAY[:a]), 0::bigint, 'an evaluation is nothing that a trainer takes back');
SELECT is(cudal1_cancel_jobs(ARRAY(SELECT job_id FROM cudal1.job) || -1), 2::bigint, 'an operator withdraws it');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'what waits is gone');
SELECT cudal1_evaluate(ARRAY[:a]) \g /dev/null
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d1, 'w') \gset
SELECT is(cudal1_cancel_jobs(ARRAY[:j]), 1::bigint, 'what runs');
SELECT is(cudal1_cancel_jobs(ARRAY[:j]), 0::bigint, '(once)');
SELECT is(cudal1.heartbeat(:j, :n), 'cancel', 'is told to end');
SELECT is(cudal1_evaluate(ARRAY[:a]), 1::bigint, 'asked for again');
SELECT is(cudal1.heartbeat(:j, :n), 'continue', 'it goes on');
SELECT cudal1_cancel_jobs(ARRAY[:j]) \g /dev/null
SELECT is(cudal1.finish(:j, :n, '{"outcome": "cancelled"}'), 'stored', 'ended');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'it does not come again');
SELECT is(tap.state(:a), 'successful:1.9', 'and its candidate has what it had');
SELECT cudal1_submit('i', 'decides') AS m \gset
SELECT throws_ok('SELECT cudal1_cancel_jobs(ARRAY(SELECT job_id FROM cudal1.job))', '22023', NULL, 'what decides a candidate is refused');
SELECT cudal1_cancel(ARRAY[:m]) \g /dev/null
SELECT cudal1_reverify('0 seconds') \g /dev/null
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d1, 'w') \gset
SELECT is(cudal1_cancel_jobs(ARRAY(SELECT job_id FROM cudal1.job)), 2::bigint, 'a re-verification is withdrawn');
SELECT is(cudal1.finish(:j, :n, '{"outcome": "successful", "score": 0.5}'), 'stored', 'and if it was measured all the same');
SELECT is((SELECT array_agg(tap.state(x) ORDER BY x) FROM unnest(ARRAY[:a, :c]::bigint[]) AS x), ARRAY['successful:1.9', 'successful:1.2'], 'it changes no reward');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'nothing is left of it');

-- re-verification
SELECT is(cudal1_reverify(), 0::bigint, 'nothing is a week old');
UPDATE cudal1.candidate SET decided_at = decided_at - interval '8 days';
SELECT is(cudal1_reverify(), 2::bigint, 'the best of each task is measured again');
SELECT is(cudal1_reverify(), 0::bigint, 'once');
SELECT is((SELECT array_agg(candidate_id ORDER BY candidate_id) FROM cudal1.job WHERE kind = 'reverify' AND priority < 0), ARRAY[:a, :c]::bigint[], 'behind other work');
SELECT is(cudal1_reward(:a), 1.9::float8, 'rewards stay meanwhile');
SELECT is(pg_temp.work(:d1, 'successful', 1.7), 'reverify successful:1.7', 'the new verdict replaces the reward');
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'and its bucket');
SELECT is(pg_temp.work(:d1, 'crash'), 'reverify successful:1.2', 'a crash of what worked before is tried again');
SELECT is(pg_temp.work(:d1, 'lost'), 'reverify successful:1.2', 'a lost run, too');
SELECT is(pg_temp.work(:d1, 'lost'), 'reverify successful:1.2', 'after the last attempt the verdict stays');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'and the job ends');
SELECT is(cudal1_reverify('0 seconds', 5), 3::bigint, 'more of each task, of any age');
SELECT is(pg_temp.work(:d1, 'wrong_output'), 'reverify failed:wrong_output:0', 'wrong output is final');
SELECT is(pg_temp.work(:d1, 'successful', 8), 'reverify successful:1.5', 'a score too good is verified first');
SELECT is(cudal1_cancel(ARRAY[candidate_id]), 0::bigint, 'which is no matter of the role that proposed the code') FROM cudal1.job WHERE kind = 'verify';
SAVEPOINT confirming;
SELECT is(cudal1_cancel_jobs(ARRAY[job_id]), 1::bigint, 'but of operators') FROM cudal1.job WHERE kind = 'verify';
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE state = 'successful' AND reward = 1.5), 1::bigint, 'its reward stays then');
ROLLBACK TO confirming;
SELECT is(pg_temp.work(:d1, 'successful', 7.9), 'verify successful:7.9', 'and then stands');
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'buckets agree');
SELECT is(pg_temp.work(:d1, 'successful', 1.25), 'reverify successful:1.25', 'the last one');
SELECT is(cudal1_reverify('0 seconds'), 2::bigint, 'the best again');
SELECT is(pg_temp.work(:d1, 'successful', 7.8), 'reverify successful:7.8', 'one no higher than its verified score needs no second');
SELECT is((SELECT count(*) FROM cudal1.job WHERE kind = 'verify'), 0::bigint, 'verification');
SELECT pg_temp.work(:d1, 'successful', 1.25) \g /dev/null
SELECT throws_ok(q, s, NULL, q) FROM (VALUES ($$SELECT cudal1_reverify(NULL)$$, '22004'), ($$SELECT cudal1_reverify('1 day', 0)$$, '22023')) AS v (q, s);

-- imports
SELECT cudal1_import_result('i', 'x', 1.118, 'published', 'A100') AS x \gset
SELECT is(tap.state(:x), 'successful:1.11', 'an imported score is a reward');
SELECT results_eq('SELECT imported, import_device, score FROM cudal1.candidate WHERE candidate_id = ' || :x, $$VALUES (true, 'A100', 1.118::float8)$$, 'marked as such');
SELECT is((SELECT count(*) FROM cudal1.pool_code WHERE candidate_id = :x), 1::bigint, 'it is in a bucket');
SELECT cudal1_import_result('i', 'y', NULL, 'published', 'A100') AS y \gset
SELECT is(tap.state(:y), 'failed:reported:0', 'no speedup is a failure');
SELECT cudal1_import_result('i', 'y', 2, 'published', 'A100') \g /dev/null
SELECT is(tap.state(:y), 'successful:2', 'a later import replaces it');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'imports are not measured');
SELECT is(cudal1_submit('i', 'x'), :x::bigint, 'submitted here');
SELECT is(tap.state(:x), 'successful:1.11', 'it keeps its reward');
SELECT is((SELECT count(*) FROM cudal1.job WHERE candidate_id = :x AND kind = 'measure'), 1::bigint, 'until it is measured');
SELECT is(cudal1_import_result('i', 'x', 9, 'published', 'A100'), :x::bigint, 'an import meanwhile');
SELECT is(pg_temp.work(:d1, 'successful', 1.5), 'measure successful:1.5', 'does not count: the measurement does');
SELECT is((SELECT imported FROM cudal1.candidate WHERE candidate_id = :x), false, 'and replaces the import');
SELECT is(cudal1_import_result('i', 'x', 9, 'published', 'A100'), :x::bigint, 'an import after it');
SELECT is(tap.state(:x), 'successful:1.5', 'is a proposal only');
SELECT cudal1_submit('i', 'y') \g /dev/null
SELECT is(pg_temp.work(:d1, 'crash'), 'measure failed:crash:0', 'a failure replaces an import as well');
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'and takes it out of its bucket');
-- submitted again while its first job runs for the class, and the task is pinned to another model meanwhile
SELECT cudal1_add_task('p', 'class Model: pass # p', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_import_result('p', 'z', 1.3, 'published', 'A100') AS z \gset
SELECT cudal1_submit('p', 'z') \g /dev/null
SELECT job_id AS j, attempt AS a FROM cudal1.claim(:other, 'w') \gset
SELECT cudal1_submit('p', 'pins') \g /dev/null
SELECT is(pg_temp.work(:d1, 'successful', 1.2), 'measure successful:1.2', 'another of the task is measured');
SELECT cudal1_cancel(ARRAY[:z]) \g /dev/null
SELECT cudal1_submit('p', 'z', priority => 7) \g /dev/null
SELECT cudal1_submit_batch(ARRAY['p'], ARRAY['z']) \g /dev/null
SELECT results_eq($$SELECT device, cancel_requested FROM cudal1.job WHERE candidate_id = $$ || :z, $$VALUES ('cpu', false)$$,
	'an imported candidate that waits gets no second job, and its first goes on');
-- as two sessions at once might leave it
INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language)
	SELECT kind, task_id, candidate_id, profile, 'M', cores, language FROM cudal1.job WHERE job_id = :j;
SELECT is(cudal1.finish(:j, :a, '{"outcome": "successful", "score": 1.4}'), 'stored', 'of two jobs, the one that was measured on the other model');
SELECT results_eq($$SELECT device, state, failures FROM cudal1.job WHERE candidate_id = $$ || :z, $$VALUES ('M', 'queued', 0)$$, 'leaves the work to its twin');
SELECT is(pg_temp.work(:d1, 'successful', 1.5), 'measure successful:1.5', 'which decides');
SELECT throws_ok(q, s, NULL, q) FROM (VALUES ($$SELECT cudal1_import_result('nope', 'x', 1, 'm', 'd')$$, '42704'), ($$SELECT cudal1_import_result('i', '', 1, 'm', 'd')$$, '22023'), ($$SELECT cudal1_import_result('i', 'x', 1, 'm', NULL)$$, '22004')) AS v (q, s);

-- after a restore
SELECT cudal1_submit('i', 'waiting ' || n) FROM generate_series(1, 3) AS n \g /dev/null
SELECT job_id AS j, attempt AS a FROM cudal1.claim(:d1, 'w') \gset
DELETE FROM cudal1.job;
SELECT ok((SELECT bool_or(item = 'undecided without a job' AND value = '3') FROM cudal1_status()), 'cudal1_status() finds undecided candidates without jobs');
SELECT is(cudal1_requeue(), 3::bigint, 'they are queued');
SELECT is(cudal1_requeue(), 0::bigint, 'once');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE state = 'queued'), 3::bigint, 'and wait');
SELECT is(cudal1.finish(:j, :a, '{"outcome": "successful", "score": 2}'), 'lost', 'a result for a job of before is lost');
