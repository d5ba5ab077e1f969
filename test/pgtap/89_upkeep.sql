-- What is derived can be recounted, what is not needed can go, and nothing else goes with it.
SET client_min_messages = error;
SET cudal1.certify = off;
SELECT plan(46);

SELECT cudal1_add_task('t', 'r', 'pytorch', NULL, 1, '{"device": "cpu", "profile": "quick"}') AS task \gset
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS device \gset
CREATE FUNCTION pg_temp.measure(device bigint) RETURNS bigint LANGUAGE sql AS $$
	SELECT tap.measure_each(device, $e$CASE WHEN code LIKE 'bad%' THEN '{"outcome": "crash", "detail": "signal 11", "samples": [[1.5]]}'::jsonb
		ELSE jsonb_build_object('outcome', 'successful', 'score', 1.1 + n * 0.1, 'lower', 1, 'upper', 9, 'bucket_means', '[1, 2, 3]'::jsonb, 'variance', 2.0 / 3,
			'samples', '[[1.5]]'::jsonb, 'device_seconds', 2, 'clock_seconds', 1) END$e$)
$$;
SELECT cudal1_submit('t', 'good ' || i) FROM generate_series(1, 5) AS i \g /dev/null
SELECT cudal1_submit('t', 'bad ' || i, 'm') FROM generate_series(1, 3) AS i \g /dev/null
SELECT pg_temp.measure(:device) \g /dev/null
SELECT prompt_id AS prompt FROM cudal1_prompt('t') \gset
SELECT cudal1_submit_response(:prompt, 'no code at all', 'm') AS malformed \gset
SELECT cudal1_submit('t', 'dropped') AS dropped \gset
SELECT cudal1_cancel(ARRAY[:dropped]) \g /dev/null
SELECT cudal1_import_result('t', 'imported', 3.333, 'p', 'A100') AS imported \gset
SELECT is_empty('SELECT * FROM cudal1_check()', 'a sound database has no differences');
SELECT cudal1_open_pool('again') \g /dev/null
SELECT cudal1_submit('t', 'good ' || i, pool => 'again') FROM generate_series(1, 2) AS i \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.pool_code WHERE waiting), 2::bigint, 'codes that are proposed in another pool wait for the next claim');
SELECT is_empty('SELECT * FROM cudal1_check()', 'which is no difference');
SELECT cudal1.place_waiting() \g /dev/null
SELECT is_empty('SELECT * FROM cudal1_check()', 'nor is that they were placed');

