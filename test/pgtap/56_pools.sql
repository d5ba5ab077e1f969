-- What is proposed in a pool is drawn from it alone; a code of two pools is one candidate, measured once and placed in both.
SELECT plan(70);

CREATE ROLE pools_anna;
CREATE ROLE pools_bert;
CREATE ROLE pools_run;
SELECT cudal1_grant(r::name, 'trainer') FROM unnest(ARRAY['pools_anna', 'pools_bert', 'pools_run']) AS r \g /dev/null
GRANT pools_run TO pools_anna;
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS device \gset
SELECT cudal1_add_task('t', 'ref', 'pytorch', options => '{"device": "cpu"}') AS t \gset
SELECT cudal1_add_task('isl', 'ref', 'pytorch', options => '{"device": "cpu", "strategy": "island", "islands": 3, "island_reset": 4}') AS isl \gset

-- measures what waits, each code with the score that it says
CREATE FUNCTION pg_temp.measure() RETURNS bigint LANGUAGE sql AS $$
	SELECT tap.measure_each((SELECT device_id FROM cudal1.device), 'tap.scored(substring(code FROM ''[0-9.]+'')::float8)')
$$;
CREATE FUNCTION pg_temp.drawn(task text, strategy text, pool text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT d.code, ' ' ORDER BY d.code) FROM generate_series(1, 60) AS s (seed)
		CROSS JOIN LATERAL cudal1_sample_exemplars(task, 2, strategy, 5, s.seed, pool) AS d
$$;

-- opening
SELECT is(pool_id, 1, 'pool main is there, and everybody''s') FROM cudal1.pool WHERE name = 'main' AND created_by IS NULL;
SELECT cudal1_open_pool('a') AS a, cudal1_open_pool('b') AS b \gset
SELECT isnt(:a::int, :b::int, 'pools have ids');
SELECT is(cudal1_open_pool('a'), :a::bigint, 'opened again it is the same pool');
SELECT throws_ok($$SELECT cudal1_open_pool('a', 'b')$$, '23505', 'pool "a" exists and was seeded from no pool', 'but not with other seeds');
SELECT is(count(*), 0::bigint, 'and then none was opened') FROM cudal1.pool WHERE name = 'c';
SELECT throws_ok($$SELECT cudal1_open_pool(NULL)$$, '22004', NULL, 'a pool has a name');
SELECT throws_ok(format('SELECT cudal1_open_pool(%L)', n), '22023', NULL, format('that is none: %L', n)) FROM unnest(ARRAY['', '  ', E'a\tb', repeat('x', 101)]) AS n;

-- draws
SELECT cudal1_submit('t', 'main ' || r) FROM unnest(ARRAY[1.0, 3.0]) AS r \g /dev/null
SELECT cudal1_submit('t', 'a ' || r, pool => 'a') FROM unnest(ARRAY[1.1, 1.6]) AS r \g /dev/null
SELECT count(*) FROM cudal1_submit_batch(ARRAY['t', 't'], ARRAY['b 2.0', 'b 2.4'], pool => 'b') \g /dev/null
SELECT cudal1_submit('t', 'ab 1.4', pool => p) AS shared FROM unnest(ARRAY['a', 'b']) AS p \g /dev/null
SELECT candidate_id AS shared FROM cudal1.candidate WHERE code = 'ab 1.4' \gset
SELECT pg_temp.measure() \g /dev/null
SELECT is(count(*), 7::bigint, 'a code proposed in two pools is one candidate') FROM cudal1.candidate WHERE task_id = :t AND state = 'successful';
SELECT is(count(*), 1::bigint, 'and is measured once') FROM cudal1.measurement WHERE candidate_id = :shared;
SELECT is(pg_temp.drawn('t', s, 'main'), 'main 1.0 main 3.0', s || ': pool main alone') FROM unnest(ARRAY['bucket', 'island', 'random']) AS s;
SELECT is(pg_temp.drawn('t', s, 'a'), 'a 1.1 a 1.6 ab 1.4', s || ': pool a alone') FROM unnest(ARRAY['bucket', 'island', 'random']) AS s;
SELECT is(pg_temp.drawn('t', s, 'b'), 'ab 1.4 b 2.0 b 2.4', s || ': pool b alone') FROM unnest(ARRAY['bucket', 'island', 'random']) AS s;
SELECT results_eq($$SELECT bucket, codes FROM cudal1_bucket_stats('t', pool => 'b')$$, $$VALUES (5, 1::bigint), (8, 1), (9, 1)$$, 'buckets are the pool''s');
SELECT is((SELECT sum(codes) FROM cudal1_bucket_stats('t')), 2::numeric, 'and those of main where none is named');
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'the rows of all pools are as they should be');

