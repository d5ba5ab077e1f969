-- An ablation measures every combination once, and its effects are those that the scores were made of.
SET client_min_messages = warning;
SET cudal1.certify = off;
SELECT plan(44);

-- switches
SELECT is(cudal1.set_switch(E'# x\nUSE_A = True\nif USE_A == True:\n    pass\n', 'USE_A', false), E'# x\nUSE_A = False\nif USE_A == True:\n    pass\n', 'Python: the assignment, not the comparison');
SELECT is(cudal1.set_switch(E'class M:\n\tUSE_A: bool = 0  # off\n', 'USE_A', true), E'class M:\n\tUSE_A: bool = 1  # off\n', 'an annotated one in a class');
SELECT is(cudal1.set_switch(E'        self.USE_A = False\n', 'USE_A', true), E'        self.USE_A = True\n', 'an attribute');
SELECT is(cudal1.set_switch(E'#define USE_A 0\n#define USE_AB 0\n', 'USE_A', true), E'#define USE_A 1\n#define USE_AB 0\n', 'C: the whole name');
SELECT is(cudal1.set_switch(E'static const int USE_A = 1;\n', 'USE_A', false), E'static const int USE_A = 0;\n', 'a constant');
SELECT is(cudal1.set_switch(E'constexpr bool USE_A = false;', 'USE_A', true), 'constexpr bool USE_A = true;', 'a constant of C++');
SELECT is(cudal1.set_switch(E'# define USE_A /* why */\n', 'USE_A', false), E'# undef USE_A /* why */\n', 'a bare definition');
SELECT is(cudal1.set_switch(E'#undef USE_A\n', 'USE_A', true), E'#define USE_A\n', 'and back');
SELECT is(cudal1.set_switch(E'#undef USE_A\n', 'USE_A', false), E'#undef USE_A\n', 'what is so stays so');
SELECT is(cudal1.set_switch(E'"""d"""\nUSE_A = True # on\n""" How:\nUSE_A = True\nUSE_A = False\n"no" """\nx = 1\n\'\'\'\nUSE_A = 0\n\'\'\'\n', 'USE_A', false),
	E'"""d"""\nUSE_A = False # on\n""" How:\nUSE_A = True\nUSE_A = False\n"no" """\nx = 1\n\'\'\'\nUSE_A = 0\n\'\'\'\n', 'a docstring that tells how to switch is left alone');
SELECT throws_ok($$SELECT cudal1.set_switch('x', 'USE_A', true)$$, '22023', 'switch "USE_A" is set 0 times in the code', 'a missing switch is named');
SELECT throws_ok($$SELECT cudal1.set_switch(E'#define USE_A 1\nUSE_A = 1', 'USE_A', true)$$, '22023', 'switch "USE_A" is set 2 times in the code', 'so is one set twice');
SELECT throws_ok($$SELECT cudal1.set_switch(E'USE_A = 1.5\n', 'USE_A', true)$$, '22023', NULL, 'a number is no switch');
SELECT throws_ok(format('SELECT cudal1.set_switch(%L, %L, true)', code, 'USE_A'), '22023', NULL, format('nor is %s', code))
FROM (VALUES ('USE_A = 0 or FORCE'), ('USE_A = 1 + 1'), ('USE_A = 1; USE_A = 1'), ('#define USE_A 1 << 1')) AS v (code);
SELECT throws_ok($$SELECT cudal1.set_switch('x', 'a.*', true)$$, '22023', 'switch "a.*" is no name', 'nor is a pattern a name');

