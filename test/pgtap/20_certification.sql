-- Certification: what a first measurement tells of its task, the check of a reference as its own candidate, and that this stays out of everything else.
SELECT plan(42);
SET LOCAL cudal1.certify = off;

CREATE FUNCTION pg_temp.certified(name text) RETURNS text LANGUAGE sql AS
	'SELECT concat_ws('': '', certified, certified_detail) FROM cudal1.task AS t WHERE t.name = certified.name';
-- claims the next job and ends it; its profile, and whether the runner was asked
CREATE FUNCTION pg_temp.work(device bigint, outcome text, weak jsonb DEFAULT NULL, score float8 DEFAULT NULL) RETURNS text LANGUAGE sql AS
	$$SELECT (job #>> '{profile,name}') || ' ' || (job #>> '{task,certify}') FROM tap.work(device, jsonb_build_object('outcome', outcome, 'score', score, 'lower', score, 'upper', score,
		'evidence', jsonb_strip_nulls(jsonb_build_object('weak', weak))))$$;
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c", "pytorch"]}') AS d \gset

-- by a candidate
SELECT cudal1_add_task('p', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'adding a task starts nothing');
SELECT is(pg_temp.certified('p'), '', 'and nothing is known yet');
SELECT cudal1_submit('p', n) FROM unnest('{one,two,three,four}'::text[]) AS n \g /dev/null
SELECT is(pg_temp.work(:d, 'compile_error'), 'default true', 'a candidate''s measurement is asked whether its task is weak');
SELECT is(pg_temp.certified('p'), '', 'one that did not come so far tells nothing');
SELECT is(pg_temp.work(:d, 'successful', '7', 1.5), 'default true', 'so the next one is asked');
SELECT is(pg_temp.certified('p'), '', 'nonsense tells nothing');
SELECT is(pg_temp.work(:d, 'crash', 'false'), 'default true', 'a candidate that fails');
SELECT is(pg_temp.certified('p'), 'passed', 'tells it, too');
SELECT is(pg_temp.work(:d, 'crash', '"zeros"'), 'default false', 'no other is asked then');
SELECT is(pg_temp.certified('p'), 'passed', 'nor heard');
SELECT is(cudal1_certify_task('p'), 0::bigint, 'and none is measured for that alone');

-- by the reference as its own candidate
SELECT cudal1_add_task('w', 'class Model: pass # w', 'pytorch', options => '{"device": "cpu", "certify": true}') AS w \gset
SELECT results_eq('SELECT DISTINCT purpose, priority, profile FROM cudal1.job JOIN cudal1.candidate USING (candidate_id)',
	$$VALUES ('reference', -1000000000, 'certify')$$, 'the option has its reference checked behind everything else');
SELECT is((SELECT count(*) FROM cudal1.proposal WHERE task_id = :w), 0::bigint, 'which nobody proposed');
SELECT is(cudal1_certify_task('w'), 0::bigint, 'it waits already');
SELECT cudal1_submit('w', 'class ModelNew: pass', priority => -1000) \g /dev/null
DELETE FROM cudal1.turn;
SELECT is(pg_temp.work(:d, 'lost'), 'default true', 'a proposal goes before');
SELECT cudal1_cancel(ARRAY(SELECT candidate_id FROM cudal1.proposal WHERE task_id = :w)) \g /dev/null
SELECT is(pg_temp.work(:d, 'successful', '"zeros"', 1000), 'certify true', 'then it is measured');
SELECT is(pg_temp.certified('w'), 'weak: zeros', 'and its task is weak');
SELECT is((SELECT reference_state FROM cudal1.task WHERE name = 'w'), 'good', 'though its reference is good');
SELECT is((SELECT count(*) FROM cudal1.job WHERE kind = 'verify' AND task_id = :w), 0::bigint, 'how fast it was is not verified');
SELECT is((SELECT device_model FROM cudal1.task WHERE name = 'w'), NULL, 'and pins the task to no device');
SELECT is((SELECT count(*) FROM cudal1.pool_code WHERE task_id = :w), 0::bigint, 'it is in no bucket');
SELECT is((SELECT count(*) FROM cudal1_sample_exemplars('w', 1)), 0::bigint, 'nor sampled');
SELECT is((SELECT success FROM cudal1_speedup_report(tasks => '{w}') WHERE level = 'All'), 0::bigint, 'nor reported');
-- the same text proposed is somebody's candidate
SELECT c.code AS code, c.candidate_id AS checked FROM cudal1.candidate AS c WHERE c.task_id = :w AND c.purpose = 'reference' \gset
SELECT cudal1_submit('w', :'code') AS again \gset
SELECT isnt(:again::bigint, :checked::bigint, 'its text, proposed, is a candidate of its own');
SELECT is((SELECT profile || ' ' || purpose FROM cudal1.job JOIN cudal1.candidate USING (candidate_id) WHERE candidate_id = :again), 'default normal', 'measured in full');
SELECT pg_temp.work(:d, 'crash') \g /dev/null
SELECT is((SELECT reference_state FROM cudal1.task WHERE name = 'w'), 'good', 'whose verdict says nothing of the reference');
SELECT cudal1_submit('w', 'x', purpose => 'certification') \g /dev/null
SELECT pg_temp.work(:d, 'crash') \g /dev/null
SELECT is((SELECT reference_state FROM cudal1.task WHERE name = 'w'), 'good', 'nor does what a user declares to be a certification');

