-- No trainer waits for another's backlog: turns by the last claim, weights, and priorities among one's own jobs.
SELECT plan(51);

SELECT cudal1_add_task(name, 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') FROM (VALUES ('t'), ('u'), ('v')) AS v (name) \g /dev/null
SELECT cudal1.register_device('h', jsonb_build_object('key', k, 'class', 'cpu', 'model', 'M', 'languages', '["pytorch"]'::jsonb)) AS d FROM unnest(ARRAY['cpu:1', 'cpu:2']) AS k ORDER BY k \g /dev/null
SELECT min(device_id) AS d1, max(device_id) AS d2 FROM cudal1.device \gset
CREATE ROLE turn_anna;
CREATE ROLE turn_bert;
CREATE ROLE turn_carl;
SELECT cudal1_grant(r, 'trainer') FROM unnest(ARRAY['turn_anna', 'turn_bert', 'turn_carl']::name[]) AS r \g /dev/null

CREATE FUNCTION pg_temp.submit(trainer text, task text, prefix text, n int, priority int DEFAULT 0) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('session_authorization', trainer, false);
	PERFORM cudal1_submit_batch(array_fill(task, ARRAY[n]), ARRAY(SELECT prefix || g FROM generate_series(1, n) AS g), priority => priority);
	RESET SESSION AUTHORIZATION;
END $$;
-- so many claims one after the other, none finished: the codes, without their numbers
CREATE FUNCTION pg_temp.claims(device bigint, n int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(rtrim(c.job #>> '{candidate,code}', '0123456789'), '' ORDER BY g)
		FROM generate_series(1, n) AS g, LATERAL (SELECT x.job FROM cudal1.claim(device, 'w' || g * 0) AS x OFFSET 0) AS c
$$;
CREATE FUNCTION pg_temp.clear() RETURNS void LANGUAGE sql AS $$DELETE FROM cudal1.job; DELETE FROM cudal1.turn$$;
GRANT USAGE ON SCHEMA public TO PUBLIC;
-- trainers
SELECT pg_temp.submit('turn_anna', 't', 'a', 1000) \g /dev/null
SELECT pg_temp.submit('turn_bert', 't', 'b', 1) \g /dev/null
SELECT is(array_agg(DISTINCT trainer ORDER BY trainer)::text, '{turn_anna,turn_bert}', 'a job belongs to who proposed it') FROM cudal1.job;
SELECT is(pg_temp.claims(:d1, 4), 'abaa', 'one candidate does not wait for a thousand of another trainer''s');
SELECT pg_temp.submit('turn_bert', 't', 'bb', 500) \g /dev/null
SELECT pg_temp.submit('turn_carl', 'u', 'c', 500) \g /dev/null
SELECT is(pg_temp.claims(:d1, 9), 'cbbacbbacbba', 'trainers take turns, the one that waited longest first');
SELECT is(pg_temp.claims(:d2, 6), 'abbcabbc', 'for each device by itself');
SELECT is(pg_temp.claims(:d1, 3), 'cbba', 'undisturbed by the other');

-- a claim reads a few entries, however long the queue is
SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.job'::regclass \gset
SELECT pg_temp.claims(:d1, 10) \g /dev/null
SELECT ok(idx_tup_fetch + seq_tup_read - :read <= 10 * 60, format('ten claims of some two thousand jobs read %s rows', idx_tup_fetch + seq_tup_read - :read))
FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.job'::regclass;

-- nor what has time until its deadline
UPDATE cudal1.job SET deadline = clock_timestamp() + interval '1 hour' WHERE state = 'queued';
SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.job'::regclass \gset
SELECT pg_temp.claims(:d1, 10) \g /dev/null
SELECT ok(idx_tup_fetch + seq_tup_read - :read <= 10 * 60, format('ten claims of jobs with deadlines read %s rows', idx_tup_fetch + seq_tup_read - :read))
FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.job'::regclass;

-- nor what a device can't take
CREATE FUNCTION pg_temp.reads(device bigint, OUT claimed bigint, OUT read bigint) LANGUAGE plpgsql AS $$
DECLARE
	before	bigint;
BEGIN
	SELECT idx_tup_fetch + seq_tup_read INTO before FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.job'::regclass;
	claimed := (SELECT count(*) FROM cudal1.claim(device, 'w'));
	SELECT idx_tup_fetch + seq_tup_read - before INTO read FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.job'::regclass;
END $$;
SELECT cudal1.register_device('h', '{"key": "c", "class": "cpu", "model": "M", "languages": ["c"]}') AS d3,
	cudal1.register_device('h', '{"key": "both", "class": "cpu", "model": "M", "cores": 2, "languages": ["c", "pytorch"]}') AS d5 \gset
SELECT results_eq(format('SELECT claimed, read <= 5 FROM pg_temp.reads(%s)', :d3), 'VALUES (0::bigint, true)', 'a device without the language does not read the queue');
UPDATE cudal1.job SET cores = 3 WHERE state = 'queued';
SELECT results_eq(format('SELECT claimed, read <= 5 FROM pg_temp.reads(%s)', :d5), 'VALUES (0::bigint, true)', 'nor one with too few cores');
SELECT pg_temp.submit(current_user, 't', 'narrow', 1) \g /dev/null
SELECT results_eq(format('SELECT claimed, read <= 60 FROM pg_temp.reads(%s)', :d5), 'VALUES (1::bigint, true)', 'what it can take is found beside all that');

-- what several trainers wait for
SELECT pg_temp.clear() \g /dev/null
SELECT pg_temp.submit('turn_anna', 't', 'x', 50) \g /dev/null
SET SESSION AUTHORIZATION turn_bert;
SELECT cudal1_submit('t', 'x50') AS shared \gset
RESET SESSION AUTHORIZATION;
SELECT results_eq('SELECT trainer COLLATE "default" FROM cudal1.job WHERE candidate_id = ' || :shared || ' ORDER BY 1', ARRAY['turn_anna', 'turn_bert'], 'a code of several trainers has a job of each');
SET SESSION AUTHORIZATION turn_anna;
SELECT cudal1_submit('t', 'x50', priority => 7) \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(trainer || priority, ' ' ORDER BY trainer) FROM cudal1.job WHERE candidate_id = :shared), 'turn_anna7 turn_bert0', 'by which it is as urgent as its own trainer says');
UPDATE cudal1.job SET priority = 0;
SELECT pg_temp.claims(:d1, 1) \g /dev/null
SELECT job_id AS j, attempt AS n, (job #>> '{candidate,candidate_id}')::bigint AS c FROM cudal1.claim(:d1, 'w') \gset
SELECT is(:c::bigint, :shared::bigint, 'it waits for no backlog of the other');
SELECT is(pg_temp.claims(:d2, 60), repeat('x', 48), 'and is measured once');
SELECT cudal1.finish(:j, :n, '{"outcome": "unverified"}') \g /dev/null
SELECT is((SELECT string_agg(failures::text, ' ') FROM cudal1.job WHERE candidate_id = :shared), '1 1', 'its attempts are one count');
SELECT job_id AS j, attempt AS n, (job #>> '{candidate,candidate_id}')::bigint AS c FROM cudal1.claim(:d1, 'w') \gset
SELECT is(:c::bigint, :shared::bigint, 'it is tried again');
SELECT cudal1.finish(:j, :n, '{"outcome": "crash"}') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.job WHERE candidate_id = :shared), 0::bigint, 'its verdict ends the jobs of all');

-- of two that want a candidate one gives it up
SET SESSION AUTHORIZATION turn_anna;
SELECT cudal1_submit('t', 'both 1') AS one, cudal1_submit('t', 'both 2') AS two \gset
SET SESSION AUTHORIZATION turn_bert;
SELECT cudal1_submit('t', 'both 1'), cudal1_submit('t', 'both 2') \g /dev/null
SELECT is(cudal1_cancel(ARRAY[:one]), 0::bigint, 'a candidate that another trainer waits for is not cancelled');
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(trainer, ' ') FROM cudal1.job WHERE candidate_id = :one), 'turn_anna', 'and waits in the turn of that one');
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d1, 'w') \gset
UPDATE cudal1.job SET cancel_requested = true WHERE job_id = :j;
SELECT candidate_id AS c FROM cudal1.job WHERE job_id = :j \gset
INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, trainer)
	SELECT kind, task_id, candidate_id, profile, device, cores, language, 'turn_carl' FROM cudal1.job WHERE job_id = :j;
