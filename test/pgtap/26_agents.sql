-- What agents can do to claims and devices: report on claims of their own login, measure on devices of their own login; and where
-- a profile asks for it, their rewards are no exemplars until another login, host and device has confirmed them.
BEGIN;
SELECT plan(39);
CREATE ROLE agents_1;
CREATE ROLE agents_2;
CREATE ROLE agents_member;
CREATE ROLE agents_trainer;
GRANT agents_1 TO agents_member;
SELECT cudal1_grant(r::name, k) FROM (VALUES ('agents_1', 'agent'), ('agents_2', 'agent'), ('agents_member', 'agent'), ('agents_trainer', 'trainer')) AS v (r, k) \g /dev/null
GRANT USAGE ON SCHEMA public, cudal1 TO agents_1, agents_2, agents_member;

-- a statement by a role: what it returns, or its SQLSTATE
CREATE FUNCTION pg_temp.by(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer	text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', role);
	EXECUTE statement INTO answer;
	RESET ROLE;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RESET ROLE;
	RETURN SQLSTATE;
END
$$;
CREATE FUNCTION pg_temp.device(role text, host text, key text DEFAULT 'cpu:1') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.by(role, format('SELECT cudal1.register_device(%L, %L)', host, jsonb_build_object('key', key, 'class', 'cpu', 'model', 'M', 'languages', '{pytorch}'::text[])))
$$;
-- claims by a role for a device; what became of the candidate: '-' where there was nothing to do
CREATE FUNCTION pg_temp.work(role text, device text, score float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c		record;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', role);
	SELECT * INTO c FROM cudal1.claim(device::bigint, role || ' w');
	IF c.job_id IS NOT NULL THEN
		PERFORM cudal1.finish(c.job_id, c.attempt, jsonb_build_object('outcome', 'successful', 'score', score, 'lower', score * 0.99, 'upper', score * 1.01));
	END IF;
	RESET ROLE;
	RETURN coalesce((SELECT concat_ws(' ', x.state, x.failure, x.reward, CASE WHEN NOT x.confirmed THEN 'unconfirmed' END) FROM cudal1.candidate AS x
					 WHERE x.candidate_id = (c.job #>> '{candidate,candidate_id}')::bigint), '-');
END
$$;
CREATE FUNCTION pg_temp.placed(id bigint) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', (SELECT count(*) FROM cudal1.bucket_slot WHERE candidate_id = id),
		(SELECT count(*) FROM cudal1_sample_exemplars('careful', 100, 'bucket') WHERE candidate_id = id), (SELECT count(*) FROM cudal1_sample_exemplars('careful', 100, 'random') WHERE candidate_id = id),
		(SELECT count(*) FROM cudal1_sample_exemplars('careful', 100, 'island') WHERE candidate_id = id))
$$;
-- all that a report could change
CREATE FUNCTION pg_temp.things() RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(x::text, ' ' ORDER BY x::text)) FROM (SELECT to_jsonb(j) FROM cudal1.job AS j UNION ALL SELECT to_jsonb(c) FROM cudal1.candidate AS c
		UNION ALL SELECT to_jsonb(m) FROM cudal1.measurement AS m UNION ALL SELECT to_jsonb(t) FROM cudal1.turn AS t UNION ALL SELECT to_jsonb(d) FROM cudal1.device AS d) AS v (x)
$$;

-- claims
SELECT pg_temp.device('agents_1', 'one') AS d1, pg_temp.device('agents_2', 'two') AS d2 \gset
SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_submit('t', 'a') AS a, cudal1_submit('t', 'b') AS b \gset
SET LOCAL ROLE agents_1;
SELECT job_id AS job, attempt, job AS document FROM cudal1.claim(:d1, 'w') \gset
SET LOCAL ROLE agents_2;
SELECT job_id AS job2, attempt AS attempt2 FROM cudal1.claim(:d2, 'w') \gset
RESET ROLE;
SELECT pg_temp.things() AS before \gset
SELECT is(pg_temp.by('agents_2', call), '42501', 'another login does not report: ' || substring(call FROM 'cudal1\.\w+'))
FROM (VALUES (format('SELECT cudal1.heartbeat(%s, %s, ''{"phase": "timed"}'')', :job, :attempt)),
			 (format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 9}'')', :job, :attempt)),
			 (format('SELECT cudal1.release(%s, %s)', :job, :attempt))) AS c (call);
SELECT is(pg_temp.things(), :'before'::text, 'none of which changed anything');
SELECT is(pg_temp.by('agents_1', format('SELECT cudal1.heartbeat(%s, %s, lease => ''-1 second'')', :job, :attempt)), 'continue', 'its own login does');

-- an earlier claim
SELECT cudal1.expire_leases() \g /dev/null
SET LOCAL ROLE agents_1;
SELECT job_id AS again, attempt AS attempt3 FROM cudal1.claim(:d1, 'w') \gset
RESET ROLE;
SELECT is(:again::bigint, :job::bigint, 'the job is claimed again');
SELECT is(pg_temp.by('agents_1', format('SELECT cudal1.heartbeat(%s, %s)', :job, :attempt)), 'lost', 'the first claim is fenced off');
SELECT is(pg_temp.by('agents_2', format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 9}'')', :job, :attempt)), 'lost', 'for all');
SELECT is(pg_temp.by('agents_1', format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 9}'')', :job, :attempt)), 'lost', 'and its result is lost');
SELECT is(pg_temp.by('agents_1', format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 1.2}'')', :job, :attempt3)), 'stored', 'the second one reports');

-- devices
SELECT is(pg_temp.device('agents_2', 'one'), '42501', 'another login does not register the device');
SELECT is(pg_temp.by('agents_2', format('SELECT count(*) FROM cudal1.claim(%s, ''w'')', :d1)), '42501', 'nor claims for it');
SELECT is(pg_temp.by('agents_2', 'SELECT cudal1.take_back(''w'', '''')'), '0', 'nor takes its jobs back');
SELECT is((SELECT concat_ws(' ', owner, model) FROM cudal1.device WHERE device_id = :d1), 'agents_1 M', 'it stays as it is');
SELECT is(pg_temp.device('agents_member', 'one'), :'d1'::text, 'a member of the role that owns it registers it');
SELECT is((SELECT owner FROM cudal1.device WHERE device_id = :d1), 'agents_1', 'which goes on owning it');
SELECT cudal1_submit('t', 'c') \g /dev/null
SELECT pg_temp.by('agents_1', format('SELECT count(*) FROM cudal1.claim(%s, ''server w'')', :d1)) \g /dev/null
SELECT is(pg_temp.by('agents_2', 'SELECT cudal1.take_back(''server'', '''')'), '0', 'what bears a name that another has made up is not taken back');
SELECT is(pg_temp.by('agents_1', 'SELECT cudal1.take_back(''server'', '''')'), '1', 'but by the login that claimed it');
SELECT is(cudal1.register_device('one', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}'), :d1::bigint, 'an operator registers it');
SELECT is(pg_temp.device('agents_1', 'one'), '42501', 'and has it from then on');
UPDATE cudal1.device SET owner = 'agents_1' WHERE device_id = :d1;

-- rewards that wait for another word
SELECT cudal1_add_profile('careful', 'default', '{"agents_may_verify": false, "verify_above": 4, "verify_best_factor": 4, "verify_wait": "0"}', 'agents do not verify') \g /dev/null
SELECT is((SELECT bool_and(agents_may_verify) FROM cudal1.profile WHERE shipped), true, 'as shipped, agents may verify');
SELECT is((SELECT bool_and(confirmed) FROM cudal1.candidate WHERE state = 'successful'), true, 'what they measure is an exemplar then');
TRUNCATE cudal1.job;
UPDATE cudal1.candidate SET state = 'discarded', failure = 'cancelled', decided_at = now() WHERE state IN ('queued', 'measuring');
SELECT cudal1_add_task('careful', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "profile": "careful", "certify": false}') \g /dev/null
SELECT pg_temp.device('agents_1', 'three') AS d3, pg_temp.device('agents_2', 'one', 'cpu:2') AS d4 \gset
SELECT cudal1.register_device('server', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS own \gset
SELECT cudal1_submit('careful', 'a') AS a \gset
SELECT is(pg_temp.work('agents_1', :'d1', 1.5), 'successful 1.5 unconfirmed', 'an agent''s reward is paid');
SELECT is(pg_temp.placed(:a), '0 0 0 0', 'but is no exemplar');
SELECT is((SELECT count(*) FROM cudal1_bucket_stats('careful')), 0::bigint, 'and in no bucket');
SELECT is_empty('SELECT * FROM cudal1.recount()', 'of which a recount knows');
SELECT is(pg_temp.work('agents_1', :'d3', 1.5), '-', 'another host of the same login can''t confirm it');
SELECT is(pg_temp.work('agents_2', :'d4', 1.5), '-', 'nor another login on the same host');
SELECT is(pg_temp.work('agents_2', :'d2', 1.45), 'successful 1.45', 'another login on another host confirms it');
SELECT is(pg_temp.placed(:a), '1 1 1 1', 'and makes it an exemplar');
SELECT cudal1_submit('careful', 'b') AS b \gset
SELECT is(pg_temp.work('agents_1', :'d1', 3.2) || ', ' || pg_temp.work('agents_2', :'d2', 1.1), 'successful 3.2 unconfirmed, discarded unverified', 'agents that disagree');
SELECT cudal1_submit('careful', 'c') AS c \gset
SELECT is(pg_temp.work('agents_1', :'d1', 3.2) || ', ' || pg_temp.work(session_user::text, :'own', 1.1), 'successful 3.2 unconfirmed, successful 1.1', 'the word of an operator''s host holds');
SELECT is(left(pg_temp.placed(:c), 5), '1 1 1', 'and is an exemplar');
SELECT cudal1_submit('careful', 'd') AS d \gset
SELECT is(pg_temp.work(session_user::text, :'own', 1.3), 'successful 1.3', 'one of its own needs no other');
SELECT cudal1_submit('careful', 'e') AS e \gset
SELECT is(pg_temp.work('agents_1', :'d1', 8) || ', ' || pg_temp.work('agents_1', :'d3', 8), 'verifying, successful 8 unconfirmed', 'a login that verifies itself');
SELECT is(pg_temp.placed(:e), '0 0 0 0', 'makes no exemplar');
TRUNCATE cudal1.job;
SELECT is(cudal1_requeue(), 1::bigint, 'after a restore it is asked for again');
SELECT is(pg_temp.work('agents_2', :'d2', 7.9), 'successful 7.9', 'and confirmed');
SELECT is_empty('SELECT * FROM cudal1.recount()', 'buckets equal a recount');

SELECT * FROM finish();
ROLLBACK;
