-- Draws follow the law that the documentation states. Seeds are fixed: a test either passes always or never.
SELECT plan(56);

SELECT cudal1_add_task('t', 'ref', 'pytorch') AS t \gset
SELECT cudal1_add_task('log', 'ref', 'pytorch', NULL, NULL, '{"score_scale": "log"}') AS log \gset
SELECT cudal1_add_task('empty', 'ref', 'pytorch') AS empty \gset
SELECT cudal1_add_task('isl', 'ref', 'pytorch', NULL, NULL, '{"strategy": "island", "islands": 3.0}') AS isl \gset

CREATE FUNCTION pg_temp.near(got float8[], expected float8[]) RETURNS boolean LANGUAGE sql AS
$$SELECT cardinality(got) = cardinality(expected) AND bool_and(abs(g - e) < 1e-8) FROM unnest(got, expected) AS u (g, e)$$;

-- four buckets with means 0.9, 1.3, 2.1 and 3.4, the last of eight codes
SELECT count(tap.decided(:t, r)) FROM unnest(ARRAY[0.88, 0.92, 1.26, 1.30, 1.34, 2.1, 3.30, 3.32, 3.34, 3.38, 3.42, 3.46, 3.48, 3.5 - 0.0]::float8[]) AS r \g /dev/null
SELECT tap.decided(:t, 3.4, p) FROM unnest(ARRAY['null', 'certification', 'ablation']) AS p \g /dev/null
SELECT tap.decided(:t, 0) \g /dev/null
UPDATE cudal1.candidate SET reward = 3.49, score = 3.49 WHERE task_id = :t AND reward = 3.5;
UPDATE cudal1.candidate SET reward = 3.47, score = 3.47 WHERE task_id = :t AND reward = 3.34;
UPDATE cudal1.candidate SET reward = 3.35, score = 3.35 WHERE task_id = :t AND reward = 3.38;
UPDATE cudal1.candidate SET reward = 3.33, score = 3.33 WHERE task_id = :t AND reward = 3.42;
SELECT count(cudal1.place_candidate(candidate_id)) FROM cudal1.candidate WHERE task_id = :t \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'the buckets are exact');

-- statistics
SELECT results_eq($$SELECT bucket, lower, upper, codes, mean FROM cudal1_bucket_stats('t')$$,
	$$VALUES (3, 0.75::float8, 1::float8, 2::bigint, 0.9::float8), (5, 1.25, 1.5, 3, 1.3), (8, 2, 2.25, 1, 2.1), (13, 3.25, 3.5, 8, 3.4)$$, 'buckets, bounds, counts and means');
SELECT ok(pg_temp.near(array_agg(s.probability ORDER BY bucket), expected), format('probabilities at temperature %s', tau))
FROM (VALUES (0.5::float8, ARRAY[.006147722, .013682007, .067767424, .912402847]::float8[]), (1, ARRAY[.055572735, .082904779, .184507978, .677014509]),
			 (2, ARRAY[.132734004, .162121678, .241857123, .463287195])) AS v (tau, expected)
CROSS JOIN LATERAL cudal1_bucket_stats('t', tau) AS s GROUP BY tau, expected ORDER BY tau;
SELECT is(sum(probability), 1::float8, 'a tiny temperature neither overflows nor loses the sum') FROM cudal1_bucket_stats('t', 1e-5);
SELECT is(count(*), 0::bigint, 'a task without candidates has no buckets') FROM cudal1_bucket_stats('empty');

-- the law of pairs: p_i p_j / (1 - p_i) + p_j p_i / (1 - p_j)
CREATE TEMP TABLE drawn AS
SELECT strategy, s.seed, d.* FROM unnest(ARRAY['bucket', 'random']) AS strategy, generate_series(1, 6000) AS s (seed)
	CROSS JOIN LATERAL cudal1_sample_exemplars('t', 2, strategy, CASE strategy WHEN 'bucket' THEN 1 END, s.seed) AS d;
