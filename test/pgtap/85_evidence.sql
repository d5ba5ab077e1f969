-- What a figure of a report rests on: the device it is of, and a verdict that still stands.
SET client_min_messages = warning;
SELECT plan(25);

SELECT cudal1.register_device('h1', '{"key": "cpu:0", "class": "cpu", "model": "M1", "languages": ["pytorch"]}') AS m1,
	cudal1.register_device('h2', '{"key": "cpu:0", "class": "cpu", "model": "M2", "languages": ["pytorch"]}') AS m2 \gset
CREATE FUNCTION pg_temp.score(score float8, lower float8, upper float8, wide boolean DEFAULT false) RETURNS jsonb LANGUAGE sql AS
$$SELECT jsonb_build_object('outcome', 'successful', 'score', score, 'lower', lower, 'upper', upper, 'half_width', 0.005, 'wide', wide, 'reference', 'good')$$;
CREATE FUNCTION pg_temp.submit(task text, code text, VARIADIC results jsonb[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	id		bigint := cudal1_submit(task, code);
BEGIN
	PERFORM tap.work((SELECT min(device_id) FROM cudal1.device), r) FROM unnest(results) AS r;
	RETURN id;
END
$$;
SELECT cudal1_add_task(n, 'class Model: ' || n, 'pytorch', level => 1, options => '{"device": "cpu"}') FROM unnest('{devices,fallen,condemned,base,gone}'::text[]) AS n \g /dev/null

-- evaluations of one code on two models, which are rounded to the same reward
SELECT pg_temp.submit('devices', 'x', pg_temp.score(1.5, 1.49, 1.51)) AS x \gset
SELECT cudal1_evaluate(ARRAY[:x], d) FROM unnest('{M1,M2}'::text[]) AS d \g /dev/null
SELECT tap.work(:m1, pg_temp.score(2.001, 1.99, 2.01)), tap.work(:m2, pg_temp.score(2.009, 2.009, 3.5, true)) \g /dev/null
SELECT results_eq($$SELECT d, lower, upper, wide FROM unnest('{M1,M2}'::text[]) AS d, cudal1_task_report(device => d, tasks => '{devices}')$$,
	$$VALUES ('M1', 1.99::float8, 2.01::float8, false), ('M2', 2, 3.5, true)$$, 'an interval is that of the evaluation on the device asked for');
SELECT results_eq($$SELECT d, lower, upper, wide FROM unnest('{M1,M2}'::text[]) AS d, cudal1_top_tasks(device => d, tasks => '{devices}')$$,
	$$VALUES ('M1', 1.99::float8, 2.01::float8, false), ('M2', 2, 3.5, true)$$, 'so it is among the best tasks');
SELECT results_eq($$SELECT d, mean FROM unnest('{M1,M2}'::text[]) AS d, cudal1_level_report(device => d, tasks => '{devices}', unrounded => true) WHERE level = 'All'$$,
	$$VALUES ('M1', 2.001::float8), ('M2', 2.009)$$, 'and so is a score that is not rounded');
SELECT is((SELECT round(ln(upper / ratio)::numeric, 3) FROM cudal1_compare_tasks(NULL, NULL, 'M1', 'M2', tasks => '{devices}')),
	round(sqrt((ln(2.01 / 1.99) / 2) ^ 2 + (ln(3.5 / 2.009) / 2) ^ 2)::numeric, 3), 'a comparison takes the interval of each side''s device');
-- an import on a third whose reward is that of the measurement here
SELECT cudal1_import_result('devices', 'x', 1.5049, 'imp', 'A100') \g /dev/null
SELECT results_eq($$SELECT lower, upper FROM cudal1_task_report(device => 'A100', tasks => '{devices}')$$, 'VALUES (NULL::float8, NULL::float8)', 'an import has no interval');
SELECT is((SELECT mean FROM cudal1_level_report(device => 'A100', tasks => '{devices}', unrounded => true) WHERE level = 'All'), 1.5049::float8, 'and its own score');

-- a baseline is that of the device a speedup is of
SELECT pg_temp.submit('base', 'local', pg_temp.score(2, 1.9, 2.1)) AS local \gset
SELECT candidate_id AS compiled FROM cudal1_add_baselines('base', '{compile}') \gset
SELECT tap.work(:m1, pg_temp.score(1.25, 1.2, 1.3)) \g /dev/null
SELECT cudal1_import_result('base', 'elsewhere', 5, 'imp', 'M2') AS elsewhere \gset
SELECT results_eq($$SELECT reward, candidate_id FROM cudal1_task_report(tasks => '{base}', baseline => 'compile')$$, format('VALUES (1.6::float8, %s::bigint)', :local),
	'an import without the baseline on its device gives way to what was measured here');
SELECT is_empty($$SELECT FROM cudal1_task_report('imp', tasks => '{base}', baseline => 'compile')$$, 'and counts nowhere on its own');
SELECT results_eq($$SELECT reward FROM cudal1_task_report(tasks => '{base}')$$, 'VALUES (5::float8)', 'over the reference it is the best');
SELECT cudal1_evaluate(ARRAY[:compiled], 'M2') \g /dev/null
SELECT tap.work(:m2, pg_temp.score(2.5, 2.4, 2.6)) \g /dev/null
SELECT results_eq($$SELECT d, reward, candidate_id FROM unnest('{M1,M2,cpu,NULL}'::text[]) AS d, cudal1_task_report(tasks => '{base}', device => d, baseline => 'compile')$$,
	format('VALUES (%L, 1.6::float8, %s::bigint), (%L, 2, %s), (%L, 2, %s), (NULL, 2, %s)', 'M1', :local, 'M2', :elsewhere, 'cpu', :elsewhere, :elsewhere),
	'with it the best over the baseline counts');
SELECT results_eq($$SELECT tasks, mean FROM cudal1_level_report('nothing', tasks => '{base}', baseline => 'compile', missing => 'zero') WHERE level = 'All'$$, 'VALUES (1::bigint, 0::float8)',
	'a task without success counts by the baseline of its own device')
	FROM cudal1_import_result('devices', 'y', 2, 'nothing', 'A100');

-- a code that was evaluated, and that re-verification finds wrong
SELECT pg_temp.submit('fallen', 'good', pg_temp.score(1.5, 1.49, 1.51)) AS good, pg_temp.submit('fallen', 'slower', pg_temp.score(1.2, 1.19, 1.21)) AS slower \gset
SELECT cudal1_evaluate(ARRAY[:good], d) FROM unnest('{M1,M2}'::text[]) AS d \g /dev/null
SELECT tap.work(:m1, pg_temp.score(1.7, 1.69, 1.71)), tap.work(:m2, pg_temp.score(1.8, 1.79, 1.81)) \g /dev/null
SELECT results_eq($$SELECT reward, evaluated FROM cudal1_task_report(tasks => '{fallen}')$$, 'VALUES (1.7::float8, true)', 'an evaluation speaks for its code');
DELETE FROM cudal1.job;
UPDATE cudal1.candidate SET decided_at = now() - '1 day'::interval WHERE candidate_id = :good;
SELECT cudal1_reverify('1 hour') \g /dev/null
SELECT tap.work(:m1, '{"outcome": "wrong_output", "detail": "off by one"}') \g /dev/null
SELECT results_eq($$SELECT state, reward, evaluated, candidate_id FROM cudal1_task_report(tasks => '{fallen}')$$, format($$VALUES ('successful', 1.2::float8, false, %s::bigint)$$, :slower),
	'while the code is successful: one that was found wrong leaves its place to the next');
SELECT results_eq($$SELECT mean, success FROM cudal1_speedup_report(tasks => '{fallen}') WHERE level = 'All'$$, 'VALUES (1.2::float8, 1::bigint)', 'in means, too');
SELECT results_eq($$SELECT success FROM cudal1_level_report(device => 'M2', tasks => '{fallen}') WHERE level = 'All'$$, 'VALUES (0::bigint)', 'and on every other device');
SELECT cudal1_withdraw(:slower, 'to see the other') \g /dev/null
SELECT results_eq($$SELECT state, reward, failure FROM cudal1_task_report(tasks => '{fallen}')$$, $$VALUES ('failed', 0::float8, 'withdrawn')$$, 'where no other is left the task has failed');

-- codes with an imported score whose measurement here failed
CREATE FUNCTION pg_temp.on_a100(OUT task text, OUT state text, OUT reward float8, OUT failure text) RETURNS SETOF record LANGUAGE sql AS
$$SELECT r.task, r.state, r.reward, r.failure FROM cudal1_task_report(device => 'A100', tasks => '{condemned}') AS r$$;
DELETE FROM cudal1.job;
SELECT cudal1_import_result('condemned', 'crashes', 2, 'imp', 'A100'), pg_temp.submit('condemned', 'crashes', VARIADIC array_fill('{"outcome": "crash"}'::jsonb, '{1}')) \g /dev/null
SELECT results_eq('SELECT * FROM pg_temp.on_a100()', $$VALUES ('condemned', 'successful', 2::float8, NULL)$$, 'a code that crashes here may run elsewhere');
SELECT cudal1_import_result('condemned', 'wrong', 3, 'imp', 'A100'), pg_temp.submit('condemned', 'wrong', VARIADIC array_fill('{"outcome": "wrong_output"}'::jsonb, '{1}')) \g /dev/null
SELECT cudal1_import_result('condemned', 'cheats', 4, 'imp', 'A100'), pg_temp.submit('condemned', 'cheats', VARIADIC array_fill('{"outcome": "cheat"}'::jsonb, '{1}')) \g /dev/null
SELECT results_eq('SELECT * FROM pg_temp.on_a100()', $$VALUES ('condemned', 'successful', 2::float8, NULL)$$, 'one that is wrong or cheats here does so everywhere');
SELECT cudal1_withdraw(candidate_id, 'to see the others') FROM cudal1.candidate WHERE code = 'crashes' \g /dev/null
SELECT results_eq('SELECT * FROM pg_temp.on_a100()', $$VALUES ('condemned', 'failed', 0::float8, 'cheat')$$, 'and is what the device''s report says of the task');

-- imports that were withdrawn, and one that failed on the second device
SELECT cudal1_import_result('gone', 'code', 2, 'imp', 'A100') AS gone, cudal1_import_result('gone', 'code', NULL, 'imp', 'H100') \gset
SELECT results_eq($$SELECT state, reward, failure FROM cudal1_task_report(device => 'H100', tasks => '{gone}')$$, $$VALUES ('failed', 0::float8, 'reported')$$, 'an imported failure is a failure, also where the reward is another device''s');
SELECT cudal1_withdraw(:gone, 'wd') \g /dev/null
SELECT results_eq($$SELECT d, state, failure, detail FROM unnest('{A100,H100,NULL}'::text[]) AS d, cudal1_task_report(device => d, tasks => '{gone}')$$,
	$$VALUES ('A100', 'failed', 'withdrawn', 'withdrawn by an operator: wd'), ('H100', 'failed', 'withdrawn', 'withdrawn by an operator: wd'), (NULL, 'failed', 'withdrawn', 'withdrawn by an operator: wd')$$,
	'an import that was withdrawn says so on each of its devices');
SELECT results_eq($$SELECT state FROM cudal1_task_report(device => 'M2', tasks => '{gone}')$$, $$VALUES ('untried')$$, 'and nothing on another');
SELECT results_eq($$SELECT state, failure FROM cudal1_task_report(device => 'M2', tasks => '{fallen}')$$, $$VALUES ('failed', 'wrong_output')$$, 'so does a failure that undid an evaluation');

-- a task without a model of its own, whose import is evaluated on two models, the second of which lacks the baseline
DELETE FROM cudal1.job;
SELECT cudal1_add_task('lent', 'class Model: lent', 'pytorch', level => 1, options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_import_result('lent', 'code', 2, 'imp', 'A100') AS lent, cudal1_import_result('lent', cudal1.baseline_code(t, 'compile'), 1.5, 'base', 'A100') AS lent_base FROM cudal1.task AS t WHERE name = 'lent' \gset
SELECT cudal1_evaluate(ARRAY[:lent, :lent_base], 'M1') \g /dev/null
SELECT tap.work(:m1, pg_temp.score(s, s, s)) FROM unnest('{3,3}'::float8[]) AS s \g /dev/null
SELECT cudal1_evaluate(ARRAY[:lent], 'M2') \g /dev/null
SELECT tap.work(:m2, '{"outcome": "crash"}') \g /dev/null
SELECT results_eq($$SELECT reward FROM cudal1_task_report('imp', tasks => '{lent}')$$, 'VALUES (3::float8)', 'an evaluation that failed on one model leaves that on another');
SELECT results_eq($$SELECT reward FROM cudal1_task_report('imp', tasks => '{lent}', baseline => 'compile')$$, 'VALUES (1::float8)', 'which is over the baseline there');
