-- Percentiles, fast_p and the list of all tasks; reports over some tasks; names that do not exist.
SET client_min_messages = warning;
SELECT plan(38);

CREATE FUNCTION pg_temp.result(task text, state text, reward float8, method text, failure text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint;
BEGIN
	INSERT INTO cudal1.candidate (task_id, code, code_hash, state, failure, reward, detail, decided_at)
		SELECT t.task_id, 'c', sha256(nextval('cudal1.candidate_candidate_id_seq')::text::bytea), $2, $5, $3, 'why ' || $5,
				CASE WHEN $2 <> 'queued' THEN now() END
			FROM cudal1.task AS t WHERE t.name = $1
		RETURNING candidate_id INTO id;
	INSERT INTO cudal1.proposal (task_id, candidate_id, method) SELECT task_id, id, $4 FROM cudal1.candidate WHERE candidate_id = id;
	PERFORM cudal1.place_candidate(id);
	RETURN id;
END $$;
CREATE FUNCTION pg_temp.hint(command text) RETURNS text LANGUAGE sql AS $$SELECT answer || ' ' || current_setting('tap.hint') FROM tap.by(CURRENT_USER, command)$$;

SELECT results_eq('SELECT * FROM cudal1_percentiles(fractions => ''{0.5}'')', $$VALUES ('All', 0.5::float8, NULL::float8)$$, 'an empty database has no percentile');
SELECT results_eq('SELECT * FROM cudal1_fast_p(p => ''{1}'')', $$VALUES ('All', 1::float8, NULL::float8)$$, 'nor a share');
SELECT is_empty('SELECT * FROM cudal1_task_report()', 'nor a task');

SELECT tap.task(v.n, v.l) FROM (VALUES ('l1/fast', 1), ('l1/slow', 1), ('l1/wrong', 1), ('l1/untried', 1), ('l2/waits', 2), ('l2/lost', 2), ('free', NULL)) AS v (n, l) \g /dev/null
SELECT pg_temp.result('l1/fast', 'successful', 3.36, 'mine') AS best \gset
SELECT pg_temp.result('l1/fast', 'successful', 9, 'other') \g /dev/null
SELECT pg_temp.result('l1/slow', 'successful', 0.85, 'mine') \g /dev/null
SELECT pg_temp.result('l1/wrong', 'failed', 0, 'mine', 'wrong_output') \g /dev/null
SELECT pg_temp.result('l1/wrong', 'failed', 0, 'mine', 'crash') AS crashed \gset
SELECT pg_temp.result('l1/wrong', 'queued', NULL, 'mine') \g /dev/null
SELECT pg_temp.result('l2/lost', 'discarded', NULL, 'mine', 'lost') \g /dev/null
SELECT pg_temp.result('l2/waits', 'discarded', NULL, 'mine', 'lost') \g /dev/null
SELECT pg_temp.result('l2/waits', 'queued', NULL, 'mine') \g /dev/null
SELECT pg_temp.result('free', 'successful', 2, 'mine') \g /dev/null

-- percentiles
SELECT results_eq($$SELECT * FROM cudal1_percentiles('mine', '{1,0.75,0.5}')$$, $$VALUES ('1', 1::float8, 3.36::float8), ('1', 0.75, 1.47), ('1', 0.5, 0.43),
	('2', 1, 0), ('2', 0.75, 0), ('2', 0.5, 0), ('none', 1, 2), ('none', 0.75, 2), ('none', 0.5, 2), ('All', 1, 3.36), ('All', 0.75, 1.42), ('All', 0.5, 0)$$,
	'percentiles in the order asked for, tasks without success at 0, rounded towards 1');
SELECT results_eq($$SELECT fraction, speedup FROM cudal1_percentiles('mine', missing => 'drop') WHERE level = '1'$$,
	$$VALUES (0.1::float8, 1.1::float8), (0.25, 1.47), (0.5, 2.1), (0.75, 2.73), (0.9, 3.1)$$, 'drop leaves them out; five fractions by default');
SELECT results_eq($$SELECT speedup FROM cudal1_percentiles('mine', '{0.5}', missing => 'one', tasks => '{l2/%}') WHERE level = 'All'$$, 'VALUES (1::float8)', 'one counts them 1.00');
SELECT results_eq($$SELECT level, speedup FROM cudal1_percentiles('mine', '{0.5}', missing => 'drop') WHERE level IN ('2', 'All')$$,
	$$VALUES ('2', NULL::float8), ('All', 2::float8)$$, 'a level of which no task counts has none');
SELECT results_eq($$SELECT speedup FROM cudal1_percentiles('other', '{1}', 'cpu') WHERE level = 'All'$$, 'VALUES (9::float8)', 'by method and device');

-- fast_p
SELECT results_eq($$SELECT * FROM cudal1_fast_p('mine') WHERE level IN ('1', 'All')$$, $$VALUES ('1', 1::float8, 0.25::float8), ('1', 1.5, 0.25), ('1', 2, 0.25),
	('All', 1, 2 / 7::float8), ('All', 1.5, 2 / 7::float8), ('All', 2, 1 / 7::float8)$$, 'fast_p: the share of all tasks that is faster than p');
SELECT results_eq($$SELECT share FROM cudal1_fast_p('mine', '{0}', missing => 'drop') WHERE level = 'All'$$, 'VALUES (1::float8)', 'fast_0 of what succeeded is all of it');
SELECT results_eq($$SELECT share FROM cudal1_fast_p('mine', '{0.9}', missing => 'one') WHERE level = '1'$$, 'VALUES (0.75::float8)', 'a task left as it is has 1.00');

-- every task
SELECT results_eq($$SELECT task, level, state, reward, failure, detail, methods FROM cudal1_task_report('mine')$$, $$VALUES
	('l1/fast', 1, 'successful', 3.36::float8, NULL, NULL, '{mine}'::text[]), ('l1/slow', 1, 'successful', 0.85, NULL, NULL, '{mine}'),
	('l1/untried', 1, 'untried', NULL, NULL, NULL, '{}'), ('l1/wrong', 1, 'failed', 0, 'crash', 'why crash', '{mine}'),
	('l2/lost', 2, 'discarded', NULL, 'lost', 'why lost', '{mine}'), ('l2/waits', 2, 'queued', NULL, NULL, NULL, '{mine}'),
	('free', NULL, 'successful', 2, NULL, NULL, '{mine}')$$, 'every task has a row, failed and untried ones, too');
SELECT results_eq($$SELECT candidate_id FROM cudal1_task_report('mine', tasks => '{l1/fast,l1/wrong}')$$, format('VALUES (%s::bigint), (%s)', :best, :crashed), 'it names the best candidate, or the last that failed');
SELECT results_eq($$SELECT state, reward FROM cudal1_task_report() WHERE task = 'l1/fast'$$, $$VALUES ('successful', 9::float8)$$, 'without a method it is the best of all');
SELECT results_eq($$SELECT DISTINCT state FROM cudal1_task_report('other') WHERE task <> 'l1/fast'$$, $$VALUES ('untried')$$, 'what another method did is not this one''s');

-- an evaluation that failed stands before the reward, the interval is that of the measurement
INSERT INTO cudal1.device (device_key, host, class, model, languages) VALUES ('h d', 'h', 'cpu', 'M', '{c}');
SELECT tap.evaluate(:best, 3.2, 'successful') \g /dev/null
SELECT results_eq($$SELECT state, reward, lower, upper, wide, evaluated FROM cudal1_task_report('mine', tasks => '{l1/fast}')$$,
	$$VALUES ('successful', 3.2::float8, 3.1::float8, 3.3::float8, true, true)$$, 'an evaluation speaks for its task, with its interval');
SELECT tap.evaluate(:best, 0, 'wrong_output') \g /dev/null
SELECT results_eq($$SELECT state, reward, failure, detail, candidate_id FROM cudal1_task_report('mine', tasks => '{l1/fast}')$$,
	format($$VALUES ('failed', 0::float8, 'wrong_output', 'said wrong_output', %s::bigint)$$, :best), 'one that failed does so, too');
SELECT results_eq($$SELECT state FROM cudal1_task_report('mine', 'M', '{l1/wrong,l1/fast}')$$, $$VALUES ('failed'), ('untried')$$, 'on a model that a task is not measured on, only evaluations are tries');

-- tasks of reports
SELECT results_eq($$SELECT level, tasks FROM cudal1_speedup_report('mine', tasks => '{l1/%,free}')$$, $$VALUES ('1', 4::bigint), ('none', 1), ('All', 5)$$, 'a report over names and patterns');
SELECT results_eq($$SELECT level, tasks FROM cudal1_level_report('mine', tasks => '{free}')$$, $$VALUES ('none', 1::bigint), ('All', 1)$$, 'by level');
SELECT results_eq($$SELECT method, tasks FROM cudal1_method_report('{mine,other}', tasks => '{free}') WHERE level = 'All'$$, $$VALUES ('mine', 1::bigint), ('other', 1)$$, 'by method');
SELECT results_eq($$SELECT device, tasks FROM cudal1_device_report('{cpu}', tasks => '{l_/%}') WHERE level = 'All'$$, $$VALUES ('cpu', 6::bigint)$$, 'by device');
SELECT results_eq($$SELECT task FROM cudal1_top_tasks(9, 'mine', tasks => '{l1/slow,free}')$$, $$VALUES ('free'), ('l1/slow')$$, 'the best tasks');
SELECT results_eq($$SELECT sum(tasks)::int FROM cudal1_speedup_histogram('mine', tasks => '{free}') WHERE level = 'All'$$, 'VALUES (1)', 'a histogram');
SELECT results_eq($$SELECT level, tasks FROM cudal1_compare('mine', 'other', tasks => '{l1/fast,free}')$$, $$VALUES ('1', 1::bigint), ('none', 1), ('All', 2)$$, 'a comparison');
SELECT results_eq($$SELECT task FROM cudal1_compare_tasks('mine', 'other', tasks => '{free}')$$, $$VALUES ('free')$$, 'task by task');
SELECT tap.task('l1_fast', 1) \g /dev/null
SELECT tap.task('l1-fast', 1) \g /dev/null
SELECT results_eq($$SELECT task FROM cudal1_task_report(tasks => '{l1_fast}')$$, $$VALUES ('l1_fast')$$, 'a name is that task alone, not a pattern');
SELECT results_eq($$SELECT level, tasks FROM cudal1_level_report('mine', tasks => '{}')$$, $$VALUES ('All', 0::bigint)$$, 'no names are no tasks');
SELECT is((SELECT p50 FROM cudal1_level_report('mine', tasks => '{free,l1/slow}', missing => 'drop') WHERE level = 'All'), 1.42::float8, 'a percentile is rounded as rewards are');
SELECT is((SELECT p50 FROM cudal1_level_report('mine', tasks => '{free,l1/slow}', missing => 'drop', unrounded => true) WHERE level = 'All'), 1.425::float8, 'and has no noise in its last digits where it is not');

-- what is wrong
SELECT throws_ok(v.c, v.e, NULL, v.c) FROM (VALUES
	($$SELECT * FROM cudal1_percentiles(fractions => '{0.5,NULL}')$$, '22023'),
	($$SELECT * FROM cudal1_percentiles(fractions => '{}')$$, '22023'), ($$SELECT * FROM cudal1_fast_p(p => '{NaN}')$$, '22023'),
	($$SELECT * FROM cudal1_fast_p(missing => 'none')$$, '22023'), ($$SELECT * FROM cudal1_task_report(device => 'nowhere')$$, '42704'),
	($$SELECT * FROM cudal1_task_report(tasks => '{NULL}')$$, '22004'), ($$SELECT * FROM cudal1_task_report(tasks => E'{l1\\\\}')$$, '22025')) AS v (c, e);
SELECT is(pg_temp.hint($$SELECT * FROM cudal1_task_report(tasks => '{L1/slo}')$$), '42704 Did you mean "l1/slow"? Tasks are names or LIKE patterns.', 'a task that does not exist is an error, with the nearest name');