-- a factorial whose scores are known: A doubles, B brings 1.5 and only with A, C nothing
SELECT cudal1_add_task('t', 'r', 'pytorch', NULL, 1, '{"device": "cpu", "profile": "quick"}') \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS device \gset
SELECT cudal1_submit('t', E'A = True\nB = True\nC = True\n') AS whole \gset
SELECT cudal1_ablate(:whole, ARRAY['A', 'B', 'C']) AS ablation \gset
SELECT is((SELECT count(*) FROM cudal1.ablation_run WHERE ablation_id = :ablation), 8::bigint, 'every combination is there');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE purpose = 'ablation'), 7::bigint, 'the code as it stands is one of them, and stays ordinary');
SELECT is((SELECT count(*) FROM cudal1_ablation_table(:ablation) WHERE speedup IS NULL AND state = 'queued' AND bottleneck IS NULL), 8::bigint, 'before, all is open');
SELECT is((SELECT factor FROM cudal1_ablation_effects(:ablation) LIMIT 1), NULL, 'an effect is not known before');
SELECT is((SELECT count(baseline) FROM cudal1_ablation_gatekeepers(:ablation)), 0::bigint, 'nor the speedup with all switches off');
SELECT tap.measure_each(:device, $$(SELECT jsonb_build_object('outcome', 'successful', 'score', s, 'lower', s * 0.99, 'upper', s / 0.99)
	FROM (SELECT CASE WHEN code LIKE 'A = True%' THEN 2 ELSE 1 END * CASE WHEN code LIKE E'A = True\nB = True%' THEN 1.5 ELSE 1 END AS s) AS x)$$) \g /dev/null
SELECT results_eq(format('SELECT configuration, settings, speedup FROM cudal1_ablation_table(%s)', :ablation), $$VALUES
	('A + B', '{t,t,f}'::bool[], 3::float8), ('all', '{t,t,t}', 3), ('A', '{t,f,f}', 2), ('A + C', '{t,f,t}', 2), ('baseline', '{f,f,f}', 1),
	('B', '{f,t,f}', 1), ('C', '{f,f,t}', 1), ('B + C', '{f,t,t}', 1)$$, 'the table is ordered by speedup');
SELECT results_eq(format('SELECT effect, switches, round(factor::numeric, 9), settings FROM cudal1_ablation_effects(%s, 3)', :ablation), $$VALUES
	('main', '{A}'::text[], round(sqrt(6.0), 9), 4::bigint), ('main', '{B}', round(sqrt(1.5), 9), 4), ('main', '{C}', 1.000000000, 4),
	('interaction', '{A,B}', 1.500000000, 2), ('interaction', '{A,C}', 1, 2), ('interaction', '{B,C}', 1, 2), ('interaction', '{A,B,C}', 1, 1)$$, 'main effects and interactions');
SELECT results_eq(format($$SELECT round((ln(upper / factor) / ln(1 / 0.99))::numeric, 6) FROM cudal1_ablation_effects(%s, 1)$$, :ablation), $$VALUES (round(sqrt(8.0) / 4, 6)), (round(sqrt(8.0) / 4, 6)), (round(sqrt(8.0) / 4, 6))$$, 'intervals come from those of the measurements');
SELECT results_eq(format('SELECT switch, gatekeeper, best_with, best_without, baseline FROM cudal1_ablation_gatekeepers(%s)', :ablation), $$VALUES
	('A', true, 3::float8, 1::float8, 1::float8), ('B', false, 3, 2, 1), ('C', false, 3, 3, 1)$$, 'A is the gatekeeper');
