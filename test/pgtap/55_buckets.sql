-- Buckets and islands agree with the candidates they are derived from, whatever happened to those.
SELECT plan(42);

SELECT cudal1_add_task('linear', 'ref', 'pytorch') AS linear \gset
SELECT cudal1_add_task('log', 'ref', 'pytorch', NULL, NULL, '{"score_scale": "log"}') AS log \gset
SELECT cudal1_add_task('islands', 'ref', 'pytorch', NULL, NULL, '{"strategy": "island", "islands": 5, "island_reset": 12}') AS islands \gset
SELECT cudal1_add_task('apart', 'ref', 'pytorch', NULL, NULL, '{"strategy": "island", "islands": 4, "island_reset": 8, "island_rule": "cuda-l1"}') AS apart \gset

CREATE FUNCTION pg_temp.rescore(id bigint, new_reward float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE cudal1.candidate SET state = CASE WHEN new_reward > 0 THEN 'successful' ELSE 'failed' END,
		failure = CASE WHEN new_reward > 0 THEN NULL ELSE 'crash' END, reward = cudal1_conservative_round(new_reward), score = nullif(new_reward, 0) WHERE candidate_id = id;
	PERFORM cudal1.place_candidate(id);
END $$;

-- numbers of buckets
SELECT is(cudal1.bucket_of(r, w, 'linear'), k, format('%s of width %s is in bucket %s', r, w, k))
FROM (VALUES (0.75::float8, 0.25::float8, 3), (1.15, 0.05, 23), (1.14, 0.05, 22), (0.3, 0.1, 3), (0.01, 0.25, 0), (449.0, 0.25, 1796)) AS v (r, w, k);
SELECT is(cudal1.bucket_of(r, 0.25, 'log'), k, format('ln %s is in bucket %s', r, k))
FROM (VALUES (1.0::float8, 0), (0.99, -1), (2.0, 2), (0.5, -3)) AS v (r, k);
SELECT ok(bool_and(cudal1.bucket_of(h / 100.0::float8, w / 100.0::float8, 'linear') = h / w), 'edges belong to the interval above, as in whole hundredths')
FROM generate_series(1, 20000) AS h, unnest(ARRAY[1, 2, 5, 10, 20, 25, 30, 70, 100, 250]) AS w;
SELECT is(cudal1.bucket_of(1e300, 0.001, 'linear'), 2147483647, 'numbers of buckets end with the type');

-- placing
SELECT tap.decided(:linear, 1.10) AS a, tap.decided(:linear, 1.20) AS b, tap.decided(:linear, 1.24) AS c \gset
SELECT results_eq('SELECT bucket, codes, mean FROM cudal1.bucket WHERE task_id = ' || :linear, 'VALUES (4, 3::bigint, 1.18::float8)', 'three codes share a bucket');
SELECT cudal1.place_candidate(:b) \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'placing again changes nothing');
SELECT pg_temp.rescore(:a, 0) \g /dev/null
SELECT results_eq(format('SELECT candidate_id FROM cudal1.pool_code WHERE task_id = %s AND bucket IS NOT NULL ORDER BY 1', :linear),
	format('VALUES (%s::bigint), (%s)', :b, :c), 'one that fails leaves its bucket');
SELECT pg_temp.rescore(:b, 1.22) \g /dev/null
SELECT is(mean, 1.23::float8, 'a new reward within the bucket changes its mean') FROM cudal1.bucket WHERE task_id = :linear;
SELECT pg_temp.rescore(:b, 3.0) \g /dev/null
SELECT results_eq('SELECT bucket, codes, mean FROM cudal1.bucket WHERE task_id = ' || :linear || ' ORDER BY 1',
	'VALUES (4, 1::bigint, 1.24::float8), (12, 1, 3)', 'a new reward outside moves it');
SELECT tap.decided(:linear, 5, p) FROM unnest(ARRAY['null', 'certification', 'ablation']) AS p \g /dev/null
SELECT is(sum(codes), 2::numeric, 'only candidates of normal purpose are placed') FROM cudal1.bucket WHERE task_id = :linear;
UPDATE cudal1.candidate SET state = 'queued', reward = NULL, score = NULL, decided_at = NULL WHERE candidate_id = :b;
SELECT cudal1.place_candidate(:b) \g /dev/null
SELECT results_eq('SELECT bucket, codes FROM cudal1.bucket WHERE task_id = ' || :linear, 'VALUES (4, 1::bigint)',
	'a candidate that is measured again leaves its bucket once it is placed so');
