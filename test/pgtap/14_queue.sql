-- The queue: who gets what, what a result does, and that nobody reports for another.
SELECT plan(106);

SELECT cudal1_add_task(name, 'class Model: pass', 'pytorch', options => options::jsonb)
FROM (VALUES ('t', '{}'), ('wide', '{"cores": 2}')) AS v (name, options) \g /dev/null
SELECT cudal1_add_task('c', 'void solve(float *x) {}', 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [4], "role": "inout"}]}') \g /dev/null
CREATE FUNCTION pg_temp.device(key text, model text DEFAULT 'M', class text DEFAULT 'cpu', languages text[] DEFAULT '{pytorch}', cores int DEFAULT 1) RETURNS bigint LANGUAGE sql AS $$
	SELECT cudal1.register_device('h', jsonb_build_object('key', key, 'class', class, 'model', model, 'languages', to_jsonb(languages), 'cores', cores))
$$;

-- devices
SELECT pg_temp.device('cpu:1') AS d1 \gset
SELECT is(pg_temp.device('cpu:1', cores => 1), :d1::bigint, 'a device registers once');
SELECT is((SELECT device_key FROM cudal1.device WHERE device_id = :d1), 'h cpu:1', 'its key names the host');
SELECT throws_ok(format('SELECT cudal1.register_device(%L, %L)', host, device), '22023', NULL, 'no device: ' || coalesce(device, 'NULL'))
FROM (VALUES ('h', NULL), ('h', '[]'), ('', '{"key": "a", "class": "cpu", "model": "M", "languages": []}'), ('h', '{"class": "cpu", "model": "M", "languages": []}'),
	('h', '{"key": "a", "class": "tpu", "model": "M", "languages": []}'), ('h', '{"key": "a", "class": "cpu", "languages": []}'),
	('h', '{"key": "a", "class": "cpu", "model": "cuda", "languages": []}'), ('h', '{"key": "a", "class": "cpu", "model": "M", "languages": ["go"]}'),
	('h', '{"key": "a", "class": "cpu", "model": "M", "languages": "c"}'), ('h', '{"key": "a", "class": "cpu", "model": "M", "languages": [], "cores": 0}'))
	AS v (host, device);

