-- The report counts as the paper's tables do.
SET client_min_messages = warning;
SELECT plan(34);

CREATE FUNCTION pg_temp.result(task bigint, reward float8, method text, purpose text DEFAULT 'normal', device text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint; BEGIN
	INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose, state, failure, reward, decided_at, import_device)
	VALUES (task, 'c', sha256(nextval('cudal1.candidate_candidate_id_seq')::text::bytea), purpose, CASE WHEN reward > 0 THEN 'successful' ELSE 'failed' END,
		CASE WHEN reward > 0 THEN NULL ELSE 'crash' END, reward, now(), device) RETURNING candidate_id INTO id;
	INSERT INTO cudal1.imported_score (candidate_id, device, reward, score) SELECT id, device, reward, nullif(reward, 0) WHERE device IS NOT NULL;
	INSERT INTO cudal1.proposal (task_id, candidate_id, method) VALUES (task, id, method);
	PERFORM cudal1.place_candidate(id);
	RETURN id;
END $$;

-- nothing at all
SELECT results_eq($$SELECT level, tasks, mean, success FROM cudal1_speedup_report()$$, $$VALUES ('All', 0::bigint, NULL::float8, 0::bigint)$$, 'an empty database gives one row, All');

-- level 1: five tasks; level 2: two; one without a level
SELECT tap.task('l1-' || i, 1) AS id FROM generate_series(1, 5) AS i \g /dev/null
SELECT tap.task('l2-' || i, 2) AS id FROM generate_series(1, 2) AS i \g /dev/null
SELECT tap.task('none', NULL) \g /dev/null
SELECT pg_temp.result(t.task_id, v.reward, v.method, v.purpose) FROM (VALUES
	('l1-1', 1.5::float8, 'a', 'normal'), ('l1-1', 2.5, 'a', 'normal'), ('l1-1', 9, 'b', 'normal'), ('l1-1', 99, 'a', 'null'), ('l1-1', 98, 'a', 'ablation'),
	('l1-2', 1.0, 'a', 'normal'), ('l1-2', 0, 'a', 'normal'), ('l1-3', 0, 'a', 'normal'), ('l1-4', 0.5, 'a', 'normal'), ('l1-5', 4, 'b', 'normal'),
	('l2-1', 120, 'a', 'normal'), ('none', 1.01, 'a', 'normal')) AS v (task, reward, method, purpose) JOIN cudal1.task AS t ON t.name = v.task \g /dev/null

SELECT results_eq($$SELECT level, tasks, mean, max, p75, p50, p25, success, speedup FROM cudal1_speedup_report('a')$$, $$VALUES
	('1', 5::bigint, (2.5 + 1 + 0 + 0.5 + 0)::float8 / 5, 2.5::float8, 1.0::float8, 0.5::float8, 0.0::float8, 3::bigint, 1::bigint),
	('2', 2, 60, 120, 90, 60, 30, 1, 1), ('none', 1, 1.01, 1.01, 1.01, 1.01, 1.01, 1, 1),
	('All', 8, 15.62, 120, 1.38, 0.75, 0, 5, 3)$$, 'zero: failed and missing tasks count 0');
SELECT results_eq($$SELECT level, tasks, mean, max, p75, p50, p25, success, speedup FROM cudal1_speedup_report('a', NULL, 'one') WHERE level = '1'$$, $$VALUES
	('1', 5::bigint, (2.5 + 1 + 1 + 0.5 + 1)::float8 / 5, 2.5::float8, 1.0::float8, 1.0::float8, 1.0::float8, 3::bigint, 1::bigint)$$, 'one: they count 1.00');
SELECT results_eq($$SELECT level, tasks, mean, max, p75, p50, p25, success, speedup FROM cudal1_speedup_report('a', NULL, 'drop') WHERE level = '1'$$, $$VALUES
	('1', 3::bigint, 1.33::float8, 2.5::float8, 1.75::float8, 1.0::float8, 0.75::float8, 3::bigint, 1::bigint)$$, 'drop: they are left out');