-- each derived number, set wrong, is found
CREATE FUNCTION pg_temp.found(change text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	names	text[];
BEGIN
	BEGIN
		EXECUTE change;
		SELECT coalesce(array_agg(DISTINCT subject), '{}') INTO names FROM cudal1_check();
		RAISE EXCEPTION 'undo' USING ERRCODE = 'P0099';
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
		RETURN names;
	END;
END $$;
SELECT is(pg_temp.found('UPDATE cudal1.bucket_part SET total = total + 1 WHERE bucket = (SELECT min(bucket) FROM cudal1.bucket)'), '{bucket}', 'a sum');
SELECT ok('code of no pool' = ANY (pg_temp.found('DELETE FROM cudal1.pool_code WHERE candidate_id = (SELECT max(candidate_id) FROM cudal1.pool_code)')), 'a code of a pool');
SELECT is(pg_temp.found($$UPDATE cudal1.candidate SET code = 'other' WHERE code = 'good 1'$$), '{"code hash"}', 'a code');
SELECT throws_ok($$UPDATE cudal1.candidate SET score = score + 0.5 WHERE code = 'good 1'$$, '23514', NULL, 'a reward is its score, rounded');
SELECT ok('deciding measurement' = ANY (pg_temp.found($$UPDATE cudal1.candidate SET reward = 99, score = 99 WHERE code = 'good 1'$$)), 'a reward that no measurement gave');
SELECT is(pg_temp.found($$UPDATE cudal1.candidate SET measurement_id = NULL WHERE code = 'good 2'$$), '{"deciding measurement"}', 'a verdict without a measurement');
SELECT is(pg_temp.found($$UPDATE cudal1.imported_score SET reward = 1, score = 1$$), '{"imported score"}', 'an imported score');
SELECT throws_ok($$UPDATE cudal1.measurement SET score = 7 WHERE measurement_id = (SELECT measurement_id FROM cudal1.candidate WHERE code = 'good 3')$$, '23514', NULL, 'that of a measurement, too');
SELECT is(pg_temp.found($$INSERT INTO cudal1.candidate (task_id, code, code_hash) SELECT task_id, 'x', cudal1.code_hash('x') FROM cudal1.task$$), '{"undecided without a job"}', 'a forgotten candidate');
SELECT is(pg_temp.found($$UPDATE cudal1.task SET device_model = 'other'$$), '{"deciding measurement"}', 'rewards from two models');

-- what others derive
SELECT throws_ok($$UPDATE cudal1.imported_score SET score = 5$$, '23514', NULL, 'and of an imported score');
SELECT is(pg_temp.found($x$SELECT cudal1_certify_task('t')$x$), '{}', 'the check of a reference is sound');
SELECT is(pg_temp.found($x$SELECT cudal1_add_model('m', 'http://127.0.0.1:9/v1', 'm');
	SELECT cudal1_add_campaign('c', 'vanilla', '{m}', '{t}'); UPDATE cudal1.campaign_lane SET tokens = 7$x$), '{"tokens and cost"}', 'tokens that no request took');

-- statistics
SELECT results_eq('SELECT measurements, successful, failed, lost, device_seconds, clock_share FROM cudal1.stat_device', 'VALUES (8::bigint, 5::bigint, 3::bigint, 0::bigint, 10::float8, 0.5::float8)', 'statistics of a device');
SELECT results_eq('SELECT task, candidates, waiting, successful, failed, discarded, best, measurements FROM cudal1.stat_task',
	$$VALUES ('t', 11::bigint, 0::bigint, 6::bigint, 4::bigint, 1::bigint, 3.33::float8, 8::bigint)$$, 'of a task');
SAVEPOINT idle;
SELECT cudal1.register_device('idle', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') \g /dev/null
SELECT cudal1_add_task('untried', 'class Model: pass # untried', 'pytorch') \g /dev/null
SELECT results_eq($$SELECT measurements, successful, failed, lost, wide FROM cudal1.stat_device WHERE device = 'idle cpu:1'$$, 'VALUES (0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint)', 'of a device that measured nothing');
SELECT results_eq($$SELECT candidates, waiting, measurements FROM cudal1.stat_task WHERE task = 'untried'$$, 'VALUES (0::bigint, 0::bigint, 0::bigint)', 'and of a task without a measurement');
ROLLBACK TO idle;
SELECT results_eq($$SELECT method, proposals, successful, malformed, not_executable FROM cudal1.stat_method WHERE method = 'm'$$, $$VALUES ('m', 4::bigint, 0::bigint, 1::bigint, 3::bigint)$$, 'of a method');

-- retention
SELECT throws_ok($$SELECT * FROM cudal1_prune(NULL)$$, '22004', NULL, 'the age must be said');
SELECT results_eq($$SELECT texts FROM cudal1_prune('1 day')$$, 'VALUES (0::bigint), (0), (0)', 'what is young stays');
SELECT results_eq($$SELECT * FROM cudal1_prune('0 days', true)$$, $$VALUES ('code', 4::bigint, 29::bigint), ('responses', 1, 14), ('samples', 3, 21)$$, 'a dry run counts');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code = ''), 0::bigint, 'and removes nothing');
SELECT results_eq($$SELECT texts FROM cudal1_prune('0 days')$$, 'VALUES (4::bigint), (1), (3)', 'texts of failed candidates go');
SELECT results_eq($$SELECT texts FROM cudal1_prune('0 days')$$, 'VALUES (0::bigint), (0), (0)', 'once');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code = ''), 4::bigint, 'those of others stay, discarded ones included');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE failure = 'crash' AND detail = 'signal 11'), 3::bigint, 'verdict and detail stay');
SELECT is_empty('SELECT * FROM cudal1_check()', 'and all numbers hold');
SELECT is(cudal1_submit('t', 'bad 1'), (SELECT min(candidate_id) FROM cudal1.candidate WHERE code = ''), 'the same code is known');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'and not measured again');
SELECT throws_ok(format('SELECT cudal1_ablate(%s, $${A}$$)', (SELECT min(candidate_id) FROM cudal1.candidate WHERE code = '')), '55000', NULL, 'it has no switches any more');
SELECT cudal1_import_result('t', 'imported', NULL, 'p', 'A100') \g /dev/null
SELECT cudal1_prune('0 days') \g /dev/null
SELECT is((SELECT code FROM cudal1.candidate WHERE candidate_id = :imported), '', 'an imported failure goes, too');
SELECT cudal1_import_result('t', 'imported', 2, 'p', 'A100') \g /dev/null
SELECT is((SELECT code FROM cudal1.candidate WHERE candidate_id = :imported), 'imported', 'and is back with an imported success');
SELECT is_empty('SELECT * FROM cudal1_check()', 'all numbers hold still');
-- a failure on one device may be a success on another, whose reports show its code
SELECT cudal1_import_result('t', 'elsewhere', NULL, 'p', 'A100') AS elsewhere \gset
SELECT cudal1_prune('0 days'), cudal1_import_result('t', 'elsewhere', 3, 'p', 'H100') \g /dev/null
SELECT is((SELECT code FROM cudal1.candidate WHERE candidate_id = :elsewhere), 'elsewhere', 'an import from another device brings a code back');
SELECT cudal1_prune('0 days') \g /dev/null
SELECT is((SELECT code FROM cudal1.candidate WHERE candidate_id = :elsewhere), 'elsewhere', 'which stays, since it succeeded there');
SELECT cudal1_import_result('t', 'bad 2', 3, 'p', 'H100') AS bad \gset
SELECT cudal1_prune('0 days') \g /dev/null
SELECT is((SELECT code || ' ' || state FROM cudal1.candidate WHERE candidate_id = :bad), 'bad 2 failed', 'so does one that failed here');
SELECT is_empty('SELECT * FROM cudal1_check()', 'and numbers hold');

