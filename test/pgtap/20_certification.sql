-- Certification: null candidates, what they make of their task, and that they stay out of everything else.
BEGIN;
SELECT plan(49);
SET LOCAL cudal1.certify = off;

CREATE FUNCTION pg_temp.certified(name text) RETURNS text LANGUAGE sql AS 'SELECT certified FROM cudal1.task AS t WHERE t.name = certified.name';
CREATE FUNCTION pg_temp.nulls(task text) RETURNS text LANGUAGE sql AS
	'SELECT string_agg(n.name, '' '' ORDER BY n.name) FROM cudal1.null_candidate AS n JOIN cudal1.task AS t USING (task_id) WHERE t.name = task';
-- ends the oldest null candidate
CREATE FUNCTION pg_temp.work(device bigint, outcome text, score float8 DEFAULT NULL) RETURNS text LANGUAGE sql AS
	$$SELECT job #>> '{profile,name}' FROM tap.work(device, jsonb_build_object('outcome', outcome, 'score', score, 'lower', score, 'upper', score))$$;
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c", "pytorch"]}') AS d \gset

SELECT cudal1_add_task('p', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT is(pg_temp.nulls('p'), NULL, 'switched off, adding a task starts nothing');
SELECT is(cudal1_certify_task('p'), 6::bigint, 'asked for, it is six null candidates');
SELECT is(pg_temp.nulls('p'), 'input_copy means moment other_inputs sample zeros', 'which are these');
SELECT is(cudal1_certify_task('p'), 0::bigint, 'asked for again, none more');
SELECT is(pg_temp.certified('p'), NULL, 'nothing is known yet');
SELECT is((SELECT count(*) FROM cudal1.proposal), 0::bigint, 'nobody proposed them');
SELECT results_eq('SELECT DISTINCT purpose, priority, profile FROM cudal1.job JOIN cudal1.candidate USING (candidate_id)',
	$$VALUES ('certification', -1000000000, 'certify')$$, 'they wait behind everything else');
SELECT cudal1_submit('p', 'class ModelNew: pass', priority => -1000) AS s \gset
SELECT is(pg_temp.work(:d, 'crash'), 'default', 'a proposal goes before');
SELECT is(pg_temp.work(:d, 'wrong_output'), 'certify', 'then they are measured');
SELECT is(pg_temp.work(:d, 'crash'), 'certify', 'a crash does not pass');
SELECT pg_temp.work(:d, 'wrong_output') FROM generate_series(1, 3) \g /dev/null
SELECT is(pg_temp.certified('p'), NULL, 'one is left');
SELECT is(pg_temp.work(:d, 'wrong_output'), 'certify', 'the last one');
SELECT is(pg_temp.certified('p'), 'passed', 'all failed: the task has passed');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'nothing waits');

-- a task that does not discriminate
SELECT cudal1_add_task('w', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "certify": true}') \g /dev/null
SELECT is(pg_temp.nulls('w'), 'input_copy means moment other_inputs sample zeros', 'the option goes before the setting');
SELECT is(pg_temp.work(:d, 'successful', 1000), 'certify', 'one passes');
SELECT is(pg_temp.certified('w'), 'weak', 'the task is weak at once');
SELECT is((SELECT count(*) FROM cudal1.job WHERE kind = 'verify'), 0::bigint, 'how fast it was is not verified');
SELECT is((SELECT device_model FROM cudal1.task WHERE name = 'w'), NULL, 'and pins the task to no device');
SELECT is((SELECT count(*) FROM cudal1.pool_code), 0::bigint, 'it is in no bucket');
SELECT is((SELECT count(*) FROM cudal1_sample_exemplars('w', 1)), 0::bigint, 'nor sampled');
SELECT is((SELECT success FROM cudal1_speedup_report() WHERE level = 'All'), 0::bigint, 'nor reported');
SELECT pg_temp.work(:d, 'wrong_output') FROM generate_series(1, 5) \g /dev/null
SELECT is(pg_temp.certified('w'), 'weak', 'and stays weak when the others fail');
-- the same text proposed is somebody's candidate
SELECT c.code AS code, c.candidate_id AS null_id FROM cudal1.candidate AS c JOIN cudal1.null_candidate USING (candidate_id) JOIN cudal1.task AS t ON t.task_id = c.task_id
	WHERE t.name = 'w' AND c.state = 'successful' \gset
SELECT cudal1_submit('w', :'code') AS again \gset
SELECT isnt(:again::bigint, :null_id::bigint, 'its text, proposed, is a candidate of its own');
SELECT is((SELECT profile || ' ' || purpose FROM cudal1.job JOIN cudal1.candidate USING (candidate_id) WHERE candidate_id = :again), 'default normal', 'measured in full');
SELECT pg_temp.work(:d, 'crash') \g /dev/null
SELECT is(pg_temp.certified('w'), 'weak', 'whose verdict says nothing of the task');
SELECT cudal1_submit('w', 'x', purpose => 'certification') \g /dev/null
SELECT pg_temp.work(:d, 'crash') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.null_candidate), 12::bigint, 'nor does what a user declares to be a certification');