SELECT results_eq($$SELECT level, max, success FROM cudal1_speedup_report() WHERE level = '1'$$, $$VALUES ('1', 9::float8, 4::bigint)$$, 'without a method all count');
SELECT results_eq($$SELECT tasks, mean, success FROM cudal1_speedup_report('manual') WHERE level = 'All'$$, $$VALUES (8::bigint, 0::float8, 0::bigint)$$, 'a method without proposals has no success');
UPDATE cudal1.task SET reference_state = 'bad', reference_detail = 'x' WHERE name = 'l2-2';
SELECT results_eq($$SELECT tasks, mean FROM cudal1_speedup_report('a') WHERE level = '2'$$, $$VALUES (2::bigint, 60::float8)$$, 'a task whose reference is bad counts 0, too');
UPDATE cudal1.task SET reference_state = 'unchecked', reference_detail = NULL WHERE name = 'l2-2';
INSERT INTO cudal1.proposal (task_id, candidate_id, method) SELECT task_id, candidate_id, 'a' FROM cudal1.candidate WHERE reward = 9;
SELECT is(max, 9::float8, 'the method is the proposal''s: a code proposed by two counts for both') FROM cudal1_speedup_report('a') WHERE level = '1';

-- devices
INSERT INTO cudal1.device (device_key, host, class, model, languages) VALUES ('h cpu', 'h', 'cpu', 'Xeon', '{c,pytorch}'), ('h gpu', 'h', 'cuda', 'A100', '{pytorch}'), ('h gpu2', 'h', 'cuda', 'H100', '{pytorch}');
SELECT cudal1_add_task('gpu', 'ref', 'pytorch', NULL, 3, '{"device": "A100"}') AS gpu \gset
UPDATE cudal1.task SET device_model = 'A100' WHERE task_id = :gpu;
SELECT pg_temp.result(:gpu, 2.0, 'a', 'normal', 'A100') AS lucky, pg_temp.result(:gpu, 1.8, 'a', 'normal', 'A100') AS steady \gset
SELECT results_eq($$SELECT level, tasks, max FROM cudal1_speedup_report('a', 'cuda')$$, $$VALUES ('3', 1::bigint, 2.0::float8), ('All', 1, 2.0)$$, 'a class keeps to its tasks');
SELECT is(tasks, 8::bigint, 'the other class, too') FROM cudal1_speedup_report('a', 'cpu') WHERE level = 'All';
SELECT is(max, 2.0::float8, 'a model counts what was measured or imported on it') FROM cudal1_speedup_report('a', 'A100') WHERE level = 'All';
SELECT results_eq($$SELECT tasks, success FROM cudal1_speedup_report('a', 'H100') WHERE level = 'All'$$, $$VALUES (1::bigint, 0::bigint)$$, 'on another model of the class the task is not attempted');

-- evaluations
SELECT tap.evaluate(:steady, 1.75, 'successful', 'A100') \g /dev/null
SELECT is(max, 1.75::float8, 'evaluations speak before training rewards') FROM cudal1_speedup_report('a', 'A100') WHERE level = 'All';
SELECT tap.evaluate(:steady, 1.7, 'successful', 'A100') \g /dev/null
SELECT tap.evaluate(:lucky, 1.6, 'successful', 'A100') \g /dev/null
SELECT tap.evaluate(:steady, NULL, 'lost', 'A100') \g /dev/null
SELECT is(max, 1.7::float8, 'the last evaluation of each candidate counts, a lost one does not') FROM cudal1_speedup_report('a', 'A100') WHERE level = 'All';
SELECT tap.evaluate(:lucky, 3.3, 'successful', 'H100') \g /dev/null
SELECT is(max, 3.3::float8, 'another model is known by its evaluations') FROM cudal1_speedup_report('a', 'H100') WHERE level = 'All';
SELECT is(max, 1.7::float8, 'and does not change the report of the task''s own') FROM cudal1_speedup_report('a') WHERE level = '3';
SELECT tap.evaluate(:steady, 0, 'wrong_output', 'A100') \g /dev/null
SELECT tap.evaluate(:lucky, 0, 'wrong_output', 'A100') \g /dev/null
SELECT is(success, 0::bigint, 'who fails the evaluation has no success') FROM cudal1_speedup_report('a', 'A100') WHERE level = '3';

-- a long task: three thousand codes of one method, far above the three of another
SELECT tap.task('long', 9) AS long \gset
INSERT INTO cudal1.candidate (task_id, code, code_hash, state, reward, decided_at)
	SELECT :long, 'c', sha256(('long ' || g)::bytea), 'successful', 2 + g % 7 * 0.5, now() FROM generate_series(1, 3000) AS g;
