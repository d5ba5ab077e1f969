-- A retired task takes part in nothing and comes back as it was; a withdrawn candidate counts nowhere. Names that are nearly right are told.
SET client_min_messages = warning;
SELECT plan(49);

CREATE FUNCTION pg_temp.hint(command text) RETURNS text LANGUAGE sql AS $$SELECT current_setting('tap.hint') FROM tap.by(CURRENT_USER, command)$$;
CREATE FUNCTION pg_temp.finish(candidate bigint, result jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(cudal1.finish(j.job_id, j.attempt, result), ' ') FROM cudal1.job AS j WHERE j.candidate_id = candidate AND j.state = 'running' $$;
CREATE FUNCTION pg_temp.measure(device bigint, result jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT cudal1.finish(c.job_id, c.attempt, result) FROM cudal1.claim(device, 'w') AS c $$;

SELECT cudal1.register_device('h', '{"key": "d", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS device \gset
SELECT cudal1_add_task('level1/19_ReLU', 'r', 'pytorch', NULL, 1, '{"device": "cpu", "certify": false}') \g /dev/null
SELECT cudal1_add_task('level1/26_GELU', 'r', 'pytorch', NULL, 1, '{"device": "cpu", "certify": false}') \g /dev/null

-- nearest names
SELECT is(cudal1.nearest('relu', '{level1/19_ReLU,level1/26_GELU,gelu,rule}'), 'Did you mean "gelu"?', 'near by edits, whatever the case');
SELECT is(cudal1.nearest('relu', '{level1/19_ReLU,level1/26_GELU}'), 'Did you mean "level1/19_ReLU"?', 'or as a part');
SELECT is(cudal1.nearest('softmax', '{relu,gelu}'), NULL, 'nothing is near');
SELECT is(cudal1.nearest('aaaa', '{aaab,aaac,aaaa1}'), 'Did you mean "aaab"?', 'the first of several');
SELECT is(cudal1.nearest('Gröse', '{Grösser,größe}'), 'Did you mean "größe"?', 'letters count, not bytes');
SELECT is(cudal1.nearest(repeat('a', 1000), ARRAY[repeat('a', 999) || 'b']), format('Did you mean "%sb"?', repeat('a', 999)), 'long names, too');
SELECT is(cudal1.nearest(repeat('a', 1001), '{a}'), NULL, 'but none that no name is as long as');
SELECT is(cudal1.nearest('', '{a,NULL}'), NULL, 'an empty name is near nothing');
SELECT is(pg_temp.hint($$SELECT cudal1_submit('level1/19_Relu', 'c')$$), 'Did you mean "level1/19_ReLU"? Add it with cudal1_add_task(); cudal1.task lists those that exist.', 'of tasks');
SELECT is(pg_temp.hint($$SELECT * FROM cudal1_sample_exemplars('26_GELU')$$), 'Did you mean "level1/26_GELU"? Add it with cudal1_add_task(); cudal1.task lists those that exist.', 'in draws, too');
SELECT matches(pg_temp.hint($$SELECT cudal1_enable_device('h e', true)$$), '^Did you mean "h d"\?', 'of devices');

-- a task with a past
SELECT cudal1_submit('level1/19_ReLU', 'good', 'of us') AS good \gset
SELECT pg_temp.measure(:device, '{"outcome": "successful", "score": 1.5, "lower": 1.4, "upper": 1.6}') \g /dev/null
SELECT cudal1_submit('level1/19_ReLU', 'runs', 'of us') AS runs \gset
SELECT job_id FROM cudal1.claim(:device, 'w') \g /dev/null
SELECT cudal1_submit('level1/19_ReLU', 'waits', 'of us') AS waits \gset
SELECT cudal1_evaluate(ARRAY[:good]) \g /dev/null
SELECT prompt_id AS prompt FROM cudal1_prompt('level1/19_ReLU') \gset
SELECT cudal1_add_campaign('trainer', 'contrastive') \g /dev/null
SELECT is((SELECT tasks FROM cudal1_speedup_report() WHERE level = 'All'), 2::bigint, 'it counts');

SELECT throws_ok($$SELECT cudal1_retire_task('level1/19_ReLU', ' ')$$, '22023', NULL, 'one that says something');
SELECT lives_ok($$SELECT cudal1_retire_task('level1/19_ReLU', 'its reference is wrong')$$, 'a task is retired');
SELECT results_eq($$SELECT retired_at IS NOT NULL, retired_by, retired_reason FROM cudal1.task WHERE name = 'level1/19_ReLU'$$, $$VALUES (true, current_user::text COLLATE "default", 'its reference is wrong')$$, 'by whom and why is recorded');
SELECT results_eq(format('SELECT state, failure, detail FROM cudal1.candidate WHERE candidate_id = %s', :waits), $$VALUES ('discarded', 'cancelled', 'the task is retired: its reference is wrong')$$, 'what waits is discarded');
SELECT is((SELECT string_agg(state || ' ' || cancel_requested, ',') FROM cudal1.job), 'running true', 'what runs is to stop, evaluations have gone');
SELECT is(pg_temp.finish(:runs, '{"outcome": "cancelled"}'), 'stored', 'and stops');
SELECT is((SELECT state FROM cudal1.candidate WHERE candidate_id = :runs), 'discarded', 'without a verdict');

SELECT matches(tap.answer(v.c), '^42704 task "level1/19_ReLU" is retired', v.w) FROM (VALUES
	($$SELECT cudal1_submit('level1/19_ReLU', 'new')$$, 'no code is submitted'), ($$SELECT cudal1_submit('level1/19_ReLU', 'good')$$, 'nor one that is known'),
	($$SELECT cudal1_submit('level1/19_ReLU', 'new', proposal_key => 'k')$$, 'nor one with a key'),
	(format($$SELECT cudal1_submit_response(%s, 'words')$$, :prompt), 'no answer'), ($$SELECT cudal1_prompt('level1/19_ReLU')$$, 'no prompt is made'),
	($$SELECT * FROM cudal1_sample_exemplars('level1/19_ReLU')$$, 'nothing is drawn'), ($$SELECT cudal1_certify_task('level1/19_ReLU')$$, 'it is not certified'),
	($$SELECT cudal1_import_result('level1/19_ReLU', 'c', 2, 'imported', 'M')$$, 'no result is imported'), ($$SELECT * FROM cudal1_task_report(tasks => '{level1/19_ReLU}')$$, 'it is not reported'),
	($$SELECT cudal1_add_campaign('x', 'contrastive', tasks => '{level1/19_ReLU}')$$, 'no campaign is made of it'), ($$SELECT cudal1_measure_aa('level1/19_ReLU')$$, 'it shows no drift')) AS v (c, w);
SELECT results_eq($$SELECT reason FROM cudal1_submit_batch('{level1/19_ReLU,level1/26_GELU}', '{c,c}')$$, $$VALUES ('task "level1/19_ReLU" is retired'), (NULL)$$, 'a batch says so in its row');
SELECT is((SELECT tasks FROM cudal1_speedup_report() WHERE level = 'All'), 1::bigint, 'reports leave it out');
SELECT results_eq('SELECT task FROM cudal1_task_report()', $$VALUES ('level1/26_GELU')$$, 'so does the list of tasks');
SELECT results_eq($$SELECT DISTINCT task FROM generate_series(1, 3), cudal1_next_group('trainer')$$, $$VALUES ('level1/26_GELU')$$, 'and campaigns');
SELECT is(cudal1_reverify('0 s') + cudal1_evaluate(ARRAY[:good]), 0::bigint, 'nothing is measured again');
SELECT is(cudal1_reward(:good), 1.5::float8, 'its history stays');
SELECT is((SELECT sum(codes) FROM cudal1_bucket_stats('level1/19_ReLU')), 1::numeric, 'with its buckets');

SELECT lives_ok($$SELECT cudal1_restore_task('level1/19_ReLU')$$, 'it comes back');
SELECT is((SELECT candidate_id FROM cudal1_sample_exemplars('level1/19_ReLU', 1)), :good::bigint, 'with its exemplars');
SELECT is(cudal1_submit('level1/19_ReLU', 'waits', 'of us'), :waits::bigint, 'what was discarded');
SELECT is((SELECT state FROM cudal1.candidate WHERE candidate_id = :waits), 'queued', 'is queued when it is proposed again');

-- a submission that did not see the retirement
UPDATE cudal1.task SET retired_at = now(), retired_by = current_user, retired_reason = 'meanwhile' WHERE name = 'level1/19_ReLU';
SELECT isnt(cudal1.claim(device_id, 'w')::text, NULL, 'other work is claimed') FROM cudal1.device LIMIT 1;
SELECT cudal1.claim(device_id, 'w') FROM (SELECT device_id FROM cudal1.device LIMIT 1) AS d, generate_series(1, 9) \g /dev/null
SELECT results_eq(format('SELECT state, detail FROM cudal1.candidate WHERE candidate_id = %s', :waits), $$VALUES ('discarded', 'the task is retired')$$, 'what is queued for a retired task is discarded in its turn');
SELECT cudal1_restore_task('level1/19_ReLU'), cudal1_submit('level1/19_ReLU', 'waits', 'of us') \g /dev/null

-- withdrawn
SELECT lives_ok(format($$SELECT cudal1_withdraw(%s, 'it reads the clock'), cudal1_withdraw(%s, 'so does this')$$, :good, :waits), 'candidates are withdrawn');
SELECT results_eq(format('SELECT state, reward, failure, detail FROM cudal1.candidate WHERE candidate_id IN (%s, %s) ORDER BY candidate_id', :good, :waits), $$VALUES
	('failed', 0::float8, 'withdrawn', 'withdrawn by an operator: it reads the clock'), ('failed', 0, 'withdrawn', 'withdrawn by an operator: so does this')$$, 'they have failed');
SELECT results_eq($$SELECT state, failure FROM cudal1_task_report(tasks => '{%ReLU}')$$, $$VALUES ('failed', 'withdrawn')$$, 'and count nowhere');
SELECT is_empty($$SELECT * FROM cudal1_sample_exemplars('level1/19_ReLU')$$, 'nor are they drawn');
SELECT cudal1_submit('level1/19_ReLU', 'good', 'of us') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.job WHERE candidate_id IN (:good, :waits)), 0::bigint, 'nor measured again');
SELECT is_empty('SELECT * FROM cudal1_check()', 'all that is derived agrees');