CREATE TEMP TABLE pair AS
SELECT min(d.bucket) AS low, max(d.bucket) AS high, count(*) AS n, bool_and(d.score = c.reward AND d.code = c.code) AS same
FROM drawn AS d JOIN cudal1.candidate AS c USING (candidate_id) WHERE strategy = 'bucket' GROUP BY seed;
SELECT ok(bool_and(n = 2 AND low < high AND same), 'each draw gives two codes of distinct buckets, with their rewards') FROM pair;
SELECT ok(chi2 < 20.515, format('pairs follow the closed form (chi-square %s, 5 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((coalesce(got, 0) - 6000 * p) ^ 2 / (6000 * p)) AS chi2
	FROM (VALUES (3, 5, .009902086), (3, 8, .023430494), (3, 13, .156324227), (5, 8, .035436896), (5, 13, .234979539), (8, 13, .539926758)) AS e (low, high, p)
	LEFT JOIN (SELECT low, high, count(*)::float8 AS got FROM pair GROUP BY low, high) AS o USING (low, high)) AS x;
SELECT ok(chi2 < 16.266, format('single draws follow the softmax (chi-square %s, 3 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((coalesce(got, 0) - 6000 * p) ^ 2 / (6000 * p)) AS chi2
	FROM cudal1_bucket_stats('t', 2) AS e (bucket, a, b, c, d, p)
	LEFT JOIN (SELECT d.bucket, count(*)::float8 AS got FROM generate_series(1, 6000) AS s (seed)
			   CROSS JOIN LATERAL cudal1_sample_exemplars('t', 1, 'bucket', 2, s.seed) AS d GROUP BY 1) AS o USING (bucket)) AS x;
SELECT ok(chi2 < 24.322 AND codes = 8, format('codes of a bucket are drawn uniformly (chi-square %s, 7 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((got - total / 8) ^ 2 / (total / 8)) AS chi2, count(*) AS codes FROM
	(SELECT count(*)::float8 AS got, sum(count(*)) OVER ()::float8 AS total FROM drawn WHERE strategy = 'bucket' AND bucket = 13 GROUP BY candidate_id) AS o) AS x;
SELECT ok(chi2 < 34.528 AND codes = 14, format('random: all codes alike (chi-square %s, 13 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((got - 12000.0 / 14) ^ 2 / (12000.0 / 14)) AS chi2, count(*) AS codes FROM
	(SELECT count(*)::float8 AS got FROM drawn WHERE strategy = 'random' GROUP BY candidate_id) AS o) AS x;

SELECT ok(bool_and(n = got AND n = size), 'random: no code twice, whether few or most are drawn')
FROM (SELECT size, count(*) AS n, count(DISTINCT d.candidate_id) AS got FROM generate_series(1, 200) AS s (seed), unnest(ARRAY[1, 3, 6, 7, 13]) AS size
	CROSS JOIN LATERAL cudal1_sample_exemplars('t', size, 'random', NULL, s.seed) AS d GROUP BY seed, size) AS x;
SELECT ok(chi2 < 137.208 AND pairs = 91, format('random: all pairs alike (chi-square %s, 90 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((got - 6000.0 / 91) ^ 2 / (6000.0 / 91)) AS chi2, count(*) AS pairs FROM (SELECT l, count(*) AS got FROM
	(SELECT array_agg(candidate_id ORDER BY candidate_id) AS l FROM drawn WHERE strategy = 'random' GROUP BY seed) AS p GROUP BY l) AS o) AS x;

-- order, number, replay
SELECT ok(bool_and(score >= before), 'rows come in ascending score') FROM (SELECT score, lag(score, 1, 0::float8) OVER (PARTITION BY seed ORDER BY ordinality) AS before
	FROM generate_series(1, 200) AS s (seed) CROSS JOIN LATERAL cudal1_sample_exemplars('t', 4, 'bucket', 1, seed) WITH ORDINALITY AS d) AS x;
SELECT is(count(*), 4::bigint, 'fewer buckets than n give fewer rows') FROM cudal1_sample_exemplars('t', 9);
SELECT is(count(DISTINCT candidate_id), 14::bigint, 'random: fewer codes than n give them all') FROM cudal1_sample_exemplars('t', 99, 'random');
SELECT is(count(d), 0::bigint, 'no strategy finds a code where there is none') FROM unnest(ARRAY['bucket', 'island', 'random']) AS strategy
CROSS JOIN LATERAL cudal1_sample_exemplars('empty', 2, strategy) AS d;
SELECT results_eq(format('SELECT * FROM cudal1_sample_exemplars(''t'', 3, %L, 1, 42)', s), format('SELECT * FROM cudal1_sample_exemplars(''t'', 3, %L, 1, 42)', s), s || ': the same seed gives the same draw')
FROM unnest(ARRAY['bucket', 'island', 'random']) AS s;
SELECT results_eq($$SELECT bucket FROM cudal1_sample_exemplars('t', 2, 'bucket', 1, 1) UNION ALL SELECT bucket FROM cudal1_sample_exemplars('t', 2, 'bucket', 1, -9000000000000000000)$$,
	$$VALUES (3), (13), (8), (13)$$, 'seeded draws are the same on every server');
SELECT results_eq($$SELECT score FROM cudal1_sample_exemplars('t', 3, 'random', NULL, 1) UNION ALL SELECT score FROM cudal1_sample_exemplars('t', 3, 'random', NULL, -9000000000000000000)$$,
	$$VALUES (1.3::float8), (3.35), (3.46), (0.88), (1.34), (3.3)$$, 'draws at random, too');
SELECT is(probabilities, '{"strategy": "random", "codes": 14}', 'a draw at random says among how many') FROM cudal1.draw('t', 1, 'random', NULL, 1);
SELECT ok(count(DISTINCT l) > 1, 'draws without a seed differ') FROM (SELECT array_agg(d.candidate_id) AS l FROM generate_series(1, 40) AS i
	CROSS JOIN LATERAL cudal1_sample_exemplars('t', 4, 'bucket', 1 + i * 0) AS d GROUP BY i) AS x;
SELECT is(count(*), 2::bigint, 'a strategy of NULL is the task''s own') FROM cudal1_sample_exemplars('t', 2, NULL);

-- the log scale
SELECT count(tap.decided(:log, r)) FROM unnest(ARRAY[0.5, 1.0, 1.2, 120]::float8[]) AS r \g /dev/null
SELECT ok(abs(mean - exp((ln(1.0) + ln(1.2)) / 2)) < 1e-9 AND lower = 1 AND abs(upper - exp(0.25)) < 1e-15, 'log: bounds and mean are speedups, the mean is geometric')
FROM cudal1_bucket_stats('log') WHERE bucket = 0;
SELECT ok(abs(probability - 120 / (0.5 + sqrt(1.2) + 120)) < 1e-9, 'log: at temperature 1 probabilities are as the speedups, not as their exponentials') FROM cudal1_bucket_stats('log') WHERE lower > 100;

-- islands
SELECT count(tap.decided(:isl, r)) FROM unnest(ARRAY[1, 1.05, 1.05, 1.2]::float8[]) AS r \g /dev/null
INSERT INTO cudal1.island (task_id, pool_id, island) SELECT :isl, 1, i FROM generate_series(0, 2) AS i;
SELECT ok(pg_temp.near(array_agg((c ->> 'probability')::float8 ORDER BY c ->> 'cluster'), ARRAY[.099623648, .164251628, .736124724]), 'island: clusters by softmax at temperature 0.1')
FROM (SELECT jsonb_array_elements(probabilities -> 'clusters') AS c FROM cudal1.draw('isl', 1, 'island', NULL, 1)) AS x;
SELECT ok(chi2 < 13.816, format('island: clusters follow the softmax (chi-square %s, 2 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((got - 6000 * p) ^ 2 / (6000 * p)) AS chi2 FROM (VALUES (1.0, .099623648), (1.05, .164251628), (1.2, .736124724)) AS e (score, p)
	JOIN (SELECT d.score::numeric, count(*)::float8 AS got FROM generate_series(1, 6000) AS s (seed)
		  CROSS JOIN LATERAL cudal1_sample_exemplars('isl', 1, 'island', NULL, s.seed) AS d GROUP BY 1) AS o USING (score)) AS x;
SELECT ok(count(DISTINCT island) = 3 AND bool_and(n BETWEEN 250 AND 420), 'island: each island has the same chance')
FROM (SELECT d.island, count(*) AS n FROM generate_series(1, 1000) AS s (seed) CROSS JOIN LATERAL cudal1.draw('isl', 1, 'island', NULL, s.seed) AS d GROUP BY 1) AS x;
SELECT ok(bool_and(n = distinct_n) AND min(n) = 1 AND max(n) = 2, 'island: no code is shown twice, a cluster may be')
FROM (SELECT count(*) AS n, count(DISTINCT d.candidate_id) AS distinct_n FROM generate_series(1, 500) AS s (seed) CROSS JOIN LATERAL cudal1_sample_exemplars('isl', 2, 'island', NULL, s.seed) AS d GROUP BY seed) AS x;
UPDATE cudal1.island SET registrations = 15000 WHERE task_id = :isl;
SELECT is((probabilities ->> 'temperature')::float8, 0.05::float8, 'island: the temperature falls with the registrations') FROM cudal1.draw('isl', 1, 'island', NULL, 1);
SELECT is(min(score), 3.49::float8, 'island: before its islands are founded a task''s candidates are on all of them')
FROM generate_series(1, 20) AS s (seed) CROSS JOIN LATERAL cudal1_sample_exemplars('t', 1, 'island', 0.001, s.seed) AS d;
SELECT is(count(*), 0::bigint, 'and a draw founds none') FROM cudal1.island WHERE task_id = :t;
SELECT cudal1_add_task('edges', 'ref', 'pytorch') AS edges \gset
SELECT count(tap.decided(:edges, r)) FROM unnest(ARRAY[.004, .005, .015, .994, 1.005, 1.005, 1.015, 1.025, 2.675, 1e8 + .005, 1e9 - .005, 1e9, 2e9, 1e300]::float8[]) AS r \g /dev/null
SELECT tap.decided(:edges, r, 'null') FROM unnest(ARRAY[.5, 1.005, 2]::float8[]) AS r \g /dev/null
SELECT set_eq($$SELECT (jsonb_array_elements(probabilities -> 'clusters') ->> 'cluster')::bigint FROM cudal1.draw('edges', 1, 'island', 1e9, 1)$$,
	format('SELECT least(round(reward::numeric * 100), 1e11)::bigint FROM cudal1.candidate WHERE task_id = %s AND purpose = $$normal$$', :edges), 'on clusters as they would be founded');
SELECT set_eq($$SELECT d.candidate_id FROM generate_series(1, 400) AS s (seed) CROSS JOIN LATERAL cudal1_sample_exemplars('edges', 2, 'island', 1e9, s.seed) AS d$$,
	format('SELECT candidate_id FROM cudal1.candidate WHERE task_id = %s AND purpose = $$normal$$', :edges), 'each code can be drawn');
INSERT INTO cudal1.candidate (task_id, code, code_hash, state, reward, decided_at)
	SELECT :empty, 'c', sha256(('old ' || g)::bytea), 'successful', (100 + g % 500) / 100.0::float8, now() FROM generate_series(1, 3000) AS g;
SELECT count(cudal1.place_candidate(candidate_id)) FROM cudal1.candidate WHERE task_id = :empty \g /dev/null
SELECT ok(chi2 < 20.515 AND codes = 6, format('the codes of a cluster alike (chi-square %s, 5 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((got - 100) ^ 2 / 100) AS chi2, count(*) AS codes FROM (SELECT count(*)::float8 AS got FROM generate_series(1, 600) AS s (seed)
	CROSS JOIN LATERAL cudal1_sample_exemplars('empty', 1, 'island', .0001, s.seed) AS d GROUP BY d.candidate_id) AS o) AS x;
SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.candidate'::regclass \gset
SELECT is(count(*), 2::bigint, 'and a draw') FROM cudal1_sample_exemplars('empty', 2, 'island', .01, 1);
SELECT ok(idx_tup_fetch + seq_tup_read - :read < 300, format('reads %s of 3000 candidates', idx_tup_fetch + seq_tup_read - :read))
FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.candidate'::regclass;

-- codes that move and leave
SELECT array_agg(candidate_id ORDER BY candidate_id) AS drawn FROM cudal1_sample_exemplars('t', 5, 'random', NULL, 42) \gset
UPDATE cudal1.candidate SET (reward, score) = (cudal1_conservative_round(reward + 1), reward + 1) WHERE task_id = :t AND state = 'successful' AND purpose = 'normal';
SELECT count(cudal1.place_candidate(candidate_id)) FROM cudal1.candidate WHERE task_id = :t \g /dev/null
SELECT is(array_agg(candidate_id ORDER BY candidate_id), :'drawn', 'random: other rewards change no draw') FROM cudal1_sample_exemplars('t', 5, 'random', NULL, 42);
UPDATE cudal1.candidate SET state = 'failed', failure = 'crash', reward = 0 WHERE candidate_id = ANY (:'drawn');
SELECT count(cudal1.place_candidate(candidate_id)) FROM cudal1.candidate WHERE task_id = :t \g /dev/null
SELECT ok(chi2 < 26.125 AND codes = 9 AND NOT found, format('random: who is left is drawn, all alike (chi-square %s, 8 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((got - 5000.0 / 9) ^ 2 / (5000.0 / 9)) AS chi2, count(*) AS codes, bool_or(candidate_id = ANY (:'drawn')) AS found FROM
	(SELECT d.candidate_id, count(*)::float8 AS got FROM generate_series(1, 5000) AS s (seed)
	 CROSS JOIN LATERAL cudal1_sample_exemplars('t', 1, 'random', NULL, s.seed) AS d GROUP BY 1) AS o) AS x;

-- bad arguments
SELECT throws_ok(q, code, NULL, q) FROM (VALUES
	($$SELECT * FROM cudal1_sample_exemplars('no such')$$, '42704'), ($$SELECT * FROM cudal1_sample_exemplars(NULL)$$, '22004'),
	($$SELECT * FROM cudal1_sample_exemplars('t', 0)$$, '22023'), ($$SELECT * FROM cudal1_sample_exemplars('t', NULL)$$, '22004'),
	($$SELECT * FROM cudal1_sample_exemplars('t', 2, 'best')$$, '22023'), ($$SELECT * FROM cudal1_sample_exemplars('t', 2, 'bucket', 0)$$, '22023'),
	($$SELECT * FROM cudal1_sample_exemplars('t', 2, 'bucket', 'NaN')$$, '22023'), ($$SELECT * FROM cudal1_sample_exemplars('t', 2, 'random', -1)$$, '22023'),
	($$SELECT * FROM cudal1_sample_exemplars('empty', 2, 'best')$$, '22023'),
	($$SELECT * FROM cudal1_bucket_stats('no such')$$, '42704'), ($$SELECT * FROM cudal1_bucket_stats('t', 0)$$, '22023')) AS v (q, code);

-- a bucket of many codes, where a code is found by a random hash
SELECT cudal1_add_task('many', 'ref', 'pytorch') AS many \gset
SELECT count(tap.decided(:many, 1.1)) FROM generate_series(1, 1000) \g /dev/null
SELECT ok(chi2 < 1143 AND codes > 975, format('codes of a large bucket are drawn uniformly (chi-square %s, 999 degrees of freedom, 0.1 %%)', round(chi2::numeric, 2)))
FROM (SELECT sum((got - 5) ^ 2 / 5) + 5 * (1000 - count(*)) AS chi2, count(*) AS codes FROM (SELECT count(*)::float8 AS got FROM generate_series(1, 5000) AS s (seed)
	CROSS JOIN LATERAL cudal1_sample_exemplars('many', 1, 'bucket', 1, s.seed) AS d GROUP BY d.candidate_id) AS o) AS x;
SELECT is(count(DISTINCT candidate_id), 500::bigint, 'random: no code of a large bucket twice') FROM cudal1_sample_exemplars('many', 500, 'random', NULL, 7);
SELECT results_eq($$SELECT candidate_id FROM cudal1_sample_exemplars('many', 5, 'random', NULL, 7)$$,
	$$SELECT candidate_id FROM cudal1_sample_exemplars('many', 5, 'random', NULL, 7)$$, 'and the same seed gives the same codes');
