-- Counters beside scores: a run under a profiler after the verdict, which changes no reward, and where the counters are shown.
SELECT plan(33);

SELECT cudal1_add_task('c', 'void solve(float *x) {}', 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [1000], "role": "inout"}]}') \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c"], "details": {"bandwidth": 1e9, "peak": 1e9}}') AS device \gset
-- one whole claim: the kind of the job and what became of the result
CREATE FUNCTION pg_temp.work(result jsonb) RETURNS text LANGUAGE sql AS
	$$SELECT coalesce(kind || ' ' || concat_ws(' ', candidate_id, answer), 'nothing') FROM tap.work((SELECT device_id FROM cudal1.device), result)$$;
CREATE FUNCTION pg_temp.counted(counters jsonb, tool text DEFAULT 'perf') RETURNS jsonb LANGUAGE sql AS
	$$SELECT jsonb_build_object('outcome', 'successful', 'evidence', jsonb_build_object('profile', jsonb_build_object('tool', tool, 'counters', counters)))$$;
CREATE FUNCTION pg_temp.problem(id bigint) RETURNS text LANGUAGE sql AS 'SELECT problem FROM cudal1.profiler_run WHERE candidate_id = id';

SELECT throws_ok($$SELECT cudal1_profile(NULL)$$, '22004', 'candidate must not be null', 'no candidate');
SELECT throws_ok($$SELECT cudal1_profile(-1)$$, '42704', 'candidate -1 does not exist', 'an unknown one');
SELECT throws_ok($$SELECT * FROM cudal1_counters(-1)$$, '42704', 'candidate -1 does not exist', 'nor has it counters');

-- one whose measurement is to come
SELECT cudal1_submit('c', 'good') AS good \gset
SELECT cudal1_submit('c', 'bad') AS bad \gset
SELECT cudal1_profile(:good, priority => 5) AS job \gset
SELECT is(cudal1_profile(:good), :job::bigint, 'what waits already is not queued again');
SELECT cudal1_profile(:bad) \g /dev/null
SELECT is(pg_temp.work('{"outcome": "successful", "score": 1.5, "candidate_seconds": 2e-5, "reference": "good"}'), format('measure %s stored', :good), 'its measurement goes first, whatever the priorities');
SELECT is(pg_temp.work(pg_temp.counted('[{"name": "core time", "value": 2.88e-6, "unit": "s"}, {"name": "cycles", "value": 1234.5, "unit": ""}, {"name": "L1 hits", "value": 98.46, "unit": "%"}]')),
	format('profile %s stored', :good), 'then its profile');
SELECT is(pg_temp.work('{"outcome": "crash"}'), format('measure %s stored', :bad), 'another fails');
SELECT is(pg_temp.work('{}'), 'nothing', 'and is not profiled');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'nor does it wait any more');
SELECT throws_ok(format('SELECT cudal1_profile(%s)', :bad), '55000', format('candidate %s is failed', :bad), 'nor can it be');
SELECT results_eq(format('SELECT name, round(value::numeric, 8), unit, tool, device FROM cudal1_counters(%s)', :good),
	$$VALUES ('core time', 0.00000288, 's', 'perf', 'h cpu:1'), ('cycles', 1234.5, '', 'perf', 'h cpu:1'), ('L1 hits', 98.46, '%', 'perf', 'h cpu:1'), ('share of light', 40, '%', 'perf', 'h cpu:1')$$,
	'counters are rows, with the share of light');
SELECT is((SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = :good), 'successful 1.5', 'its reward is as it was');
SELECT is((SELECT count(*) FROM cudal1.measurement WHERE candidate_id = :good), 1::bigint, 'and no measurement was added');
SELECT is((SELECT count(*) FROM cudal1_check()), 0::bigint, 'what is derived agrees');

-- prompts
SELECT cudal1_add_prompt_template('counted', 'contrastive', '{reference}{counters}{exemplars}') \g /dev/null
SELECT alike(prompt, E'%Counters beside an implementation%\n```\n\nCounters of a call: core time 2.88 us, cycles 1235, L1 hits 98.5 %, share of light 40 %.\n\n', 'a template that asks for counters shows them')
	FROM cudal1_prompt('c', template => 'counted');
SELECT unalike(prompt, '%Counters%', 'another does not') FROM cudal1_prompt('c');
SELECT cudal1_submit('c', 'uncounted') \g /dev/null
SELECT pg_temp.work('{"outcome": "successful", "score": 2.5}') \g /dev/null
SELECT is((SELECT count(*) FROM regexp_matches(prompt, 'Counters of a call', 'g')), 1::bigint, 'one without counters goes without') FROM cudal1_prompt('c', 2, 'random', template => 'counted');
SELECT throws_ok($$SELECT cudal1.compose_prompt(true, false, 'h', 'n', 'c', 'C', 'gcc', 'r', 'e', 't', '{a,b}', '{1,2}', '{x}', '{}', '{}', '{exemplars}')$$, '2202E', NULL, 'counters are of none, or of each');

-- runs that count nothing
SELECT cudal1_profile(:good) \g /dev/null
SELECT is(pg_temp.work('{"outcome": "lost", "detail": "there is no perf on the PATH"}'), format('profile %s stored', :good), 'a profiler that cannot run ends the job');
SELECT is(pg_temp.problem(:good), 'there is no perf on the PATH', 'with the reason');
SELECT is((SELECT count(*) FROM cudal1_counters(:good)), 0::bigint, 'instead of counters');
SELECT alike(hint, '%The last profile failed here: there is no perf on the PATH.%', 'which cudal1_status() gives') FROM cudal1_status() WHERE item = 'device h cpu:1';
CREATE FUNCTION pg_temp.told(result jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM cudal1_profile(candidate_id) FROM cudal1.candidate WHERE code = 'good';
	PERFORM pg_temp.work(result);
	RETURN (SELECT problem FROM cudal1.profiler_run);
END
$$;
SELECT is(pg_temp.told(r), 'the result has no counters', 'malformed: ' || left(r::text, 90)) FROM (VALUES (pg_temp.counted('[]')), (pg_temp.counted('{"a": 1}')), (pg_temp.counted('[{"name": "x", "value": "1", "unit": ""}]')),
	(pg_temp.counted('[{"name": "x", "value": 1}]')), (pg_temp.counted('[{"name": "x", "value": 1, "unit": ""}]', 'gdb'))) AS v (r);
SELECT cudal1_profile(:good) \g /dev/null
SELECT is(pg_temp.work('{"outcome": "cancelled"}'), format('profile %s stored', :good), 'a worker that leaves gives it up');
SELECT is((SELECT string_agg(kind || ' ' || state, ',') FROM cudal1.job), 'profile queued', 'and another makes it');
SELECT job_id AS lost, attempt AS n FROM cudal1.claim(:device, 'w') \gset
SELECT cudal1.heartbeat(:lost, :n, lease => '-1 s') \g /dev/null
SELECT is(cudal1.expire_leases(), 1::bigint, 'one that is killed loses its claim');
UPDATE cudal1.job SET failures = 99;
SELECT job_id AS lost, attempt AS n FROM cudal1.claim(:device, 'w') \gset
SELECT cudal1.heartbeat(:lost, :n, lease => '-1 s'), cudal1.expire_leases() \g /dev/null
SELECT is(pg_temp.problem(:good), 'the worker w was lost while it measured', 'as often as a profile says, and then the reason is told');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'and no job is left');
SELECT cudal1_retire_task('c', 'for a test') \g /dev/null
SELECT throws_ok(format('SELECT cudal1_profile(%s)', :good), '55000', 'task "c" is retired', 'a retired task');