-- infrastructure is no verdict
SELECT cudal1_add_task('i', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "certify": true}') \g /dev/null
SELECT pg_temp.work(:d, 'wrong_output') FROM generate_series(1, 5) \g /dev/null
SELECT pg_temp.work(:d, 'lost') FROM generate_series(1, 3) \g /dev/null
SELECT is(pg_temp.certified('i'), NULL, 'a null candidate that was lost leaves the question open');
SELECT is(cudal1_certify_task('i'), 1::bigint, 'and is measured when asked for again');
-- as after a restore
DELETE FROM cudal1.job;
SELECT is(cudal1_requeue(), 1::bigint, 'or after a restore');
SELECT is(pg_temp.work(:d, 'wrong_output'), 'certify', 'with its own profile');
SELECT is(pg_temp.certified('i'), 'passed', 'which closes it');

-- without being asked: a device that has had nothing to do
CREATE FUNCTION pg_temp.idle(device bigint) RETURNS bigint LANGUAGE sql AS $$
	SELECT c.job_id FROM cudal1.claim(device, 'w') AS c;
	SELECT count(*) FROM cudal1.null_candidate JOIN cudal1.task AS t USING (task_id) WHERE t.name LIKE 'idle%'
$$;
SELECT cudal1_add_task('idle', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}'),
	cudal1_add_task('idle not', 'class Model: pass # not', 'pytorch', options => '{"device": "cpu", "certify": false}'),
	cudal1_add_task('idle wide', 'class Model: pass # wide', 'pytorch', options => '{"device": "cpu", "cores": 64}') \g /dev/null
UPDATE cudal1.task SET reference_state = 'good';
UPDATE cudal1.turn SET claimed_at = '-infinity';
SET LOCAL cudal1.certify = on;
SELECT is(pg_temp.idle(:d), 0::bigint, 'a task that has just come is left alone');
UPDATE cudal1.task SET created_at = now() - '1 minute'::interval WHERE name LIKE 'idle%';
UPDATE cudal1.turn SET claimed_at = now();
SELECT is(pg_temp.idle(:d), 0::bigint, 'as long as the device has had work');
UPDATE cudal1.turn SET claimed_at = '-infinity';
SET LOCAL cudal1.certify = off;
SELECT is(pg_temp.idle(:d), 0::bigint, 'or the setting says no');
SET LOCAL cudal1.certify = on;
SELECT is(pg_temp.idle(:d), 6::bigint, 'then its null candidates are queued');
SELECT is(pg_temp.nulls('idle'), 'input_copy means moment other_inputs sample zeros', 'all of them');
SELECT is(pg_temp.work(:d, 'wrong_output'), 'certify', 'and measured');
SELECT pg_temp.work(:d, 'wrong_output') FROM generate_series(1, 5) \g /dev/null
SELECT is(pg_temp.idle(:d), 6::bigint, 'what says no, or what this device cannot measure, is left alone');
SET LOCAL cudal1.certify = off;

-- what they are made of
SELECT cudal1_add_task('c', 'void solve(const float *x, float *y, int n) {}', 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [4, 8], "role": "in"},
	{"name": "y", "dtype": "float32", "shape": [8], "role": "out"}, {"name": "n", "dtype": "int32", "role": "scalar", "value": 4}]}', options => '{"certify": true}') \g /dev/null
SELECT is(pg_temp.nulls('c'), 'input_copy moment other_inputs sample zeros', 'all apply to floating point arrays');
SELECT cudal1_add_task('n', 'void solve(const int *x, unsigned char *y) {}', 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "int32", "shape": [8], "role": "in", "low": 0, "high": 9},
	{"name": "y", "dtype": "uint8", "shape": [8], "role": "out"}]}', options => '{"certify": true}') \g /dev/null
SELECT is(pg_temp.nulls('n'), 'other_inputs zeros', 'not all to integers of two types');
SELECT ok((SELECT bool_and(code LIKE '/* null candidate: %') FROM cudal1.candidate JOIN cudal1.null_candidate USING (candidate_id) JOIN cudal1.task AS t ON t.task_id = candidate.task_id WHERE t.language = 'c'),
	'each says what it is');
SELECT throws_ok($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"certify": 1}')$$, '22023', 'option "certify" must be true or false', 'an option of another type');

-- what a weak task's owner says of it
DELETE FROM cudal1.job;
SELECT cudal1_add_task('refuses', 'class Model: pass # r', 'pytorch', options => '{"device": "cpu", "certify": true, "weak": "refuse"}') \g /dev/null
SELECT job_id AS null_job, attempt AS null_attempt FROM cudal1.claim(:d, 'w') \gset
SELECT cudal1_submit('refuses', 'waits') AS waits \gset
SELECT cudal1.finish(:null_job, :null_attempt, '{"outcome": "successful", "score": 1, "lower": 1, "upper": 1}') \g /dev/null
SELECT is((SELECT state || ' ' || detail FROM cudal1.candidate WHERE candidate_id = :waits), 'discarded task "refuses" is weak: code that does none of its work passes', 'what waits for a weak task that refuses is discarded');
SELECT throws_ok($$SELECT cudal1_submit('refuses', 'more')$$, '55000', 'task "refuses" is weak: code that does none of its work passes', 'and nothing can be submitted');
SELECT is((SELECT reason FROM cudal1_submit_batch('{refuses}', '{more}')), 'task "refuses" is weak: code that does none of its work passes', 'by batches, either');
SELECT ok(EXISTS (SELECT FROM cudal1_status() WHERE item = 'weak tasks'), 'the status tells weak tasks');
SELECT is((SELECT detail FROM cudal1_task_report(tasks => '{w}')), 'the task is weak: code that does none of its work passes', 'so does the report');
SELECT throws_ok($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"weak": "ignore"}')$$, '22023', 'option "weak" must be pay or refuse', 'a choice is one of two');
SELECT * FROM finish();
ROLLBACK;