SELECT cudal1.finish(:j, :n, '{"outcome": "cancelled"}') \g /dev/null
SELECT is((SELECT state FROM cudal1.candidate WHERE candidate_id = :c), 'queued', 'what is cancelled while it is measured for one is measured for another');
SELECT is((SELECT string_agg(trainer, ' ') FROM cudal1.job WHERE candidate_id = :c AND state = 'queued' AND trainer = 'turn_carl'), 'turn_carl', 'by that one''s job');

-- jobs whose transaction did not see the verdict
SELECT pg_temp.clear() \g /dev/null
SET SESSION AUTHORIZATION turn_anna;
SELECT cudal1_submit('t', 'over') AS over, cudal1_submit('t', 'dropped') AS dropped \gset
RESET SESSION AUTHORIZATION;
UPDATE cudal1.candidate SET state = 'failed', failure = 'crash', reward = 0, decided_at = now() WHERE candidate_id = :over;
UPDATE cudal1.candidate SET state = 'discarded', failure = 'cancelled', decided_at = now() WHERE candidate_id = :dropped;
SELECT is((SELECT (x.job #>> '{candidate,candidate_id}')::bigint FROM cudal1.claim(:d1, 'w') AS x), :dropped::bigint, 'a candidate that was discarded meanwhile is measured');
SELECT is((SELECT concat_ws(' ', state, failure) FROM cudal1.candidate WHERE candidate_id = :dropped), 'measuring', 'as if it were new');
SELECT is((SELECT count(*) FROM cudal1.job WHERE candidate_id = :over), 0::bigint, 'one that has its verdict is not');

-- places: an unpinned task waits with the class, a pinned one with the model
SELECT pg_temp.clear() \g /dev/null
UPDATE cudal1.task SET device_model = 'M' WHERE name = 't';
SELECT pg_temp.submit('turn_anna', 't', 'p', 100) \g /dev/null
SELECT pg_temp.submit('turn_bert', 'u', 'q', 4) \g /dev/null
SELECT is(pg_temp.claims(:d1, 8), 'pqpqpqpq', 'turns hold across the class and the model');
-- and across languages and cores
SELECT pg_temp.clear() \g /dev/null
SELECT cudal1_add_task('k', 'void solve(float *x) {}', 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [4], "role": "inout"}]}', options => '{"device": "cpu"}'),
	cudal1_add_task('w', 'class Model: pass # wide', 'pytorch', options => '{"device": "cpu", "cores": 2}') \g /dev/null
SELECT pg_temp.submit('turn_anna', 'w', 'w', 20), pg_temp.submit('turn_anna', 'k', 'k', 20), pg_temp.submit('turn_anna', 'u', 'z', 20) \g /dev/null
SELECT pg_temp.submit('turn_bert', 'k', 's', 4) \g /dev/null
SELECT is(pg_temp.claims(:d5, 44), repeat('ws', 4) || repeat('w', 16) || repeat('k', 20), 'turns hold across languages and cores');

-- levels order a trainer's own jobs
SELECT pg_temp.clear() \g /dev/null
SELECT pg_temp.submit('turn_anna', 't', 'l', 5), pg_temp.submit('turn_anna', 'u', 'h', 20, 5) \g /dev/null
SELECT is(pg_temp.claims(:d1, 25), repeat('h', 20) || repeat('l', 5), 'the more urgent level of a trainer goes first');
SELECT pg_temp.clear() \g /dev/null
SELECT pg_temp.submit('turn_anna', 't', 'F', 300, 1000000000) \g /dev/null
SELECT is(pg_temp.claims(:d1, 1), 'F', 'one of 300 jobs of priority 1e9 is under way');
SELECT pg_temp.submit('turn_bert', 't', 'O', 1) \g /dev/null
SELECT is(pg_temp.claims(:d1, 2), 'OF', 'they hold no job of another trainer beyond it');
SELECT pg_temp.submit('turn_bert', 't', 'P', 3, -1000000000) \g /dev/null
SELECT is(pg_temp.claims(:d1, 6), 'PFPFPF', 'however little urgent that is for itself');

-- weights
SELECT pg_temp.clear() \g /dev/null
SELECT cudal1_set_weight('turn_anna', 3) \g /dev/null
SELECT pg_temp.submit('turn_anna', 't', 'aaa', 100) \g /dev/null
SELECT pg_temp.submit('turn_bert', 't', 'bbb', 100) \g /dev/null
SELECT is(length(replace(replace(pg_temp.claims(:d1, 80), 'bbb', ''), 'aaa', 'a')), 60, 'claims are divided by weights');
SELECT cudal1_set_weight('turn_anna', 1) \g /dev/null
SELECT throws_ok($$SELECT cudal1_set_weight('turn_anna', 'NaN')$$, '22023', NULL, 'which are numbers');
SELECT throws_ok($$SELECT cudal1_set_weight('turn_nobody', 2)$$, '42704', NULL, 'of roles that exist');
SET SESSION AUTHORIZATION turn_anna;
SELECT throws_ok($$SELECT cudal1_set_weight('turn_anna', 2)$$, '42501', NULL, 'and not a trainer''s to set');
RESET SESSION AUTHORIZATION;

-- nothing is saved up by waiting
SELECT pg_temp.clear() \g /dev/null
SELECT pg_temp.submit('turn_anna', 't', 'aaaa', 100) \g /dev/null
SELECT pg_temp.submit('turn_bert', 't', 'bbbb', 50) \g /dev/null
UPDATE cudal1.job SET cores = 1000 WHERE trainer = 'turn_bert';
SELECT is(pg_temp.claims(:d1, 4), repeat('aaaa', 4), 'one trainer works while the jobs of another are not due');
UPDATE cudal1.job SET cores = 1;
SELECT is(pg_temp.claims(:d1, 5), 'bbbbaaaabbbbaaaabbbb', 'which has no more than its share afterwards');
DELETE FROM cudal1.job WHERE trainer = 'turn_bert';
SELECT is(pg_temp.claims(:d1, 10), repeat('aaaa', 10), 'one trainer works alone');
SELECT pg_temp.submit('turn_bert', 't', 'bbbbb', 50) \g /dev/null
SELECT is(pg_temp.claims(:d1, 4), 'bbbbbaaaabbbbbaaaa', 'and so has one that comes back');

-- what no trainer asked for
SELECT pg_temp.clear() \g /dev/null
SELECT pg_temp.submit('turn_anna', 't', 'work', 400) \g /dev/null
SELECT cudal1_add_task('v' || g, 'class Model: pass # ' || g, 'pytorch', options => '{"device": "cpu", "certify": true}') FROM generate_series(1, 6) AS g \g /dev/null
SELECT is((SELECT string_agg(DISTINCT trainer, ',') FROM cudal1.job WHERE profile = 'certify'), '', 'checks of references are nobody''s jobs');
SELECT is((SELECT count(*) FILTER (WHERE x.job #>> '{profile,name}' = 'certify') FROM generate_series(1, 27) AS g, LATERAL (SELECT c.job FROM cudal1.claim(:d1, 'w' || g * 0) AS c OFFSET 0) AS x),
	3::bigint, 'they get an eighth of a share');
SELECT pg_temp.clear() \g /dev/null

-- one of many trainers
SELECT pg_temp.submit('turn_anna', 't', 'many', 400) \g /dev/null
UPDATE cudal1.job SET trainer = 'turn ' || lpad((job_id % 40)::text, 2, '0') WHERE state = 'queued';
SELECT pg_temp.claims(:d1, 60) \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.turn WHERE device_id = :d1), 40::bigint, 'every trainer that waits is found');
SELECT pg_temp.submit('turn_bert', 'u', 'late', 1) \g /dev/null
SELECT is(pg_temp.claims(:d1, 1), 'late', 'one that comes to forty is the next');
SELECT is(pg_temp.claims(:d1, 40) || 'x', repeat('many', 40) || 'x', 'and they for each other');

-- what is not for this device does not disturb the order beneath
SELECT pg_temp.clear() \g /dev/null
SELECT pg_temp.submit('turn_anna', 't', 'e', 30, 7), pg_temp.submit('turn_anna', 't', 'f', 10) \g /dev/null
SELECT pg_temp.submit('turn_bert', 't', 'g', 10) \g /dev/null
UPDATE cudal1.job SET cores = 1000 WHERE priority = 7;
SELECT is(pg_temp.claims(:d1, 6), 'fgfgfg', 'turns go on beneath a level that is not due');
UPDATE cudal1.job SET cores = 1;
SELECT is(pg_temp.claims(:d2, 6), 'egegeg', 'which goes first when it is');
UPDATE cudal1.job SET cores = 1000 WHERE priority = 7;
UPDATE cudal1.job SET cores = 4 WHERE trainer = 'turn_anna' AND priority = 0 AND state = 'queued';
SELECT is(pg_temp.claims(:d1, 2), 'gg', 'a trainer none of whose jobs fits is passed over');
UPDATE cudal1.job SET cores = 1 WHERE priority <> 7;
SELECT is(pg_temp.claims(:d1, 4), 'fgfg', 'and has its turn again when one does');

-- the worker's own jobs belong to who asked for them
SELECT pg_temp.clear() \g /dev/null
SET SESSION AUTHORIZATION turn_anna;
SELECT cudal1_submit('v', 'good') AS c \gset
RESET SESSION AUTHORIZATION;
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d1, 'w') \gset
SELECT cudal1.finish(:j, :n, '{"outcome": "successful", "score": 5}') \g /dev/null
SELECT is((SELECT kind || ' ' || trainer FROM cudal1.job), 'verify turn_anna', 'a verification is in the turn of the candidate''s trainer');

SELECT is((SELECT count(*) FROM cudal1.turn AS t WHERE NOT EXISTS (SELECT FROM cudal1.device AS d WHERE d.device_id = t.device_id)), 0::bigint, 'turns are of devices');
SELECT is((SELECT relpersistence::text FROM pg_class WHERE oid = 'cudal1.turn'::regclass), 'u', 'and cost no log');
SELECT is((SELECT count(*) FROM pg_extension WHERE extname = 'cudal1' AND 'cudal1.turn'::regclass = ANY (extconfig)), 0::bigint, 'nor a place in dumps');
