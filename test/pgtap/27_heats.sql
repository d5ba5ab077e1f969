-- Heats: candidates of a task that are claimed together. Each has its own lease and verdict.
SELECT plan(34);

SELECT cudal1_add_profile('warm', 'quick', '{"group_most": 3}', 'three at once') \g /dev/null
SELECT throws_ok($$SELECT cudal1_add_profile('hot', 'quick', '{"group_most": 33}', 'x')$$, '22023', 'member "group_most" of changes is out of range', 'a heat has 32 members at most');
SELECT cudal1_add_task(name, 'class Model: pass # ' || name, 'pytorch', options => '{"profile": "warm"}') FROM unnest(ARRAY['t', 'other']) AS name \g /dev/null
SELECT cudal1_add_task('alone', 'class Model: pass', 'pytorch') \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
SELECT cudal1_submit('t', 'code ' || n) FROM generate_series(1, 5) AS n \g /dev/null
SELECT cudal1_submit('t', 'urgent', priority => 1) \g /dev/null
SELECT cudal1_submit('other', 'code') \g /dev/null

CREATE TEMP TABLE claimed (n int, round int, job_id bigint, attempt int, job jsonb);
CREATE FUNCTION pg_temp.claim(round int, most int DEFAULT 32) RETURNS bigint LANGUAGE sql AS $$
	INSERT INTO claimed SELECT n, round, job_id, attempt, job
		FROM cudal1.claim((SELECT device_id FROM cudal1.device WHERE class = 'cpu'), 'w', most => most) WITH ORDINALITY AS c (job_id, attempt, job, n);
	SELECT count(*) FROM claimed WHERE claimed.round = claim.round
$$;
CREATE FUNCTION pg_temp.finish(r int, which int, result jsonb) RETURNS text LANGUAGE sql AS
	'SELECT cudal1.finish(job_id, attempt, result) FROM claimed WHERE round = r AND n = which';

SELECT is(pg_temp.claim(1), 1::bigint, 'none is claimed with one of another priority');
SELECT is(job #>> '{candidate,code}', 'urgent', 'it is a job as ever') FROM claimed;
SELECT is(pg_temp.finish(1, 1, '{"outcome": "crash", "device_seconds": 1}'), 'stored', 'and ends as ever');

SELECT is(pg_temp.claim(2), 3::bigint, 'of one task as many as the profile says');
SELECT is(array_agg(c ->> 'code' ORDER BY c ->> 'job_id'), '{code 1,code 2,code 3}', 'the oldest, in one document')
FROM claimed, jsonb_array_elements(job -> 'candidates') AS c WHERE round = 2;
SELECT ok(bool_and((job IS NULL) = (n > 1)), 'which the first has') FROM claimed WHERE round = 2;
SELECT results_eq('SELECT DISTINCT heat FROM cudal1.activity', 'SELECT job_id FROM claimed WHERE round = 2 AND n = 1', 'cudal1.activity shows them together');
SELECT is(count(*), 3::bigint, 'all are being measured') FROM cudal1.candidate WHERE state = 'measuring';
SELECT is(due - started, 3::float8, 'each counts in its trainer''s turn') FROM cudal1.turn;

SELECT cudal1_cancel(ARRAY[candidate_id]) FROM cudal1.job JOIN claimed USING (job_id) WHERE round = 2 AND n = 2 \g /dev/null
SELECT is(array_agg(cudal1.heartbeat(job_id, attempt) ORDER BY n), '{continue,cancel,continue}', 'one is cancelled, and no other') FROM claimed WHERE round = 2;
SELECT is(pg_temp.finish(2, 1, '{"outcome": "wrong_output", "device_seconds": 1}'), 'stored', 'one ends');
SELECT is(pg_temp.finish(2, 2, '{"outcome": "cancelled"}'), 'stored', 'so does the cancelled one');
SELECT is(pg_temp.finish(2, 3, '{"outcome": "lost"}'), 'stored', 'and one that was lost');

SELECT cudal1.finish(job_id, attempt, '{"outcome": "crash", "device_seconds": 1}') FROM cudal1.claim(:d, 'w') \g /dev/null
UPDATE cudal1.job SET cores = 1 \g /dev/null
SELECT ok(pg_temp.claim(3) > 0, 'then others');
SELECT ok(bool_and(c.attempt = 1) OR count(*) = 1, 'what was claimed before is measured by itself') FROM claimed AS c WHERE round = 3;
SELECT is((SELECT cudal1.release(job_id, attempt) FROM claimed WHERE round = 3 AND n = 1), 'released', 'one can be given back');

SELECT cudal1_submit('alone', 'code ' || n) FROM generate_series(1, 3) AS n \g /dev/null
SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate JOIN cudal1.task USING (task_id) WHERE name <> 'alone' AND state IN ('queued') \g /dev/null
SELECT is(pg_temp.claim(4), 1::bigint, 'a profile without heats gives one job at a time');
SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE state = 'queued' \g /dev/null
SELECT cudal1.register_device('h', '{"key": "GPU-1", "class": "cuda", "model": "G", "languages": ["cuda", "pytorch"]}') AS gpu \gset
SELECT cudal1_add_task(device, 'class Model: pass', 'pytorch', options => json_build_object('profile', 'train', 'device', device)::jsonb) FROM unnest(ARRAY['cpu', 'cuda']) AS device \g /dev/null
SELECT cudal1_submit(task, 'code ' || n) FROM unnest(ARRAY['cpu', 'cuda']) AS task, generate_series(1, 17) AS n \g /dev/null
SELECT is(pg_temp.claim(5), 16::bigint, 'train measures sixteen together');
SELECT is(count(*), 16::bigint, 'on a GPU as well') FROM cudal1.claim(:gpu, 'w', most => 32);
SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE state = 'queued' \g /dev/null
SELECT cudal1_add_task('own', 'extern "C" void solve(const float *x, float *y) {}', 'cuda', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [16], "role": "in"}, {"name": "y", "dtype": "float32", "shape": [16], "role": "out"}]}', options => '{"profile": "train"}') \g /dev/null
SELECT cudal1_submit('own', 'code ' || n) FROM generate_series(1, 17) AS n \g /dev/null
SELECT is(count(*), 16::bigint, 'of CUDA code, too') FROM cudal1.claim(:gpu, 'w', most => 32);