SELECT is((SELECT success FROM cudal1_speedup_report('ablation') WHERE level = 'All'), 0::bigint, 'combinations are not reported');
SELECT is((SELECT count(*) FROM cudal1.pool_code), 1::bigint, 'nor sampled');
SELECT is((SELECT array_agg(method) FROM cudal1_method_report() WHERE level = 'All'), '{manual}'::text[], 'nor a method of the tables');
SELECT lives_ok(format($$SELECT cudal1_ablation_explain(%s, '{B}', 'the launch')$$, :ablation), 'a bottleneck can be written');
SELECT is((SELECT bottleneck FROM cudal1_ablation_table(:ablation) WHERE configuration = 'B'), 'the launch', 'and is shown');
SELECT throws_ok(format($$SELECT cudal1_ablation_explain(%s, '{D}', 'x')$$, :ablation), '42704', NULL, 'an unknown switch is none');
SELECT throws_ok($$SELECT * FROM cudal1_ablation_table(-1)$$, '42704', 'ablation -1 does not exist', 'nor an unknown ablation');
SELECT throws_ok(format($$SELECT cudal1_ablate(%s, '{A,A}')$$, :whole), '22023', NULL, 'a switch counts once');
SELECT throws_ok(format($$SELECT cudal1_ablate(%s, '{{A,B},{C,D}}')$$, :whole), '22023', 'switches must be 1 to 8 names', 'they are a list');
SELECT cudal1_ablate(:whole, '[3:5]={A,B,C}') AS numbered \gset
SELECT is((SELECT switches FROM cudal1.ablation WHERE ablation_id = :numbered), '{A,B,C}', 'which may be numbered from anywhere');
SELECT throws_ok(format($$SELECT cudal1_ablate(%s, '{}')$$, :whole), '22023', NULL, 'none is no ablation');

-- what was paid for a wide interval is its lower end, which is no effect
SELECT cudal1_add_task('u', 'r', 'pytorch', NULL, 1, '{"device": "cpu", "profile": "quick"}') \g /dev/null
SELECT cudal1_ablate(cudal1_submit('u', E'W = True\n'), '{W}') AS unsteady \gset
SELECT tap.measure_each(:device, $$'{"outcome": "successful", "upper": 2.6, "half_width": 0.3, "bucket_means": [1.5, 2, 2.5]}'
	|| CASE WHEN code LIKE 'W = True%' THEN '{"score": 1.4, "lower": 1.4, "wide": true}' ELSE '{"score": 2, "lower": 1.9, "wide": false}' END::jsonb$$) \g /dev/null
SELECT results_eq(format('SELECT configuration, speedup, lower, wide FROM cudal1_ablation_table(%s) ORDER BY 1', :unsteady), $$VALUES
	('all', 2::float8, 1.4::float8, true), ('baseline', 2, 1.9, false)$$, 'the table has the medians of pairs, and says which intervals are wide');
SELECT is((SELECT factor FROM cudal1_ablation_effects(:unsteady)), 1::float8, 'and so have effects');

-- a failed combination leaves the effects that do not need it
UPDATE cudal1.candidate SET state = 'failed', failure = 'crash', reward = 0, score = NULL
	WHERE candidate_id = (SELECT candidate_id FROM cudal1_ablation_table(:ablation) WHERE configuration = 'A + C');
SELECT results_eq(format($$SELECT switches, settings FROM cudal1_ablation_effects(%s, 1) ORDER BY 1$$, :ablation), $$VALUES ('{A}'::text[], 3::bigint), ('{B}', 3), ('{C}', 3)$$, 'a failure leaves out its settings only');
SAVEPOINT fails;
UPDATE cudal1.candidate SET state = 'failed', failure = 'crash', reward = 0, score = NULL
	WHERE candidate_id = (SELECT candidate_id FROM cudal1_ablation_table(:ablation) WHERE configuration = 'baseline');
SELECT is((SELECT array_agg(DISTINCT baseline) FROM cudal1_ablation_gatekeepers(:ablation)), '{1}'::float8[], 'without one that runs, the reference is the baseline');
ROLLBACK TO fails;
UPDATE cudal1.task SET reference_state = 'bad', reference_detail = 'it fails' WHERE task_id = (SELECT task_id FROM cudal1.candidate WHERE candidate_id = :whole);
SELECT throws_ok(format($$SELECT cudal1_ablate(%s, '{A}')$$, :whole), '55000', NULL, 'nothing is queued for a task whose reference is bad');
SELECT throws_ok(format($$SELECT cudal1_ablate(%s, '{A}', 2147483647)$$, :whole), '22023', NULL, 'a priority that no claim would reach is refused');