-- claiming
SELECT is((SELECT count(*) FROM cudal1.claim(:d1, 'w')), 0::bigint, 'an empty queue gives no row');
SELECT throws_ok('SELECT * FROM cudal1.claim(-1, $$w$$)', '42704', NULL, 'an unknown device is an error');
SELECT throws_ok('SELECT * FROM cudal1.claim(' || :d1 || ', NULL)', '22023', NULL, 'so is a worker without a name');
SELECT cudal1_submit('c', 'other language') AS c \gset
SELECT cudal1_submit('wide', 'two cores') AS wide \gset
SELECT cudal1_submit('t', 'first') AS a \gset
SELECT cudal1_submit('t', 'second') AS b \gset
SELECT cudal1_submit('t', 'urgent', priority => 1) AS u \gset
SELECT job_id AS job, attempt, job AS document FROM cudal1.claim(:d1, 'w1') \gset
SELECT is(:'document'::jsonb #>> '{candidate,code}', 'urgent', 'the most urgent first');
SELECT is(tap.state(:u), 'measuring', 'it is being measured');
SELECT results_eq(format('SELECT %L::jsonb - ARRAY[''task'', ''profile'']', :'document'),
	format($$SELECT jsonb_build_object('job_id', %s, 'attempt', 1, 'kind', 'measure', 'candidate', jsonb_build_object('candidate_id', %s, 'code', 'urgent'),
		'device', jsonb_build_object('key', 'cpu:1', 'class', 'cpu'))$$, :job, :u), 'the job holds what the runner needs');
SELECT results_eq(format('SELECT %L::jsonb -> ''profile''', :'document'), $$SELECT to_jsonb(p) FROM cudal1.profile AS p WHERE name = 'default'$$, 'with the whole profile');
SELECT results_eq(format('SELECT %L::jsonb -> ''task''', :'document'),
	$$SELECT jsonb_build_object('task_id', task_id, 'name', 't', 'language', 'pytorch', 'reference', 'class Model: pass', 'signature', NULL, 'cores', 1, 'rtol', NULL, 'atol', NULL, 'probes', NULL, 'certify', true)
		FROM cudal1.task WHERE name = 't'$$, 'and the task');
SELECT results_eq('SELECT task, device, worker, kind, phase FROM cudal1.activity', $$VALUES ('t', 'h cpu:1', 'w1', 'measure', NULL::text)$$, 'cudal1.activity shows it');

-- heartbeats
SELECT is(cudal1.heartbeat(:job, :attempt, '{"type": "progress", "phase": "measuring", "pairs": 2, "rounds": 80, "estimate": 1.31, "lower": 1.28, "upper": 1.33, "seconds_left": 2.5}'), 'continue', 'a heartbeat goes on');
SELECT results_eq('SELECT phase, pairs, rounds, estimate, lower, upper, seconds_left FROM cudal1.activity',
	$$VALUES ('measuring', 2, 80, 1.31::float8, 1.28::float8, 1.33::float8, 2.5::float8)$$, 'its progress is seen');
SELECT is(cudal1.heartbeat(:job, :attempt, '{"phase": 7, "pairs": "x", "rounds": 1e99, "estimate": []}'), 'continue', 'nonsense is left out');
SELECT results_eq('SELECT phase, pairs, rounds, estimate FROM cudal1.activity', $$VALUES ('measuring', 2, 80, 1.31::float8)$$, 'and changes nothing');
SELECT is(cudal1.heartbeat(:job, :attempt + 1), 'lost', 'of another attempt it is lost');
SELECT is(cudal1.heartbeat(-1, 1), 'lost', 'as that of no job');

-- a score
SELECT is(cudal1.finish(:job, :attempt + 1, '{"outcome": "successful", "score": 9}'), 'lost', 'the result of another attempt is fenced off');
SELECT is((SELECT count(*) FROM cudal1.measurement), 0::bigint, 'and leaves nothing');
SELECT is(cudal1.finish(:job, :attempt, '{"type": "result", "outcome": "successful", "detail": null, "score": 1.3127, "lower": 1.305, "upper": 1.321, "half_width": 0.006, "wide": false, "variance": 1e-5, "pairs": 7,
	"rounds": 280, "bucket_means": [1.31, 1.32], "samples": [[1.30, 1.32], [1.31]], "reference_seconds": 1.1e-4, "candidate_seconds": 8.4e-5, "checks": 140, "max_error": 0.02,
	"protocol": 2, "build_seconds": 0.2, "device_seconds": 4.9, "startup_seconds": 0.8, "clock_seconds": 3.5, "wall_seconds": 5.3, "environment": {"seed": "1"}, "evidence": {"d": 1}}'),
	'stored', 'a result is stored');
SELECT is(tap.state(:u), 'successful:1.31', 'the reward is rounded conservatively');
SELECT is(cudal1.finish(:job, :attempt, '{"outcome": "successful", "score": 9}'), 'lost', 'a second one is lost');
SELECT results_eq($$SELECT kind, attempt, device_model, profile, outcome, accepted, score, reward, lower, upper, half_width, wide, variance, pairs, rounds, bucket_means, reference_seconds, candidate_seconds, checks,
		max_error, protocol, build_seconds, device_seconds, startup_seconds, clock_seconds, wall_seconds, samples::text, environment::text, evidence::text FROM cudal1.measurement$$,
	$$VALUES ('measure', 1, 'M', 'default', 'successful', true, 1.3127::float8, 1.31::float8, 1.305::float8, 1.321::float8, 0.006::float8, false, 1e-5::float8, 7, 280, '{1.31,1.32}'::float8[], 1.1e-4::float8, 8.4e-5::float8,
		140, 0.02::float8, 2, 0.2::float8, 4.9::float8, 0.8::float8, 3.5::float8, 5.3::float8, '[[1.30, 1.32], [1.31]]', '{"seed": "1"}', '{"d": 1}')$$, 'every member has its column');
SELECT results_eq('SELECT wide, half_width FROM cudal1.candidate WHERE candidate_id = ' || :u, $$VALUES (false, 0.006::float8)$$, 'the candidate has its half-width, too');
SELECT is((SELECT measurement_id FROM cudal1.candidate WHERE candidate_id = :u), (SELECT measurement_id FROM cudal1.measurement), 'the candidate names what decided');
SELECT is((SELECT device_model FROM cudal1.task WHERE name = 't'), 'M', 'the task is pinned to the model');
SELECT is((SELECT device FROM cudal1.job WHERE candidate_id = :a), 'M', 'as are its waiting jobs');
SELECT is((SELECT sum(codes) FROM cudal1.bucket), 1::numeric, 'a bucket holds the candidate');
SELECT is((SELECT count(*) FROM cudal1.job WHERE candidate_id = :u), 0::bigint, 'its job is gone');

-- other models, other languages, more cores
SELECT pg_temp.device('gpu', 'G', 'cuda') AS gpu \gset
SELECT pg_temp.device('cpu:2', 'N') AS d2 \gset
SELECT is((tap.work(:gpu, NULL)).candidate_id, NULL, 'another class gets nothing');
SELECT is((tap.work(:d2, NULL)).candidate_id, NULL, 'nor does another model');
SELECT is((SELECT count(*) FROM cudal1.claim(:d1, 'w') AS x WHERE x.job #>> '{task,name}' <> 't'), 0::bigint, 'nor does who has too few cores or not the language');
SELECT is((SELECT j.candidate_id FROM cudal1.job AS j WHERE state = 'running'), :a::bigint, 'among equals the oldest goes first');
SELECT cudal1_enable_device('h cpu:1', false) \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.claim(:d1, 'w')), 0::bigint, 'a disabled device gets nothing');
SELECT is(pg_temp.device('cpu:1'), :d1::bigint, 'it may register again');
SELECT is((SELECT enabled FROM cudal1.device WHERE device_id = :d1), false, 'and stays disabled');
SELECT cudal1_enable_device('h cpu:1', true) \g /dev/null

-- giving back
SELECT job_id AS job, attempt FROM cudal1.job WHERE candidate_id = :a \gset
SELECT is(cudal1.release(:job, :attempt), 'released', 'a claim can be given back');
SELECT is(tap.state(:a), 'queued', 'its candidate waits again');
SELECT is((SELECT failures FROM cudal1.job WHERE job_id = :job), 0, 'and has not failed');
SELECT is(cudal1.release(:job, :attempt), 'lost', 'once');
SELECT is(cudal1.finish(:job, :attempt, '{"outcome": "successful", "score": 9}'), 'lost', 'a result after that is lost');
SELECT attempt AS second FROM cudal1.claim(:d1, 'w2') \gset
SELECT is(:second, 2, 'the next claim has the next number');
SELECT is(cudal1.finish(:job, 1, '{"outcome": "successful", "score": 9}'), 'lost', 'the first one stays fenced off');

-- leases
SELECT is(cudal1.expire_leases(), 0::bigint, 'a lease holds');
SELECT is(cudal1.heartbeat(:job, 2, lease => '-1 second'), 'continue', 'until it ends');
SELECT is(cudal1.expire_leases(), 1::bigint, 'then the job is taken back');
SELECT results_eq('SELECT state, failures FROM cudal1.job WHERE job_id = ' || :job, $$VALUES ('queued', 1)$$, 'with a failure');
SELECT is(cudal1.heartbeat(:job, 2), 'lost', 'its worker is fenced off');
SELECT is((tap.work(:d1, '{"outcome": "lost", "detail": "no sandbox"}')).state, 'queued', 'a lost measurement is tried again');
SELECT is((tap.work(:d1, '{"outcome": "lost", "detail": "no sandbox"}')).state, 'discarded:lost', 'as often as the profile allows');
SELECT is((SELECT detail FROM cudal1.candidate WHERE candidate_id = :a), 'no sandbox', 'with what was said last');
SELECT is((SELECT count(*) FROM cudal1.measurement WHERE outcome = 'lost'), 2::bigint, 'each run is recorded');
SELECT is(cudal1_submit('t', 'first'), :a::bigint, 'submitted again');
SELECT is((SELECT failures FROM cudal1.job WHERE candidate_id = :a), 0, 'it has all its attempts');
SELECT is(cudal1_cancel(ARRAY[:a]), 1::bigint, 'and is cancelled');

-- failures are final at once
SELECT is((tap.work(:d1, '{"outcome": "wrong_output", "detail": "x"}')).state, 'failed:wrong_output:0', 'wrong output fails') WHERE tap.state(:b) = 'queued';
SELECT is((tap.work(:d1, jsonb_build_object('outcome', o))).state, 'failed:' || o || ':0', o || ' fails')
FROM unnest(ARRAY['compile_error', 'launch_failure', 'timeout', 'crash', 'cheat']) AS o, LATERAL (SELECT cudal1_submit('t', 'fails by ' || o)) AS s;
SELECT is((SELECT bool_and(accepted AND reward = 0) FROM cudal1.measurement WHERE outcome IN ('wrong_output', 'compile_error', 'cheat')), true, 'their measurements decided');

-- wide intervals, and what the paper discards
SELECT cudal1_submit('t', 'wide') AS n \gset
SELECT is((tap.work(:d1, '{"outcome": "successful", "score": 1.236, "lower": 1.236, "upper": 1.9, "half_width": 0.24, "wide": true, "detail": "the lower end"}')).state,
	'successful:1.23', 'a wide interval is paid at once');
SELECT results_eq('SELECT c.wide, c.half_width, c.detail, m.wide, m.half_width, m.outcome FROM cudal1.candidate AS c JOIN cudal1.measurement AS m USING (measurement_id)
	WHERE c.candidate_id = ' || :n, $$VALUES (true, 0.24::float8, 'the lower end', true, 0.24::float8, 'successful')$$, 'and marked, with its half-width and the reason');
SELECT results_eq($$SELECT wide FROM cudal1.stat_task WHERE task = 't' UNION ALL SELECT wide FROM cudal1.stat_device WHERE device = 'h cpu:1'$$, ARRAY[1, 1]::bigint[],
	'as statistics show');
SELECT results_eq($$SELECT candidate_id, wide FROM cudal1_top_tasks() WHERE task = 't'$$, format('VALUES (%s::bigint, false)', :u), 'reports mark it: another one is the best');
SELECT throws_ok($$UPDATE cudal1.candidate SET wide = true WHERE state = 'failed'$$, '23514', NULL, 'no failed candidate is wide');
SELECT cudal1_add_task('strict', 'class Model: pass', 'pytorch', options => '{"profile": "paper", "device": "cpu"}') \g /dev/null
SELECT cudal1_submit('strict', 'unstable') AS n \gset
SELECT is((tap.work(:d1, '{"outcome": "unstable", "score": 1.5, "lower": 1.2, "upper": 1.9}')).state, 'discarded:unverified',
	'what the paper''s limit on the variance discards is discarded');
SELECT is((SELECT count(*) FROM cudal1.measurement WHERE outcome = 'unstable' AND reward IS NULL), 1::bigint, 'at once, without a reward');

-- results that are none
SELECT cudal1_submit('t', 'result ' || n, deadline => now() + interval '1 hour') FROM generate_series(1, 20) AS n \g /dev/null
SELECT matches((tap.work(:d1, r::jsonb)).state, '^(queued|discarded:lost)$', 'malformed counts as lost: ' || left(r, 60))
FROM unnest(ARRAY['[]', 'null', '"x"', '{}', '{"outcome": "great"}', '{"outcome": "successful"}', '{"outcome": "successful", "score": "2"}', '{"outcome": "successful", "score": 0}',
	'{"outcome": "successful", "score": -1}', '{"outcome": "successful", "score": 1e400}', '{"outcome": "successful", "score": 2, "lower": 3, "upper": 1}', '{"outcome": "successful", "score": 2, "pairs": 1.5}',
	'{"outcome": "successful", "score": 2, "rounds": 1e10}', '{"outcome": "successful", "score": 2, "bucket_means": [1, "x"]}', '{"outcome": "successful", "score": 2, "bucket_means": [1, 0]}', '{"outcome": "successful", "score": 2, "samples": [1]}',
	'{"outcome": "successful", "score": 2, "samples": [["x"]]}', '{"outcome": "successful", "score": 2, "environment": []}', '{"outcome": "successful", "score": 2, "wide": 1}', '{"outcome": "successful", "score": 2, "wide": true}',
	'{"outcome": "successful", "score": 2, "half_width": -1}']) AS r;
SELECT is((SELECT count(*) FROM cudal1.measurement WHERE outcome = 'lost' AND detail LIKE 'malformed result: %'), 21::bigint, 'each says what is wrong');
SELECT is((cudal1.read_result(jsonb_build_object('outcome', 'crash', 'detail', repeat('é', 3000)))).detail, repeat('é', 2000), 'a detail is cut at 2000 characters');
SELECT is((tap.work(:d1, jsonb_build_object('outcome', 'crash', 'detail', repeat('é', 5000)))).state, 'failed:crash:0', 'a long detail is stored');

-- workers that died
TRUNCATE cudal1.job;
SELECT cudal1_submit('t', 'died ' || n) FROM generate_series(1, 3) AS n \g /dev/null
UPDATE cudal1.job SET state = 'running', worker = 'server worker', login = current_user, device_id = :d1, lease_until = '-infinity',
	attempt = CASE code WHEN 'died 1' THEN 10 ELSE 1 END, failures = CASE code WHEN 'died 1' THEN 0 ELSE 2 END FROM cudal1.candidate AS c WHERE c.candidate_id = job.candidate_id;
SELECT is(cudal1.take_back('server', 'server new worker'), 3::bigint, 'what dead workers had is taken back');
SELECT is((SELECT string_agg(concat_ws(' ', code, j.state, j.failures), ', ' ORDER BY code) FROM cudal1.job AS j JOIN cudal1.candidate USING (candidate_id)),
	'died 1 queued 1, died 2 queued 2, died 3 queued 2', 'a job that saw ten of them counts it, and no other does, though all leases have ended');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code LIKE 'died %' AND state = 'discarded'), 0::bigint, 'so no candidate is lost');