-- a code of one pool that is proposed in another
SELECT cudal1_submit('t', 'main 3.0', pool => 'a') \g /dev/null
SELECT is(pg_temp.measure(), 0::bigint, 'a measured code is not measured again');
SELECT is(pg_temp.drawn('t', 'random', 'a'), 'a 1.1 a 1.6 ab 1.4 main 3.0', 'and is placed in the other pool by the next claim');
SELECT cudal1_submit('t', 'late 1.2', proposal_key => 'k') \g /dev/null
SELECT job_id AS job, attempt FROM cudal1.claim(:device, 'w') \gset
SELECT cudal1_submit('t', 'late 1.2', proposal_key => 'k', pool => 'b') \g /dev/null
SELECT cudal1.finish(:job, :attempt, '{"outcome": "successful", "score": 1.2}') \g /dev/null
SELECT results_eq($$SELECT pool_id FROM cudal1.pool_code AS s JOIN cudal1.candidate AS c USING (candidate_id) WHERE c.code = 'late 1.2' ORDER BY 1$$, format('VALUES (1), (%s)', :b),
	'so is one that was being measured; a key is a pool''s');
UPDATE cudal1.candidate SET reward = 1.9, score = 1.9 WHERE candidate_id = :shared;
SELECT cudal1.place_candidate(:shared) \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'a new reward is entered in both');

-- prompts, answers, campaigns
SELECT prompt_id AS prompt, exemplars FROM cudal1_prompt('t', 4, 'random', seed => 1, pool => 'b') \gset
SELECT ok(:'exemplars'::bigint[] <@ array_agg(candidate_id), 'a prompt shows what is in its pool') FROM cudal1.pool_code WHERE pool_id = :b;
SELECT is(pool_id, :b, 'and is recorded with it') FROM cudal1.prompt WHERE prompt_id = :prompt;
SELECT cudal1_submit_response(:prompt, E'## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```python\nanswer 2.2\n```\n') AS answer \gset
SELECT is(pool_id, :b, 'its answer goes to the same pool') FROM cudal1.proposal WHERE candidate_id = :answer;
SELECT cudal1_submit_response(:prompt, E'## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```python\nanswer 2.1\n```\n', pool => 'a') AS answer \gset
SELECT is(pool_id, :a, 'or to the one that is named') FROM cudal1.proposal WHERE candidate_id = :answer;
SELECT cudal1_add_campaign('c', 'contrastive', NULL, '{t}', '{"strategy": "random"}', pool => 'a') \g /dev/null
SELECT is(p.pool_id, :a, 'a campaign''s groups draw from its pool') FROM cudal1_next_group('c') AS g JOIN cudal1.prompt AS p USING (prompt_id);
SELECT group_key AS grp, prompt_id AS prompt FROM cudal1_next_group('c', 'b') \gset
SELECT is(pool_id, :b, 'or from the one that is named') FROM cudal1.prompt WHERE prompt_id = :prompt;
SELECT candidate_id AS answer FROM cudal1_answer_group(:'grp', '{words}') \gset
SELECT is(pool_id, :b, 'where the answers go') FROM cudal1.proposal WHERE candidate_id = :answer;
SELECT is(candidate_id, :answer::bigint, 'and are found when they are sent again') FROM cudal1_answer_group(:'grp', '{words}');

