-- Baselines: made from the reference, measured as candidates, and what reports divide by.
SELECT plan(37);

SELECT cudal1.register_device('h', '{"key": "gpu", "class": "cuda", "model": "G", "languages": ["pytorch", "cuda"]}') AS d \gset
SELECT cudal1_add_task(n, 'class Model: ' || n, 'pytorch', level => 1) FROM unnest('{a,b}'::text[]) AS n \g /dev/null
SELECT cudal1_add_task('cpu', 'class Model: cpu', 'pytorch', options => '{"device": "cpu"}') \g /dev/null

SELECT is((SELECT string_agg(baseline, ' ') FROM cudal1_add_baselines('a')), 'compile reduce-overhead cuda-graph', 'a task can have three beside its reference');
SELECT is((SELECT count(DISTINCT candidate_id) FROM cudal1_add_baselines('a')), 3::bigint, 'asked for again, they are the same');
SELECT results_eq('SELECT DISTINCT purpose, kind FROM cudal1.job JOIN cudal1.candidate USING (candidate_id)', $$VALUES ('null', 'measure')$$, 'measured as any candidate');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE starts_with(code, 'class Model: a') AND code LIKE '%ModelNew = Model%'), 3::bigint, 'each is made from the reference');
SELECT is((SELECT string_agg(DISTINCT method, ', ') FROM cudal1.proposal), 'baseline: compile, baseline: cuda-graph, baseline: reduce-overhead', 'by methods of their own');
SELECT is((SELECT string_agg(baseline, ' ') FROM cudal1_add_baselines('cpu')), 'compile reduce-overhead', 'a CPU has no graphs');
SELECT throws_ok($$SELECT * FROM cudal1_add_baselines('a', '{compiled}')$$, '42704', 'baseline "compiled" does not exist', 'another name');
SELECT is_empty($$SELECT * FROM cudal1_add_baselines('a', '{reference}')$$, 'what rewards are over needs no measurement');
SELECT throws_ok($$SELECT * FROM cudal1_add_baselines('none')$$, '42704', NULL, 'an unknown task');
UPDATE cudal1.task SET reference_state = 'bad', reference_detail = 'x' WHERE name = 'b';
SELECT throws_ok($$SELECT * FROM cudal1_add_baselines('b')$$, '55000', NULL, 'a reference that is bad');
UPDATE cudal1.task SET reference_state = 'good', reference_detail = NULL WHERE name = 'b';

SELECT tap.work(:d, '{"outcome": "successful", "score": 1.25, "lower": 1.2, "upper": 1.3}') \g /dev/null
SELECT tap.work(:d, '{"outcome": "wrong_output"}') FROM generate_series(1, 2) \g /dev/null
SELECT cudal1_submit(n, 'fast ' || n) FROM unnest('{a,b}'::text[]) AS n \g /dev/null
SELECT tap.work(:d, '{"outcome": "successful", "score": 2.5, "lower": 2.4, "upper": 2.6}') FROM generate_series(1, 4) \g /dev/null
SELECT is((SELECT mean FROM cudal1_level_report() WHERE level = '1'), 2.5::float8, 'baselines are no results');
SELECT results_eq($$SELECT tasks, mean FROM cudal1_level_report(baseline => 'compile') WHERE level = '1'$$, 'VALUES (1::bigint, 2::float8)',
	'over a baseline, tasks count that have its score');
SELECT is((SELECT mean FROM cudal1_speedup_report(baseline => 'compile') WHERE level = '1'), 2::float8, 'so they do in the paper''s table');
SELECT is((SELECT tasks FROM cudal1_level_report(baseline => 'cuda-graph') WHERE level = 'All'), 0::bigint, 'a baseline that failed has none');
SELECT is((SELECT speedup FROM cudal1_percentiles(fractions => '{0.5}', baseline => 'compile') WHERE level = 'All'), 2::float8, 'percentiles');
SELECT is((SELECT share FROM cudal1_fast_p(p => '{2}', baseline => 'compile') WHERE level = 'All'), 0::float8, 'and fast_p likewise');
SELECT is((SELECT mean FROM cudal1_method_report(baseline => 'compile') WHERE level = 'All'), 2::float8, 'so do methods');
SELECT is((SELECT mean FROM cudal1_device_report(baseline => 'compile') WHERE level = 'All'), 2::float8, 'and devices');
SELECT results_eq($$SELECT task, speedup, lower, upper FROM cudal1_top_tasks(baseline => 'compile')$$, $$VALUES ('a', 2::float8, 2.4::float8 / 1.25, 2.6::float8 / 1.25)$$,
	'the best tasks, with their intervals');