INSERT INTO cudal1.proposal (task_id, candidate_id, method) SELECT task_id, candidate_id, 'many' FROM cudal1.candidate WHERE task_id = :long;
SELECT pg_temp.result(:long, r, 'few') FROM unnest(ARRAY[0.5, 1.2, 0]::float8[]) AS r \g /dev/null
SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.candidate'::regclass \gset
SELECT is(max, 5::float8, 'the best of many is found') FROM cudal1_speedup_report() WHERE level = '9';
SELECT ok(idx_tup_fetch + seq_tup_read - :read < 500, format('by reading %s candidates', idx_tup_fetch + seq_tup_read - :read))
FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.candidate'::regclass;
SELECT is(max, 1.2::float8, 'the best of a method that is not among the thousand best') FROM cudal1_speedup_report('few') WHERE level = '9';
SELECT is((cudal1.best_reward(:long, NULL)).candidate_id, (SELECT min(candidate_id) FROM cudal1.candidate WHERE task_id = :long AND reward = 5), 'of equals the first');

-- many tasks, of which half have an import: each is asked once for its best, however the planner joins
SELECT tap.task('linear-' || i, 8) FROM generate_series(1, 60) AS i \g /dev/null
SELECT pg_temp.result(task_id, 2, 'elsewhere', device => 'L40') FROM cudal1.task WHERE name LIKE 'linear-_' OR name LIKE 'linear-1_' \g /dev/null
ANALYZE cudal1.task, cudal1.candidate, cudal1.measurement;
SET LOCAL track_functions = 'all';
CREATE FUNCTION pg_temp.asked(report text, OUT calls bigint) LANGUAGE plpgsql AS $$
DECLARE
	asked	oid := 'cudal1.best_reward'::regproc;
	before	bigint := coalesce(pg_stat_get_xact_function_calls(asked), 0);
BEGIN
	EXECUTE 'SELECT count(*) FROM ' || report;
	calls := coalesce(pg_stat_get_xact_function_calls(asked), 0) - before;
END $$;
SELECT is(pg_temp.asked(format('%s(%s%s => %L)', v.report, v.first, 'tasks', '{linear-%}')), v.calls, format('%s asks each of 60 tasks once a side', v.report))
FROM (VALUES ('cudal1_level_report', '', 60::bigint), ('cudal1_speedup_report', '', 60), ('cudal1_task_report', '', 60), ('cudal1_percentiles', '', 60),
	('cudal1_method_report', '''{a,elsewhere}'', ', 120), ('cudal1_compare', 'NULL, NULL, ', 120), ('cudal1_compare_tasks', '''a'', NULL, ', 120)) AS v (report, first, calls);

SELECT throws_ok($$SELECT * FROM cudal1_speedup_report(missing => NULL)$$, '22023', NULL, 'NULL is none, either');

-- pairs whose ranks add up beyond 32 bits; the expected values are the normal law's, by Python's erfc
CREATE FUNCTION pg_temp.pairs(n int, better text, size text, OUT signed_rank_p numeric, OUT sign_p numeric) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT round(p.signed_rank_p::numeric, 8), round(p.sign_p::numeric, 8) FROM cudal1.paired_test('
		'ARRAY(SELECT CASE WHEN %1$s THEN %2$s ELSE 1 END FROM generate_series(1, $1) AS i),'
		'ARRAY(SELECT CASE WHEN %1$s THEN 1 ELSE %2$s END FROM generate_series(1, $1) AS i), 0.95) AS p', better, size) INTO signed_rank_p, sign_p USING n;
END $$;
SELECT is(signed_rank_p, 0.99717919, '60 000 pairs without a difference between the sides') FROM pg_temp.pairs(60000, 'i % 2 = 1', 'exp(1e-6::float8 * i)');
SELECT is(signed_rank_p, 0.04613339, '120 000 pairs with a small one') FROM pg_temp.pairs(120000, 'i % 2 = 1 OR i > 119600', 'exp(1e-6::float8 * i)');
SELECT results_eq($$SELECT signed_rank_p, round(sign_p, 3) FROM pg_temp.pairs(60000, 'i <= 30245', '2::float8')$$, 'VALUES (0.04545531, 0.046)',
	'where all sizes are equal, ranks say what signs say');
SELECT is(signed_rank_p, 0.04550026, 'also for as many pairs as are compared') FROM pg_temp.pairs(1000000, 'i <= 501000', '2::float8');

-- with two degrees of freedom t = sqrt(2) (1 - a) / sqrt(a (2 - a)), here with a = 2^-53
SELECT results_eq($$SELECT round(ln(upper / ratio) / sqrt(1e-12 / 3)), round(ln(ratio / lower) / sqrt(1e-12 / 3))
	FROM cudal1.paired_test(ARRAY[exp(1e-6::float8), 1, exp(-1e-6::float8)], '{1,1,1}', 1 - 2 ^ -53::float8)$$,
	'VALUES (94906266::float8, 94906266::float8)', 'a confidence next to 1 has its interval');