-- islands
SELECT cudal1_submit('isl', 'isl ' || 1 + r * 0.1, pool => CASE WHEN r % 2 = 0 THEN 'a' ELSE 'main' END) FROM generate_series(1, 8) AS r \g /dev/null
SELECT pg_temp.measure() \g /dev/null
SELECT is(pg_temp.drawn('isl', NULL, 'a'), 'isl 1.2 isl 1.4 isl 1.6 isl 1.8', 'and drawn from');
SELECT count(cudal1_submit_response(p.prompt_id, format(E'## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```python\nisl %s\n```\n', 1.3 + n), pool => o.name))
	FROM cudal1.pool AS o, generate_series(1, 2) AS n, LATERAL cudal1_prompt('isl', 1, 'island', seed => n, pool => o.name) AS p WHERE o.name IN ('main', 'a') \g /dev/null
SELECT pg_temp.measure() \g /dev/null
SELECT results_eq(format('SELECT pool_id, count(*) FROM cudal1.island WHERE task_id = %s GROUP BY 1 ORDER BY 1', :isl), format('VALUES (1, 3::bigint), (%s, 3)', :a), 'islands are a pool''s');
SELECT cudal1.reset_islands(:isl, :a) \g /dev/null
SELECT results_eq(format('SELECT pool_id, count(*) FROM cudal1.island WHERE task_id = %s AND NOT shared GROUP BY 1 ORDER BY 1', :isl), format('VALUES (%s, 1::bigint)', :a), 'one pool''s are reset alone');
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'all as it should be');

-- reports and data sets
SELECT is(reward, w::float8, format('pool %s: the best that was proposed there', p)) FROM (VALUES ('main', 3.0), ('a', 3.0), ('b', 2.4)) AS v (p, w), LATERAL cudal1_task_report(tasks => '{t}', pool => p);
SELECT is(reward, 3.0::float8, 'of all pools where none is named') FROM cudal1_task_report(tasks => '{t}');
SELECT is(reward, 2.4::float8, 'by a method, too') FROM cudal1_task_report('manual', tasks => '{t}', pool => 'b');
SELECT is(max, 2.4::float8, 'in each report') FROM cudal1_speedup_report(tasks => '{t}', pool => 'b') WHERE level = 'All';
SELECT is(max, 2.4::float8, 'of levels') FROM cudal1_level_report(tasks => '{t}', pool => 'b') WHERE level = 'All';
SELECT is(speedup, 2.4::float8, 'of percentiles') FROM cudal1_percentiles(fractions => '{1}', tasks => '{t}', pool => 'b') WHERE level = 'All';
SELECT is(array_agg(share ORDER BY p), '{1,0}', 'of shares') FROM cudal1_fast_p(p => '{2,2.5}', tasks => '{t}', pool => 'b') WHERE level = 'All';
SELECT is(speedup, 2.4::float8, 'of the best') FROM cudal1_top_tasks(tasks => '{t}', pool => 'b');
SELECT is(count(*), (SELECT count(DISTINCT candidate_id) FROM cudal1.proposal JOIN cudal1.candidate USING (candidate_id) WHERE pool_id = :b AND reward > 0), 'data for fine-tuning are a pool''s') FROM cudal1_sft_dataset(pool => 'b');
SELECT is(count(*), (SELECT count(*) FROM cudal1.proposal WHERE pool_id = :b AND response IS NOT NULL), 'and those for reinforcement learning') FROM cudal1_rl_dataset(pool => 'b');
SELECT is((speedup_a, speedup_b), (3.0::float8, 2.4::float8), 'of two pools beside each other') FROM cudal1_compare_tasks(NULL, NULL, tasks => '{t}', pool_a => 'a', pool_b => 'b');
SELECT is(a_better, 1::bigint, 'and of the tests over their tasks') FROM cudal1_compare(NULL, NULL, tasks => '{t}', pool_a => 'a', pool_b => 'b') WHERE level = 'All';
SELECT cudal1_submit('t', 'group ' || r, group_key => 'same', pool => p) FROM (VALUES ('a', 1.2), ('a', 1.6), ('b', 1.3), ('b', 1.9)) AS v (p, r) \g /dev/null
SELECT pg_temp.measure() \g /dev/null
SELECT is(array_agg(round(advantage::numeric, 3) ORDER BY ordinal), '{-1,1,-1,1}', 'a group is one pool''s') FROM cudal1_group_result('same');
SELECT cudal1_add_campaign('plain', 'contrastive', NULL, '{t}', '{"exemplars": 0}', pool => 'b') \g /dev/null
SELECT is(p.exemplars, '{}', 'GRPO without comparison shows no exemplars') FROM cudal1_next_group('plain') AS g JOIN cudal1.prompt AS p USING (prompt_id);