-- devices without work have as many
SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE state = 'queued' \g /dev/null
SELECT cudal1.register_device('h', format('{"key": "GPU-%s", "class": "cuda", "model": "G", "languages": ["cuda", "pytorch"]}', n)::jsonb) FROM generate_series(2, 4) AS n \g /dev/null
UPDATE cudal1.device SET last_seen = now() - interval '1 minute' WHERE device_key = 'h GPU-4';
SELECT device_id AS gpu2 FROM cudal1.device WHERE device_key = 'h GPU-2' \gset
SELECT device_id AS gpu3 FROM cudal1.device WHERE device_key = 'h GPU-3' \gset
SELECT device_id AS gpu4 FROM cudal1.device WHERE device_key = 'h GPU-4' \gset
SELECT cudal1_submit('own', 'more ' || n) FROM generate_series(1, 15) AS n \g /dev/null
SELECT is(count(*), 1::bigint, 'a device that has work leaves the others to those that have none') FROM cudal1.claim(:gpu, 'w', most => 32);
SELECT is(count(*), 7::bigint, 'of 14 jobs one of two such devices takes 7') FROM cudal1.claim(:gpu2, 'w', most => 32);
SELECT is(count(*), 7::bigint, 'and the other one 7') FROM cudal1.claim(:gpu3, 'w', most => 32);
SELECT cudal1_submit('own', 'again ' || n) FROM generate_series(1, 17) AS n \g /dev/null
SELECT is(count(*), 16::bigint, 'one that was not seen for long gets none kept for it') FROM cudal1.claim(:gpu, 'w', most => 32);
SELECT is(count(*), 1::bigint, 'and takes what is left') FROM cudal1.claim(:gpu4, 'w', most => 32);
SELECT cudal1.register_device('h', '{"key": "GPU-5", "class": "cuda", "model": "G", "languages": ["cuda", "pytorch"]}') \g /dev/null
SELECT cudal1_submit('own', 'many ' || n) FROM generate_series(1, 40) AS n \g /dev/null
SELECT is(count(*), 16::bigint, 'of many jobs, one that has work takes what is left by heats of the others') FROM cudal1.claim(:gpu, 'w', most => 32);
-- jobs that are claimed ahead wait for what the device has
SELECT max(job_id) AS last FROM cudal1.job WHERE state = 'running' AND device_id = :gpu \gset
SELECT is(count(*), 1::bigint, 'behind it a job is claimed ahead') FROM cudal1.claim(:gpu, 'w');
UPDATE cudal1.job SET kind = 'evaluate' WHERE job_id = :last;
SELECT is(count(*), 0::bigint, 'behind an evaluation none') FROM cudal1.claim(:gpu, 'w');
UPDATE cudal1.job SET lease_until = '-infinity' WHERE state = 'running';
SELECT cmp_ok(cudal1.expire_leases(), '>=', 1::bigint, 'leases end one by one');

-- scores that are verified
SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE state = 'queued' \g /dev/null
SELECT cudal1_add_task('fast', 'class Model: pass', 'pytorch', options => '{"profile": "train", "device": "cpu"}') \g /dev/null
SELECT cudal1_submit('fast', 'code ' || n) FROM generate_series(1, 3) AS n \g /dev/null
SELECT is(pg_temp.claim(6), 3::bigint, 'three high scores');
SELECT cudal1.finish(job_id, attempt, '{"outcome": "successful", "score": 5, "device_seconds": 1}') FROM claimed WHERE round = 6 \g /dev/null
SELECT is(pg_temp.claim(7), 3::bigint, 'are verified together');
SELECT is(job ->> 'kind', 'verify', 'in one document') FROM claimed WHERE round = 7 AND n = 1;
SELECT cudal1.release(job_id, attempt) FROM claimed WHERE round = 7 \g /dev/null
UPDATE cudal1.job SET attempt = 0 WHERE kind = 'verify';
UPDATE cudal1.job SET priority = 0 WHERE kind = 'verify';
SELECT cudal1_submit('fast', 'one more') \g /dev/null
SELECT is(count(*), 3::bigint, 'without a first measurement') FROM cudal1.claim(:d, 'w', most => 32);
