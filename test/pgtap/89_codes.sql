-- The best codes come with what they rest on, and a code's lineage names each ancestor once.
SET client_min_messages = error;
SELECT plan(17);

SELECT cudal1_add_task(n, 'r ' || n, 'pytorch', NULL, 1, '{"device": "cpu", "certify": false}') FROM unnest('{a,b,c}'::text[]) AS n \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS device \gset
CREATE FUNCTION pg_temp.scored(id bigint, device bigint, score float8) RETURNS bigint LANGUAGE sql AS $$
	SELECT id FROM tap.work(device, CASE WHEN score IS NULL THEN '{"outcome": "crash"}' ELSE jsonb_build_object('outcome', 'successful',
		'score', score, 'lower', score - 0.01, 'upper', score + 0.01, 'half_width', 0.005, 'pairs', 7, 'checks', 8, 'max_error', 0.25) END)
$$;
CREATE FUNCTION pg_temp.prompt(VARIADIC exemplars bigint[]) RETURNS bigint LANGUAGE sql AS
$$SELECT cudal1_record_prompt('a', 'faster, please ' || exemplars::text, exemplars)$$;

SELECT pg_temp.scored(cudal1_submit('a', 'first'), :device, 1.2) AS first \gset
SELECT pg_temp.scored(cudal1_submit('a', 'other'), :device, 1.5) AS other \gset
SELECT pg_temp.prompt(:first) AS p1 \gset
SELECT pg_temp.scored(cudal1_submit('a', 'second', 'm', :p1), :device, 1.8) AS second \gset
SELECT pg_temp.prompt(:first, :other, :second) AS p2 \gset
SELECT pg_temp.scored(cudal1_submit('a', 'third', 'm', :p2), :device, 2.7) AS third \gset
SELECT pg_temp.scored(cudal1_submit('a', 'broken', 'm', :p2), :device, NULL) AS broken \gset
SELECT pg_temp.prompt(:third) AS p3 \gset
SELECT cudal1_submit('a', 'first', 'm', :p3) AS again \gset
SELECT is(:again::bigint, :first::bigint, 'a code may be proposed again, in answer to one that came from it');

SELECT results_eq(format('SELECT depth, candidate_id, shown_to, method, prompt_id, reward, gain FROM cudal1_lineage(%s)', :third), format($$VALUES
	(0, %2$s::bigint, NULL::bigint, 'm', %6$s::bigint, 2.7::float8, 1.5::float8), (1, %3$s, %2$s, 'manual', NULL, 1.2, NULL), (1, %4$s, %2$s, 'manual', NULL, 1.5, NULL),
	(1, %5$s, %2$s, 'm', %7$s, 1.8, 1.5)$$, '', :third, :first, :other, :second, :p2, :p1), 'a lineage names each code once, where it is met first, with its gain over the best that its prompt showed');
SELECT results_eq(format('SELECT depth, candidate_id, gain FROM cudal1_lineage(%s)', :second), format('VALUES (0, %s::bigint, 1.5::float8), (1, %s, NULL)', :second, :first), 'and ends with codes that no prompt led to');
SELECT results_eq(format('SELECT depth, state, reward, gain FROM cudal1_lineage(%s) LIMIT 1', :broken), $$VALUES (0, 'failed', 0::float8, 0::float8)$$, 'a failure gains nothing');
SELECT is(count(*), 1::bigint, 'later proposals of a code are not what it came from') FROM cudal1_lineage(:first);
UPDATE cudal1.candidate SET state = 'failed', failure = 'withdrawn', reward = 0 WHERE candidate_id = :first;
SELECT is(gain, NULL, 'no gain is told over what was withdrawn') FROM cudal1_lineage(:second) WHERE depth = 0;
SELECT throws_ok('SELECT * FROM cudal1_lineage(987654321)', '42704', 'candidate 987654321 does not exist', 'an unknown candidate');
SELECT throws_ok('SELECT * FROM cudal1_lineage(NULL)', '22004', NULL, 'and none');

SELECT results_eq('SELECT task, language, candidate_id, reward, lower, upper, wide, evaluated, device_model, profile, pairs, checks, max_error, code FROM cudal1_best()',
	format($$VALUES ('a', 'pytorch', %s::bigint, 2.7::float8, 2.69::float8, 2.71::float8, false, false, 'M', 'default', 7, 8, 0.25::float8, 'third')$$, :third), 'the best code of each task that has one');
SELECT is(b.measurement_id, c.measurement_id, 'with its measurement') FROM cudal1_best() AS b JOIN cudal1.candidate AS c USING (candidate_id);
SELECT cudal1_evaluate(ARRAY[:other]) \g /dev/null
SELECT pg_temp.scored(:other, :device, 1.4) \g /dev/null
SELECT results_eq('SELECT candidate_id, reward, evaluated FROM cudal1_best()', 'SELECT candidate_id, reward, evaluated FROM cudal1_task_report() WHERE candidate_id IS NOT NULL', 'by the rule of reports');
SELECT cudal1_import_result('b', 'elsewhere', 6e8, 'imported', 'A100'), cudal1_import_result('c', NULL, 4, 'imported', 'A100') \g /dev/null
SELECT ok(upper > 5e8, 'the last bucket has an end') FROM cudal1_bucket_stats('b') ORDER BY upper DESC LIMIT 1;
SELECT results_eq($$SELECT task, reward, device_model, measurement_id, code FROM cudal1_best('{b,c}')$$, $$VALUES ('b', 6e8::float8, 'A100', NULL::bigint, 'elsewhere'), ('c', 4, 'A100', NULL, NULL)$$,
	'an imported score has no measurement, and a withheld code none to load');
SELECT results_eq($$SELECT task FROM cudal1_best('{a,b}', 'A100')$$, $$VALUES ('b')$$, 'on a device there is what was scored there');
SELECT is_empty($$SELECT FROM cudal1_best('{a}', 'cuda')$$, 'and no task of another class');
SELECT throws_ok($$SELECT * FROM cudal1_best('{none}')$$, '42704', NULL, 'an unknown task');
SELECT throws_ok($$SELECT * FROM cudal1_best(device => 'none')$$, '42704', NULL, 'an unknown device');
