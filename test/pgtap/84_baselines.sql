-- Baselines: made from the reference, measured as candidates, and what reports divide by.
BEGIN;
SELECT plan(17);

SELECT cudal1.register_device('h', '{"key": "gpu", "class": "cuda", "model": "G", "languages": ["pytorch", "cuda"]}') AS d \gset
CREATE FUNCTION pg_temp.work(device bigint, result text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c		record;
BEGIN
	SELECT * INTO c FROM cudal1.claim(device, 'w');
	PERFORM cudal1.finish(c.job_id, c.attempt, c.token, work.result::jsonb);
END
$$;
SELECT cudal1_add_task(n, 'class Model: ' || n, 'pytorch', level => 1) FROM unnest('{a,b}'::text[]) AS n \g /dev/null
SELECT cudal1_add_task('cpu', 'class Model: cpu', 'pytorch', options => '{"device": "cpu"}') \g /dev/null

SELECT is((SELECT string_agg(baseline, ' ') FROM cudal1_add_baselines('a')), 'compile reduce-overhead cuda-graph', 'a task can have three');
SELECT is((SELECT count(DISTINCT candidate_id) FROM cudal1_add_baselines('a')), 3::bigint, 'asked for again, they are the same');
SELECT results_eq('SELECT DISTINCT purpose, kind FROM cudal1.job JOIN cudal1.candidate USING (candidate_id)', $$VALUES ('null', 'measure')$$, 'measured as any candidate');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE starts_with(code, 'class Model: a') AND code LIKE '%class ModelNew(Model):%'), 3::bigint, 'each is made from the reference');
SELECT is((SELECT string_agg(DISTINCT method, ', ') FROM cudal1.proposal), 'baseline: compile, baseline: cuda-graph, baseline: reduce-overhead', 'by methods of their own');
SELECT is((SELECT string_agg(baseline, ' ') FROM cudal1_add_baselines('cpu')), 'compile reduce-overhead', 'a CPU has no graphs');
SELECT throws_ok($$SELECT * FROM cudal1_add_baselines('a', '{compiled}')$$, '42704', 'baseline "compiled" does not exist', 'another name');
SELECT throws_ok($$SELECT * FROM cudal1_add_baselines('none')$$, '42704', NULL, 'an unknown task');
UPDATE cudal1.task SET reference_state = 'bad', reference_detail = 'x' WHERE name = 'b';
SELECT throws_ok($$SELECT * FROM cudal1_add_baselines('b')$$, '55000', NULL, 'a reference that is bad');
UPDATE cudal1.task SET reference_state = 'good', reference_detail = NULL WHERE name = 'b';

SELECT pg_temp.work(:d, '{"outcome": "successful", "score": 1.25, "lower": 1.2, "upper": 1.3}') \g /dev/null
SELECT pg_temp.work(:d, '{"outcome": "wrong_output"}') FROM generate_series(1, 2) \g /dev/null
SELECT cudal1_submit(n, 'fast ' || n) FROM unnest('{a,b}'::text[]) AS n \g /dev/null
SELECT pg_temp.work(:d, '{"outcome": "successful", "score": 2.5, "lower": 2.4, "upper": 2.6}') FROM generate_series(1, 4) \g /dev/null
SELECT is((SELECT mean FROM cudal1_level_report() WHERE level = '1'), 2.5::float8, 'baselines are no results');
SELECT results_eq($$SELECT tasks, mean FROM cudal1_level_report(baseline => 'compile') WHERE level = '1'$$, 'VALUES (1::bigint, 2::float8)',
	'over a baseline, tasks count that have its score');
SELECT is((SELECT mean FROM cudal1_speedup_report(baseline => 'compile') WHERE level = '1'), 2::float8, 'so they do in the paper''s table');
SELECT is((SELECT tasks FROM cudal1_level_report(baseline => 'cuda-graph') WHERE level = 'All'), 0::bigint, 'a baseline that failed has none');
SELECT is((SELECT speedup FROM cudal1_percentiles(fractions => '{0.5}', baseline => 'compile') WHERE level = 'All'), 2::float8, 'percentiles');
SELECT is((SELECT share FROM cudal1_fast_p(p => '{2}', baseline => 'compile') WHERE level = 'All'), 0::float8, 'and fast_p likewise');
SELECT throws_ok($$SELECT * FROM cudal1_level_report(baseline => 'eager')$$, '42704', NULL, 'an unknown baseline in a report');
SELECT throws_ok($$SELECT * FROM cudal1_fast_p(baseline => 'eager')$$, '42704', NULL, 'in any report');

SELECT * FROM finish();
ROLLBACK;