SELECT throws_ok('SELECT cudal1.place_candidate(-1)', '42704', NULL, 'an unknown candidate is an error');
SELECT is(count(*), 1::bigint, 'an emptied bucket is not reported') FROM cudal1_bucket_stats('linear');
SELECT tap.decided(:linear, 1e300) \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'an absurd reward does not overflow the sums');

-- a long history, repeatable: every state change at random, on both scales
SELECT count(tap.decided(t, 0.01 + abs(hashint8(i)) % 700 / 100.0)) FROM generate_series(1, 300) AS i, unnest(ARRAY[:linear, :log]) AS t \g /dev/null
SELECT count(pg_temp.rescore(candidate_id, CASE WHEN abs(hashint8extended(candidate_id, i)) % 4 = 0 THEN 0 ELSE 0.01 + abs(hashint8extended(candidate_id, i)) % 700 / 100.0 END))
FROM cudal1.candidate, generate_series(1, 5) AS i WHERE task_id IN (:linear, :log) AND purpose = 'normal' AND state IN ('successful', 'failed') \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', '3000 changes at random leave no difference');

-- the check sees what it is there to see
SAVEPOINT broken;
UPDATE cudal1.bucket_part SET total = total + 1 WHERE (task_id, bucket) = (SELECT task_id, min(bucket) FROM cudal1.bucket WHERE codes > 1 GROUP BY task_id LIMIT 1);
SELECT is(count(*), 1::bigint, 'a wrong sum') FROM cudal1.check_of_buckets();
ROLLBACK TO broken;
UPDATE cudal1.bucket_part SET codes = codes + 1 WHERE task_id = :log AND bucket = 0;
SELECT results_eq('SELECT subject FROM cudal1.check_of_buckets()', 'VALUES (''bucket'')', 'a wrong count');
ROLLBACK TO broken;
DELETE FROM cudal1.pool_code WHERE candidate_id = (SELECT min(candidate_id) FROM cudal1.pool_code WHERE task_id = :log AND bucket = 0);
SELECT results_eq('SELECT subject FROM cudal1.check_of_buckets() ORDER BY 1', 'VALUES (''bucket''), (''code of no pool'')', 'a code that is missing');
ROLLBACK TO broken;
UPDATE cudal1.candidate SET (reward, score) = (cudal1_conservative_round(reward + 1), reward + 1) WHERE candidate_id = (SELECT min(candidate_id) FROM cudal1.pool_code WHERE task_id = :log AND bucket = 0);
SELECT results_eq('SELECT subject FROM cudal1.check_of_buckets()', 'VALUES (''code of a pool'')', 'a reward that was not placed');
ROLLBACK TO broken;

