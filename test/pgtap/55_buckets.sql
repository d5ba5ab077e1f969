-- Buckets and islands agree with the candidates they are derived from, whatever happened to those.
BEGIN;
SELECT plan(46);

SELECT cudal1_add_task('linear', 'ref', 'pytorch') AS linear \gset
SELECT cudal1_add_task('log', 'ref', 'pytorch', NULL, NULL, '{"score_scale": "log"}') AS log \gset
SELECT cudal1_add_task('islands', 'ref', 'pytorch', NULL, NULL, '{"strategy": "island", "islands": 5, "island_reset": 12}') AS islands \gset
SELECT cudal1_add_task('strict', 'ref', 'pytorch', NULL, NULL, '{"strategy": "island", "islands": 2, "island_late": "reject"}') AS strict \gset

CREATE FUNCTION pg_temp.score(task bigint, reward float8, purpose text DEFAULT 'normal') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint;
BEGIN
	INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose, state, reward, score, decided_at)
	VALUES (task, 'code', sha256(nextval('cudal1.candidate_candidate_id_seq')::text::bytea), purpose, 'successful', reward, reward, now())
	RETURNING candidate_id INTO id;
	PERFORM cudal1.place_candidate(id);
	RETURN id;
END $$;
CREATE FUNCTION pg_temp.rescore(id bigint, new_reward float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE cudal1.candidate SET state = CASE WHEN new_reward > 0 THEN 'successful' ELSE 'failed' END,
		failure = CASE WHEN new_reward > 0 THEN NULL ELSE 'crash' END, reward = new_reward WHERE candidate_id = id;
	PERFORM cudal1.place_candidate(id);
END $$;

-- numbers of buckets
SELECT is(cudal1.bucket_of(r, w, 'linear'), k, format('%s of width %s is in bucket %s', r, w, k))
FROM (VALUES (0.75::float8, 0.25::float8, 3), (1.15, 0.05, 23), (1.14, 0.05, 22), (0.3, 0.1, 3), (0.01, 0.25, 0), (449.0, 0.25, 1796)) AS v (r, w, k);
SELECT is(cudal1.bucket_of(r, 0.25, 'log'), k, format('ln %s is in bucket %s', r, k))
FROM (VALUES (1.0::float8, 0), (0.99, -1), (2.0, 2), (0.5, -3)) AS v (r, k);
SELECT throws_ok('SELECT cudal1.bucket_of(0, 0.25, ''linear'')', '22023', NULL, 'a reward of 0 has no bucket');

-- placing
SELECT pg_temp.score(:linear, 1.10) AS a, pg_temp.score(:linear, 1.20) AS b, pg_temp.score(:linear, 1.24) AS c \gset
SELECT results_eq('SELECT bucket, codes, sum_micro FROM cudal1.bucket WHERE task_id = ' || :linear, 'VALUES (4, 3::bigint, 3540000::bigint)', 'three codes share a bucket');
SELECT results_eq(format('SELECT candidate_id, slot FROM cudal1.bucket_slot WHERE task_id = %s ORDER BY slot', :linear),
	format('VALUES (%s::bigint, 0::bigint), (%s, 1), (%s, 2)', :a, :b, :c), 'slots are given in order');
SELECT cudal1.place_candidate(:b) \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.recount()', 'placing again changes nothing');
SELECT pg_temp.rescore(:a, 0) \g /dev/null
SELECT results_eq(format('SELECT candidate_id, slot FROM cudal1.bucket_slot WHERE task_id = %s ORDER BY slot', :linear),
	format('VALUES (%s::bigint, 0::bigint), (%s, 1)', :c, :b), 'the last slot moves into the hole');
SELECT results_eq(format('SELECT candidate_id, place FROM cudal1.bucket_slot WHERE task_id = %s ORDER BY place', :linear),
	format('VALUES (%s::bigint, 0::bigint), (%s, 1)', :c, :b), 'and so does the last place');
SELECT pg_temp.rescore(:b, 1.22) \g /dev/null
SELECT is(sum_micro, 2460000::bigint, 'a new reward within the bucket changes its sum') FROM cudal1.bucket WHERE task_id = :linear;
SELECT pg_temp.rescore(:b, 3.0) \g /dev/null
SELECT results_eq('SELECT bucket, codes, sum_micro FROM cudal1.bucket WHERE task_id = ' || :linear || ' ORDER BY 1',
	'VALUES (4, 1::bigint, 1240000::bigint), (12, 1, 3000000)', 'a new reward outside moves it');
SELECT results_eq(format('SELECT candidate_id, place FROM cudal1.bucket_slot WHERE task_id = %s ORDER BY place', :linear),
	format('VALUES (%s::bigint, 0::bigint), (%s, 1)', :c, :b), 'but leaves its place');
SELECT pg_temp.score(:linear, 5, p) FROM unnest(ARRAY['null', 'certification', 'ablation']) AS p \g /dev/null
SELECT is(count(*), 2::bigint, 'only candidates of normal purpose are placed') FROM cudal1.bucket_slot WHERE task_id = :linear;
UPDATE cudal1.candidate SET state = 'queued', reward = NULL, decided_at = NULL WHERE candidate_id = :b;
SELECT cudal1.place_candidate(:b) \g /dev/null
SELECT is(count(*), 1::bigint, 'a candidate that is measured again leaves its bucket once it is placed so') FROM cudal1.bucket_slot WHERE task_id = :linear;
SELECT throws_ok('SELECT cudal1.place_candidate(-1)', '42704', NULL, 'an unknown candidate is an error');
SELECT is(codes, 0::bigint, 'an emptied bucket stays, empty') FROM cudal1.bucket WHERE task_id = :linear AND bucket = 12;
SELECT is(count(*), 1::bigint, 'and is not reported') FROM cudal1_bucket_stats('linear');
SELECT pg_temp.score(:linear, 1e12) \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.recount()', 'an absurd reward does not overflow the sums');

-- a long history, repeatable: every state change at random, on both scales
SELECT count(pg_temp.score(t, 0.01 + abs(hashint8(i)) % 700 / 100.0)) FROM generate_series(1, 300) AS i, unnest(ARRAY[:linear, :log]) AS t \g /dev/null
SELECT count(pg_temp.rescore(candidate_id, CASE WHEN abs(hashint8extended(candidate_id, i)) % 4 = 0 THEN 0 ELSE 0.01 + abs(hashint8extended(candidate_id, i)) % 700 / 100.0 END))
FROM cudal1.candidate, generate_series(1, 5) AS i WHERE task_id IN (:linear, :log) AND purpose = 'normal' AND state IN ('successful', 'failed') \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.recount()', '3000 changes at random leave no difference');

-- recount sees what it is there to see
SAVEPOINT broken;
UPDATE cudal1.bucket SET sum_micro = sum_micro + 1 WHERE (task_id, bucket) = (SELECT task_id, min(bucket) FROM cudal1.bucket WHERE codes > 1 GROUP BY task_id LIMIT 1);
SELECT is(count(*), 1::bigint, 'recount sees a wrong sum') FROM cudal1.recount();
ROLLBACK TO broken;
UPDATE cudal1.placement SET codes = codes + 1 WHERE task_id = :log;
SELECT results_eq('SELECT task, difference FROM cudal1.recount()', format('VALUES (%s::bigint, ''places not dense'')', :log), 'recount sees a wrong count');
ROLLBACK TO broken;
UPDATE cudal1.bucket_slot SET place = place + 1000 WHERE task_id = :log AND place = 5;
SELECT results_eq('SELECT task, difference FROM cudal1.recount()', format('VALUES (%s::bigint, ''places not dense'')', :log), 'recount sees a hole between places');
ROLLBACK TO broken;
DELETE FROM cudal1.bucket_slot WHERE task_id = :log AND slot = 0;
SELECT ok(count(*) > 1, 'recount sees a missing slot') FROM cudal1.recount(:log);
SELECT ok(cudal1.rebucket('log') > 0, 'rebucket repairs');
SELECT is_empty('SELECT * FROM cudal1.recount()', 'and leaves no difference');
ROLLBACK TO broken;

-- other widths
SELECT is(cudal1.rebucket('linear', 0.05, 'log'), (SELECT count(*) FROM cudal1.bucket_slot WHERE task_id = :linear), 'rebucket places every candidate again');
SELECT is_empty('SELECT * FROM cudal1.recount()', 'by the new width and scale');
SELECT throws_ok($$SELECT cudal1.rebucket('linear', 0)$$, '22023', NULL, 'a width of 0 is an error');
SELECT throws_ok($$SELECT cudal1.rebucket('linear', NULL, 'cubic')$$, '22023', NULL, 'an unknown scale is an error');
SELECT throws_ok($$SELECT cudal1.rebucket('no such')$$, '42704', NULL, 'an unknown task is an error');

-- islands
CREATE FUNCTION pg_temp.propose(id bigint, isl int, ep int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO cudal1.proposal (task_id, candidate_id, method, island, island_epoch) SELECT task_id, id, 'm', isl, ep FROM cudal1.candidate WHERE candidate_id = id
$$;
CREATE FUNCTION pg_temp.answer(task bigint, reward float8, isl int, ep int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint;
BEGIN
	INSERT INTO cudal1.candidate (task_id, code, code_hash, state, reward, score, decided_at)
	VALUES (task, 'code', sha256(nextval('cudal1.candidate_candidate_id_seq')::text::bytea), 'successful', reward, reward, now())
	RETURNING candidate_id INTO id;
	PERFORM pg_temp.propose(id, isl, ep);
	PERFORM cudal1.place_candidate(id);
	RETURN id;
END $$;
SELECT pg_temp.score(:islands, 1.0) AS seed \gset
SELECT results_eq('SELECT island, registrations, best_reward FROM cudal1.island WHERE task_id = ' || :islands || ' ORDER BY 1',
	'SELECT i, 1::bigint, 1.0::float8 FROM generate_series(0, 4) AS i', 'a code without a prompt founds every island');
SELECT pg_temp.answer(:islands, 1.0 + i / 10.0, i, 0) FROM generate_series(0, 4) AS i \g /dev/null
SELECT results_eq('SELECT island, registrations, best_reward FROM cudal1.island WHERE task_id = ' || :islands || ' ORDER BY 1',
	'SELECT i, 2::bigint, (1.0 + i / 10.0)::float8 FROM generate_series(0, 4) AS i', 'the answer to an island''s prompt joins that island');
SELECT pg_temp.answer(:islands, 1.0, 4, 0) FROM generate_series(1, 7) AS i \g /dev/null
SELECT results_eq('SELECT island, epoch FROM cudal1.island WHERE task_id = ' || :islands || ' ORDER BY 1',
	'VALUES (0, 1), (1, 1), (2, 0), (3, 0), (4, 0)', 'after the set number of registrations the weaker half is wiped');
SELECT ok(bool_and(s.codes = 1 AND i.best_reward IN (1.2, 1.3, 1.4) AND i.registrations = 1), 'and founded anew, each by the best of a survivor')
FROM cudal1.island AS i JOIN cudal1.island_cell AS s USING (task_id, island, epoch) WHERE task_id = :islands AND epoch = 1;
SELECT cudal1.place_candidate(:seed) \g /dev/null
SELECT is(count(*), 3::bigint, 'who was wiped stays wiped') FROM cudal1.island_slot AS s JOIN cudal1.island AS i USING (task_id, island, epoch) WHERE s.candidate_id = :seed;
SELECT pg_temp.answer(:islands, 2.0, 0, 0) AS late \gset
SELECT is(best_reward, 2.0::float8, 'a late answer joins the new epoch, as in FunSearch') FROM cudal1.island WHERE task_id = :islands AND island = 0;
SELECT pg_temp.propose(:seed, 1, 1) \g /dev/null
SELECT cudal1.place_candidate(:seed) \g /dev/null
SELECT ok(EXISTS (SELECT FROM cudal1.island_slot WHERE candidate_id = :seed AND island = 1 AND epoch = 1), 'a new proposal brings the wiped back');
SELECT count(pg_temp.rescore(candidate_id, CASE WHEN candidate_id % 3 = 0 THEN 0 ELSE reward + 0.07 END)) FROM cudal1.candidate WHERE task_id = :islands \g /dev/null
SELECT is_empty('SELECT * FROM cudal1.recount()', 're-scoring moves codes between clusters, failures leave');

SELECT pg_temp.score(:strict, 1.0) \g /dev/null
SELECT cudal1.reset_islands(:strict) \g /dev/null
SELECT pg_temp.answer(:strict, 3.0, island, 0) FROM cudal1.island WHERE task_id = :strict AND epoch = 1 \g /dev/null
SELECT is(max(best_reward), 1.0::float8, 'island_late = reject keeps late answers off the islands') FROM cudal1.island WHERE task_id = :strict;

SELECT * FROM finish();
ROLLBACK;