-- infrastructure is no verdict
SELECT cudal1_add_task('i', 'class Model: pass # i', 'pytorch', options => '{"device": "cpu", "certify": true}') \g /dev/null
SELECT pg_temp.work(:d, 'lost') FROM generate_series(1, 3) \g /dev/null
SELECT is(pg_temp.certified('i'), '', 'a check that was lost leaves the question open');
SELECT is(cudal1_certify_task('i'), 1::bigint, 'and is made when asked for again');
-- as after a restore
DELETE FROM cudal1.job;
SELECT is(cudal1_requeue(), 1::bigint, 'or after a restore');
SELECT is(pg_temp.work(:d, 'successful', 'false', 1), 'certify true', 'with its own profile');
SELECT is(pg_temp.certified('i'), 'passed', 'which closes it');
SELECT throws_ok($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"certify": 1}')$$, '22023', 'option "certify" must be true or false', 'an option of another type');

-- what a weak task's owner says of it
SELECT cudal1_add_task('refuses', 'class Model: pass # r', 'pytorch', options => '{"device": "cpu", "weak": "refuse"}') \g /dev/null
SELECT cudal1_submit('refuses', 'goes before') AS told \gset
SELECT job_id, attempt FROM cudal1.claim(:d, 'w') \gset
SELECT cudal1_submit('refuses', 'waits') AS waits, cudal1_check_reference('refuses') \gset
SELECT cudal1.finish(:job_id, :attempt, '{"outcome": "successful", "score": 2, "lower": 2, "upper": 2, "evidence": {"weak": "a copy of an input"}}') \g /dev/null
SELECT is(tap.state(:told), 'discarded:unverified', 'the code whose measurement tells of a weak task is not paid where that refuses');
SELECT is((SELECT state || ' ' || detail FROM cudal1.candidate WHERE candidate_id = :waits),
	'discarded task "refuses" is weak: code that does none of its work passes (a copy of an input)', 'what waits for a weak task that refuses is discarded');
SELECT is(pg_temp.work(:d, 'successful', NULL, 1), 'certify false', 'but the check of its reference');
SELECT throws_ok($$SELECT cudal1_submit('refuses', 'more')$$, '55000', 'task "refuses" is weak: code that does none of its work passes (a copy of an input)', 'and nothing can be submitted');
SELECT is((SELECT reason FROM cudal1_submit_batch('{refuses}', '{more}')), 'task "refuses" is weak: code that does none of its work passes (a copy of an input)', 'by batches, either');
SELECT is((SELECT value || ' ' || hint FROM cudal1_status() WHERE item = 'weak tasks'),
	'2 task "w" is weak: code that does none of its work passes (zeros). The option weak says what becomes of candidates.', 'the status tells weak tasks');
SELECT is((SELECT detail FROM cudal1_task_report(tasks => '{refuses}')), 'task "refuses" is weak: code that does none of its work passes (a copy of an input)', 'so does the report');
SELECT throws_ok($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"weak": "ignore"}')$$, '22023', 'option "weak" must be pay or refuse', 'a choice is one of two');
SELECT is((SELECT string_agg(x::text, ';') FROM cudal1_check() AS x), NULL, 'all is sound');
