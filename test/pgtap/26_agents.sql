-- What agents can do to claims and devices: report on claims of their own login, and measure on devices of
-- their own login.
SELECT plan(20);
CREATE ROLE agents_1;
CREATE ROLE agents_2;
CREATE ROLE agents_member;
CREATE ROLE agents_trainer;
GRANT agents_1 TO agents_member;
SELECT cudal1_grant(r::name, k) FROM (VALUES ('agents_1', 'agent'), ('agents_2', 'agent'), ('agents_member', 'agent'), ('agents_trainer', 'trainer')) AS v (r, k) \g /dev/null
GRANT USAGE ON SCHEMA public, cudal1 TO agents_1, agents_2, agents_member;

CREATE FUNCTION pg_temp.device(role text, host text, key text DEFAULT 'cpu:1') RETURNS text LANGUAGE sql AS $$
	SELECT tap.by(role, format('SELECT cudal1.register_device(%L, %L)', host, jsonb_build_object('key', key, 'class', 'cpu', 'model', 'M', 'languages', '{pytorch}'::text[])))
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
SELECT is(tap.by('agents_2', call), '42501', 'another login does not report: ' || substring(call FROM 'cudal1\.\w+'))
FROM (VALUES (format('SELECT cudal1.heartbeat(%s, %s, ''{"phase": "timed"}'')', :job, :attempt)),
			 (format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 9}'')', :job, :attempt)),
			 (format('SELECT cudal1.release(%s, %s)', :job, :attempt))) AS c (call);
SELECT is(pg_temp.things(), :'before'::text, 'none of which changed anything');
SELECT is(tap.by('agents_1', format('SELECT cudal1.heartbeat(%s, %s, lease => ''-1 second'')', :job, :attempt)), 'continue', 'its own login does');

-- an earlier claim
SELECT cudal1.expire_leases() \g /dev/null
SET LOCAL ROLE agents_1;
SELECT job_id AS again, attempt AS attempt3 FROM cudal1.claim(:d1, 'w') \gset
RESET ROLE;
SELECT is(:again::bigint, :job::bigint, 'the job is claimed again');
SELECT is(tap.by('agents_1', format('SELECT cudal1.heartbeat(%s, %s)', :job, :attempt)), 'lost', 'the first claim is fenced off');
SELECT is(tap.by('agents_2', format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 9}'')', :job, :attempt)), 'lost', 'for all');
SELECT is(tap.by('agents_1', format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 9}'')', :job, :attempt)), 'lost', 'and its result is lost');
SELECT is(tap.by('agents_1', format('SELECT cudal1.finish(%s, %s, ''{"outcome": "successful", "score": 1.2}'')', :job, :attempt3)), 'stored', 'the second one reports');

-- devices
SELECT is(pg_temp.device('agents_2', 'one'), '42501', 'another login does not register the device');
SELECT is(tap.by('agents_2', format('SELECT count(*) FROM cudal1.claim(%s, ''w'')', :d1)), '42501', 'nor claims for it');
SELECT is(tap.by('agents_2', 'SELECT cudal1.take_back(''w'', '''')'), '0', 'nor takes its jobs back');
SELECT is((SELECT concat_ws(' ', owner, model) FROM cudal1.device WHERE device_id = :d1), 'agents_1 M', 'it stays as it is');
SELECT is(pg_temp.device('agents_member', 'one'), :'d1'::text, 'a member of the role that owns it registers it');
SELECT is((SELECT owner FROM cudal1.device WHERE device_id = :d1), 'agents_1', 'which goes on owning it');
SELECT cudal1_submit('t', 'c') \g /dev/null
SELECT tap.by('agents_1', format('SELECT count(*) FROM cudal1.claim(%s, ''server w'')', :d1)) \g /dev/null
SELECT is(tap.by('agents_2', 'SELECT cudal1.take_back(''server'', '''')'), '0', 'what bears a name that another has made up is not taken back');
SELECT is(tap.by('agents_1', 'SELECT cudal1.take_back(''server'', '''')'), '1', 'but by the login that claimed it');
SELECT is(cudal1.register_device('one', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}'), :d1::bigint, 'an operator registers it');
SELECT is(pg_temp.device('agents_1', 'one'), '42501', 'and has it from then on');
UPDATE cudal1.device SET owner = 'agents_1' WHERE device_id = :d1;
