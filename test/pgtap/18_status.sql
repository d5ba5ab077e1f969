-- cudal1_status() and the views: what is missing is named, with a way to mend it.
SELECT plan(37);

CREATE FUNCTION pg_temp.status(wanted text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(value || coalesce(' -> ' || hint, ''), '; ') FROM cudal1_status() WHERE item LIKE wanted
$$;
SELECT is(pg_temp.status('version'), (SELECT extversion FROM pg_extension WHERE extname = 'cudal1'), 'the version');
UPDATE pg_extension SET extversion = '0.0.1' WHERE extname = 'cudal1';
SELECT is(pg_temp.status('version'), format('0.0.1 -> Run ALTER EXTENSION cudal1 UPDATE; this server has version %s.', default_version), 'and that there is a newer one')
	FROM pg_available_extensions WHERE name = 'cudal1';
UPDATE pg_extension SET extversion = default_version FROM pg_available_extensions AS a WHERE extname = 'cudal1' AND a.name = 'cudal1';
SELECT ok(pg_temp.status('preload') LIKE CASE WHEN cudal1.preloaded() THEN 'yes' ELSE 'no -> Add cudal1 to shared\_preload\_libraries%' END, 'preloading');
SELECT ok(pg_temp.status('database') LIKE '%' || current_database() || '%', 'the database');
SELECT ok(NOT cudal1.preloaded() OR pg_temp.status('database') LIKE '%is not listed in cudal1.databases -> ALTER SYSTEM SET cudal1.databases = %', 'how it gets a worker')
	WHERE NOT EXISTS (SELECT FROM cudal1.worker_state() WHERE database = current_database());
SELECT is(pg_temp.status('foreign functions'), NULL, 'no function of others bears such a name');
CREATE FUNCTION public.cudal1_submit(text, text) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT ok(pg_temp.status('foreign functions') LIKE 'public.cudal1_submit(text,text) -> %', 'one that does is named');
DROP FUNCTION public.cudal1_submit(text, text);
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SELECT is(pg_temp.status('schema'), NULL, 'the schema is the owner''s alone');
GRANT CREATE ON SCHEMA public TO PUBLIC;
SELECT ok(pg_temp.status('schema') LIKE 'PUBLIC may create in schema public -> REVOKE CREATE ON SCHEMA public FROM PUBLIC;%', 'or others may create there');
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SELECT ok(pg_temp.status('devices') LIKE 'none -> %cudal1-measure --devices%', 'without a device it says how one comes');
SELECT is(pg_temp.status('queue'), '0 waiting, 0 running', 'an empty queue');

SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT ok(pg_temp.status('tasks in pytorch on cpu') LIKE 'no device can measure them -> They need an enabled device of class or model "cpu" with language pytorch and 1 core(s)%', 'tasks without a device');
SELECT cudal1_submit('t', 'a') AS a \gset
SELECT ok(pg_temp.status('queue') LIKE '1 waiting, 0 running, the oldest waiting for % -> 1 of them cannot be claimed now%', 'what cannot be claimed');
SELECT is((SELECT waits_for FROM cudal1.queue), 'no enabled device cpu with language pytorch and 1 core(s)', 'and why');

SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c"], "details": {"gcc": "12.2.0", "sandbox": "bubblewrap 0.8.0", "problems": ["PyTorch was not found"]}}') AS d \gset
SELECT ok(pg_temp.status('device h cpu:1') LIKE 'cpu, M, 1 core(s), languages: c; idle; seen % ago -> Problems: PyTorch was not found.', 'a device with its problems');
SELECT is(pg_temp.status('devices'), NULL, 'there are devices');
SELECT is(pg_temp.status('compilers on h'), 'gcc 12.2.0', 'compilers');
SELECT is(pg_temp.status('sandbox on h'), 'bubblewrap 0.8.0', 'the sandbox');
SELECT isnt(pg_temp.status('tasks in pytorch on cpu'), NULL, 'it does not measure pytorch');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c", "pytorch"], "details": {"sandbox": null}}') \g /dev/null
SELECT is(pg_temp.status('tasks in%'), NULL, 'a device that comes back with the language does');
SELECT is(pg_temp.status('sandbox on h'), 'none -> Install bubblewrap and allow unprivileged user namespaces.', 'a missing sandbox');
SELECT cudal1_enable_device('h cpu:1', false) \g /dev/null
SELECT ok(pg_temp.status('device h cpu:1') LIKE '%; disabled; % -> Enable it with SELECT cudal1\_enable\_device(''h cpu:1'', true).', 'a disabled device');
SELECT cudal1_enable_device('h cpu:1', true) \g /dev/null
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:d, 'w') \gset
SELECT ok(pg_temp.status('device h cpu:1') LIKE '%; measuring; %', 'a device at work');
SELECT is(pg_temp.status('queue'), '0 waiting, 1 running', 'and its job');
SELECT is(cudal1.heartbeat(:j, :n, lease => '-1 s'), 'continue', 'which falls silent');
SELECT is(pg_temp.status('queue'), '0 waiting, 1 running -> 1 claim(s) gave no sign of life in time; a living worker takes them over.', 'is told');
SELECT cudal1.finish(:j, :n, '{"outcome": "lost", "detail": "bwrap failed"}') \g /dev/null
SELECT is(pg_temp.status('lost or unverified'), '1 of the last 100 measurements, within an hour -> The last one said: bwrap failed', 'losses are told');