-- seeds
SELECT cudal1_open_pool('seeded', 'b') AS seeded \gset
SELECT is(pg_temp.drawn('t', 'random', 'seeded'), pg_temp.drawn('t', 'random', 'b'), 'a seeded pool holds the codes of the other');
SELECT results_eq($$SELECT * FROM cudal1_sample_exemplars('t', 3, 'bucket', NULL, 7, 'seeded')$$, $$SELECT * FROM cudal1_sample_exemplars('t', 3, 'bucket', NULL, 7, 'b')$$, 'in the same places');
SELECT cudal1_submit('t', 'only 1.7', pool => 'seeded') \g /dev/null
UPDATE cudal1.candidate SET reward = 1.3, score = 1.3 WHERE code = 'b 2.0';
UPDATE cudal1.pool SET seeded_in = '3' WHERE pool_id = :seeded;
SELECT isnt_empty('SELECT * FROM cudal1.check_of_buckets()', 'a verdict that did not see the new pool');
SELECT cudal1.place_waiting() \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'is entered there by the next claim');
SELECT isnt(pg_temp.drawn('t', 'random', 'b'), NULL, 'the pools go their own ways');

-- errors and owners
SELECT throws_ok(format('SELECT * FROM %s', c), '42704', 'pool "no such" does not exist', c) FROM unnest(ARRAY['cudal1_submit(''t'', ''x 1'', pool => ''no such'')', 'cudal1_submit_batch(''{t}'', ''{x}'', pool => ''no such'')',
	'cudal1_sample_exemplars(''t'', pool => ''no such'')', 'cudal1_bucket_stats(''t'', pool => ''no such'')', 'cudal1_prompt(''t'', pool => ''no such'')', 'cudal1_next_group(''c'', ''no such'')',
	'cudal1_add_campaign(''d'', ''contrastive'', NULL, ''{t}'', pool => ''no such'')']) AS c;
SELECT throws_ok($$SELECT cudal1_sample_exemplars('t', pool => NULL)$$, '22004', NULL, 'NULL is no pool');
SET LOCAL ROLE pools_run;
SELECT cudal1_open_pool('run') \g /dev/null
SET LOCAL ROLE pools_bert;
SELECT throws_ok($$SELECT cudal1_submit('t', 'bert 1.0', pool => 'run')$$, '42501', NULL, 'a trainer proposes nothing into another''s pool');
SELECT lives_ok($$SELECT cudal1_sample_exemplars('t', pool => 'run')$$, 'but may draw from it');
SET LOCAL ROLE pools_anna;
SELECT lives_ok($$SELECT cudal1_submit('t', 'anna 1.0', pool => 'run')$$, 'a member of its role does');
RESET ROLE;