SELECT results_eq($$SELECT task, reward, lower FROM cudal1_task_report(baseline => 'compile')$$, $$VALUES ('a', 2::float8, 2.4::float8 / 1.25)$$, 'and all of them');
SELECT results_eq($$SELECT speedup_from <= 2 AND speedup_to > 2, tasks FROM cudal1_speedup_histogram(baseline => 'compile') WHERE level = 'All'$$, 'VALUES (true, 1::bigint)', 'the figure');
SELECT results_eq($$SELECT task, speedup_a, ratio FROM cudal1_compare_tasks('manual', NULL, baseline => 'compile')$$, $$VALUES ('a', 2::float8, 1::float8)$$, 'comparisons of tasks');
SELECT is((SELECT tasks FROM cudal1_compare('manual', NULL, baseline => 'compile') WHERE level = 'All'), 1::bigint, 'and of methods');
SELECT is((SELECT mean FROM cudal1_level_report(baseline => 'reference') WHERE level = '1'), 2.5::float8, 'over the reference, all count as without a baseline');
SELECT is((SELECT array_agg(cudal1.baseline_score(t.task_id, 'compile', m)) FROM cudal1.task AS t, unnest('{G,cuda,H}'::text[]) AS m WHERE t.name = 'a'), '{1.25,1.25,NULL}'::float8[],
	'no score of one model is over a baseline of another');
SELECT throws_ok(format('SELECT * FROM %s(%sbaseline => %L)', f, CASE WHEN f LIKE '%compare%' THEN 'NULL, NULL, ' END, 'compil'), '42704', 'baseline "compil" does not exist', f || ' names the baseline that it does not know')
	FROM unnest('{cudal1_level_report,cudal1_fast_p,cudal1_top_tasks,cudal1_task_report,cudal1_compare_tasks}'::text[]) AS f;

-- a task whose rewards are over a baseline
SELECT throws_ok(format('SELECT cudal1_add_task(%L, %L, %L, options => %L)', 'x', 'class Model: x', 'pytorch', o), e, m, 'option baseline')
	FROM (VALUES ('{"baseline": "compiled"}', '42704', 'baseline "compiled" does not exist'),
		('{"baseline": "cuda-graph", "device": "cpu"}', '22023', 'task "x" is measured on a CPU, so it has no baseline "cuda-graph"')) AS v (o, e, m);
DELETE FROM cudal1.job;
SELECT cudal1_add_task('over', 'class Model: over', 'pytorch', level => 2, options => '{"baseline": "compile"}') \g /dev/null
SELECT job -> 'task' ->> 'reference' AS reference, job #>> '{candidate,code}' AS code, job_id, attempt FROM cudal1.claim(:d, 'w') \gset
SELECT is(:'reference' || ' ' || (:'code' LIKE '%torch.compile%'), 'class Model: over true', 'its check is the baseline beside the reference');
SELECT cudal1.finish(:job_id, :attempt, '{"outcome": "wrong_output", "detail": "far off", "reference": "good"}') \g /dev/null
SELECT is(reference_state || ': ' || reference_detail, 'bad: as baseline "compile" it fails (wrong_output): far off', 'which says so where it fails') FROM cudal1.task WHERE name = 'over';
SELECT cudal1_check_reference('over') \g /dev/null
SELECT tap.work(:d, '{"outcome": "successful", "score": 1.3, "lower": 1.2, "upper": 1.4, "reference": "good"}') \g /dev/null
SELECT cudal1_submit('over', 'fast') \g /dev/null
SELECT job -> 'task' ->> 'reference' AS reference, job_id, attempt FROM cudal1.claim(:d, 'w') \gset
SELECT is(:'reference', cudal1.baseline_code(t, 'compile'), 'its candidates are measured over the baseline') FROM cudal1.task AS t WHERE name = 'over';
SELECT cudal1.finish(:job_id, :attempt, '{"outcome": "successful", "score": 1.5, "lower": 1.4, "upper": 1.6}') \g /dev/null
SELECT results_eq($$SELECT baseline FROM cudal1_add_baselines('over')$$, $$VALUES ('reference'), ('reduce-overhead'), ('cuda-graph')$$, 'it can have the others, and the reference');
SELECT tap.work(:d, '{"outcome": "successful", "score": 0.75, "lower": 0.7, "upper": 0.8}') \g /dev/null
SELECT results_eq($$SELECT b, speedup FROM unnest('{compile,reference}'::text[]) AS b, cudal1_top_tasks(tasks => '{over}', baseline => b)$$, $$VALUES ('compile', 1.5::float8), ('reference', 2)$$,
	'reports know what its rewards are over');