-- an imported failure that is proposed again is measured, with its code
SELECT cudal1_import_result('t', v, NULL, 'p', 'A100') FROM unnest('{"good x", "good y"}'::text[]) AS v \g /dev/null
SELECT cudal1_prune('0 days') \g /dev/null
SELECT cudal1_submit('t', 'good x') AS back \gset
SELECT candidate_id AS backed FROM cudal1_submit_batch('{t}', '{good y}') \gset
SELECT is((SELECT array_agg(code ORDER BY candidate_id) FROM cudal1.candidate WHERE candidate_id IN (:back, :backed)), '{"good x", "good y"}', 'an imported failure proposed again has its code');
DELETE FROM cudal1.job;
SELECT is(cudal1_requeue(), 2::bigint, 'what a restore does not bring back is queued again');
SELECT pg_temp.measure(:device) \g /dev/null
SELECT is((SELECT array_agg(state || ' ' || imported ORDER BY candidate_id) FROM cudal1.candidate WHERE candidate_id IN (:back, :backed)), '{"successful false", "successful false"}', 'and is measured');

-- verdicts from elsewhere, and on what is no code
SELECT cudal1_submit('t', 'nothing', purpose => 'null') AS nothing \gset
SELECT cudal1_cancel(ARRAY[:nothing]) \g /dev/null
SELECT cudal1_import_result('t', 'nothing', 2.5, 'p', 'A100') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.pool_code WHERE candidate_id = :nothing), 1::bigint, 'an import over a code of another purpose makes it an ordinary one');
SELECT cudal1_withdraw(cudal1_submit_response(:prompt, 'none either', 'm'), 'no code') \g /dev/null
SELECT is_empty('SELECT * FROM cudal1_check()', 'a withdrawn answer without code is sound');