-- islands
CREATE FUNCTION pg_temp.propose(id bigint, isl int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO cudal1.proposal (task_id, candidate_id, method, island) SELECT task_id, id, 'm', isl FROM cudal1.candidate WHERE candidate_id = id;
	SELECT cudal1.place_again(ARRAY[id], 1, isl)
$$;
CREATE FUNCTION pg_temp.best(task bigint) RETURNS TABLE (island int, best float8) LANGUAGE sql AS $$
	SELECT i.island, (SELECT max(s.cluster) / 100.0::float8 FROM cudal1.pool_code AS s WHERE s.task_id = task AND s.island IN (i.island, CASE WHEN i.shared THEN -1 ELSE i.island END))
		FROM cudal1.island AS i WHERE i.task_id = task ORDER BY i.island
$$;
SELECT tap.decided(:islands, 1.0) AS seed \gset
SELECT is(island, -1, 'a code without a prompt is on every island') FROM cudal1.pool_code WHERE candidate_id = :seed;
SELECT tap.decided(:islands, 1.0 + i / 10.0, method => 'm', island => i) FROM generate_series(0, 4) AS i \g /dev/null
SELECT results_eq(format('SELECT island, best FROM pg_temp.best(%s)', :islands), 'SELECT i, (1.0 + i / 10.0)::float8 FROM generate_series(0, 4) AS i', 'the answer to an island''s prompt joins that island');
SELECT results_eq('SELECT registrations FROM cudal1.island WHERE task_id = ' || :islands || ' ORDER BY island', 'SELECT 2::bigint FROM generate_series(1, 5)', 'each of them has two codes');
SELECT tap.decided(:islands, 1.0, method => 'm', island => 4) FROM generate_series(1, 7) AS i \g /dev/null
SELECT results_eq('SELECT shared FROM cudal1.island WHERE task_id = ' || :islands || ' ORDER BY island',
	'VALUES (false), (false), (true), (true), (true)', 'after the set number of registrations the weaker half is wiped');
SELECT ok(bool_and(n = 1 AND best IN (1.2, 1.3, 1.4)) AND count(*) = 2, 'and founded anew, each by the best of a survivor')
FROM (SELECT count(*) AS n, max(s.cluster) / 100.0 AS best FROM cudal1.pool_code AS s WHERE s.task_id = :islands AND s.island IN (0, 1) GROUP BY s.island) AS x;
SELECT cudal1.place_candidate(candidate_id) FROM cudal1.pool_code WHERE task_id = :islands AND NOT copy \g /dev/null
SELECT is(count(*), 0::bigint, 'who was wiped stays wiped') FROM cudal1.pool_code WHERE task_id = :islands AND island IN (0, 1) AND NOT copy;
SELECT tap.decided(:islands, 2.0, method => 'm', island => 0) AS late \gset
SELECT is(best, 2.0::float8, 'a late answer joins the island as it is now, as in FunSearch') FROM pg_temp.best(:islands) WHERE island = 0;
SELECT pg_temp.propose(:seed, 1) \g /dev/null
SELECT cudal1.place_waiting() \g /dev/null
SELECT ok(EXISTS (SELECT FROM cudal1.pool_code WHERE candidate_id = :seed AND island = 1 AND bucket IS NOT NULL), 'a new proposal brings the wiped back');
SELECT pg_temp.propose(:seed, 3) \g /dev/null
SELECT cudal1.place_waiting() \g /dev/null
SELECT is(count(*), 2::bigint, 'and adds nothing where it is still') FROM cudal1.pool_code WHERE candidate_id = :seed;
SELECT tap.decided(:islands, 1.5) AS new \gset
SELECT set_eq('SELECT island FROM cudal1.pool_code WHERE candidate_id = ' || :new, 'VALUES (-1), (0), (1)', 'a new code without a prompt is on all islands, the wiped ones too');
SELECT is(codes, (SELECT count(*) FROM cudal1.candidate WHERE task_id = :islands AND state = 'successful'), 'copies count in no bucket') FROM (SELECT sum(codes)::bigint FROM cudal1.bucket WHERE task_id = :islands) AS b (codes);
SELECT count(pg_temp.rescore(candidate_id, CASE WHEN candidate_id % 3 = 0 THEN 0 ELSE reward + 0.07 END)) FROM cudal1.candidate WHERE task_id = :islands \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 're-scoring moves codes between clusters, failures leave');

-- islands as CUDA-L1 has them
SELECT count(tap.decided(:apart, 1.0)) FROM generate_series(1, 40) \g /dev/null
SELECT results_eq('SELECT DISTINCT island FROM cudal1.pool_code WHERE task_id = ' || :apart || ' ORDER BY 1', 'SELECT generate_series(0, 3)', 'codes are spread over the islands');
SELECT tap.decided(:apart, 1.0 + i / 10.0, method => 'm', island => i) FROM generate_series(0, 3) AS i \g /dev/null
UPDATE cudal1.island SET since_reset = 0 WHERE task_id = :apart;
SELECT count(*) AS third FROM cudal1.pool_code WHERE task_id = :apart AND island = 2 \gset
SELECT count(*) AS fourth FROM cudal1.pool_code WHERE task_id = :apart AND island = 3 \gset
SELECT cudal1.reset_islands(:apart) \g /dev/null
SELECT ok(bool_and(n IN (:third, :fourth)) AND count(*) = 2, 'all codes of a surviving island are copied to a wiped one')
FROM (SELECT count(*) AS n FROM cudal1.pool_code WHERE task_id = :apart AND island IN (0, 1) AND copy GROUP BY island) AS x;
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'and the buckets stay as they are');