UPDATE cudal1.candidate SET purpose = 'reference' WHERE candidate_id = :a;
SELECT is(pg_temp.status('lost or unverified'), NULL, 'but not those of references that are checked');

-- a model that refuses
SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'm') \g /dev/null
SELECT prompt_id AS p FROM cudal1_prompt('t', kind => 'augment') \gset
SELECT cudal1_generate(:p, 'm', 2) \g /dev/null
SELECT is(pg_temp.status('model m'), NULL, 'no request has failed');
UPDATE cudal1.model SET not_before = clock_timestamp() + '1 hour 30 seconds' WHERE name = 'm';
UPDATE cudal1.request SET error = 'HTTP status 429: slow down';
SELECT matches(pg_temp.status('model m'), '^2 request.s. wait for it, which asked for 60 min more -> Its endpoint told to slow down: HTTP status 429: slow down.$', 'a model that is held is told');
SELECT cudal1_enable_model('m', false) \g /dev/null
SELECT is(pg_temp.status('model m'), '2 request(s) wait for it, which is disabled -> SELECT cudal1_enable_model(''m'', true) sends them.', 'and one that is disabled');
SELECT cudal1_enable_model('m', true) \g /dev/null
UPDATE cudal1.model SET not_before = '-infinity' WHERE name = 'm';
UPDATE cudal1.request SET state = 'failed', decided = true, finished_at = clock_timestamp(), error = 'HTTP status 401: no key';
SELECT is(pg_temp.status('model m'), '2 request(s) failed within an hour -> The last one said: HTTP status 401: no key. cudal1.request has each with its status.',
	'failed requests are told');
SELECT cudal1_grant(role, kind) FROM (VALUES ('pg_read_server_files'::name, 'agent')) AS v (role, kind) \g /dev/null
SET ROLE pg_read_server_files;
SELECT ok((SELECT count(*) FROM cudal1_status()) > 5, 'a role with any grant sees it');
RESET ROLE;
SELECT throws_like($$SELECT cudal1_grant('pg_read_server_fils', 'agent')$$, 'role "pg_read_server_fils" does not exist', 'a mistyped role');

-- one that waits without a job, among three thousand that are decided
INSERT INTO cudal1.candidate (task_id, code, code_hash, state, reward, decided_at)
	SELECT task_id, 'c', sha256(('many ' || g)::bytea), 'successful', 2, now() FROM cudal1.task, generate_series(1, 3000) AS g;
INSERT INTO cudal1.candidate (task_id, code, code_hash) SELECT task_id, 'c', sha256('one') FROM cudal1.task;
SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.candidate'::regclass \gset
SELECT is(pg_temp.status('undecided%'), '1 -> After a restore, SELECT cudal1_requeue() queues them again.', 'what has no job');
SELECT is(cudal1_requeue(), 1::bigint, 'gets one');
SELECT ok(idx_tup_fetch + seq_tup_read - :read < 500, format('by reading %s candidates', idx_tup_fetch + seq_tup_read - :read))
FROM pg_stat_xact_user_tables WHERE relid = 'cudal1.candidate'::regclass;
