-- A reference is checked when its task is added, by a device that has nothing to do or by the first measurement; where it is bad, nothing can be submitted.
SELECT plan(37);

CREATE FUNCTION pg_temp.state(name text) RETURNS text LANGUAGE sql AS
	'SELECT concat_ws('': '', reference_state, reference_detail) FROM cudal1.task AS t WHERE t.name = state.name';
-- claims the next job and ends it; what it was
CREATE FUNCTION pg_temp.work(device bigint, result jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c		record;
BEGIN
	SELECT * INTO c FROM cudal1.claim(device, 'w');
	IF NOT FOUND THEN
		SELECT * INTO c FROM cudal1.claim(device, 'w');
	END IF;
	PERFORM cudal1.finish(c.job_id, c.attempt, work.result);
	RETURN (c.job #>> '{task,name}') || ' ' || (c.job #>> '{profile,name}');
END
$$;
CREATE FUNCTION pg_temp.add(name text) RETURNS void LANGUAGE sql AS
	$$SELECT cudal1_add_task(name, 'class Model: ' || name, 'pytorch', options => '{"device": "cpu"}')$$;
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c", "pytorch"]}') AS d \gset
SELECT cudal1.register_device('g', '{"key": "gpu", "class": "cuda", "model": "G", "languages": ["cuda"]}') AS g \gset

-- with the first measurement
SELECT pg_temp.add('a') \g /dev/null
SELECT is(pg_temp.state('a'), 'unchecked', 'adding a task waits for nothing');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'and queues nothing that would be in the way');
SELECT is((SELECT count(*) FROM cudal1.claim(:d, 'w')), 0::bigint, 'switched off, a device that has nothing to do checks nothing');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'nor queues it');
SELECT cudal1_submit('a', 'slow') AS slow \gset
SELECT pg_temp.work(:d, '{"outcome": "wrong_output", "reference": "good"}') \g /dev/null
SELECT is(pg_temp.state('a'), 'good', 'a candidate that fails tells that the reference is good');
SELECT pg_temp.add('b') \g /dev/null
SELECT cudal1_submit('b', 'fast') AS fast \gset
SELECT pg_temp.work(:d, '{"outcome": "successful", "score": 1.5, "lower": 1.4, "upper": 1.6, "reference": "good"}') \g /dev/null
SELECT is(pg_temp.state('b'), 'good', 'and so does one that is right');
SELECT cudal1_submit('a', 'other') AS other \gset
SELECT pg_temp.work(:d, '{"outcome": "unverified", "reference": "bad", "detail": "out of memory"}') FROM generate_series(1, 3) \g /dev/null
SELECT is((SELECT failure FROM cudal1.candidate WHERE candidate_id = :other), 'unverified', 'a host in disorder discards a candidate');
SELECT is(pg_temp.state('a'), 'good', 'but what was good stays good');

-- bad, by the first measurement
SELECT pg_temp.add('c') \g /dev/null
SELECT cudal1_submit('c', 'one') AS one \gset
SELECT cudal1_submit('c', 'two') AS two \gset
SELECT pg_temp.work(:d, '{"outcome": "unverified", "reference": "bad", "detail": "self.hidden changes"}') FROM generate_series(1, 2) \g /dev/null
SELECT is(pg_temp.state('c'), 'unchecked', 'one attempt is no verdict');
SELECT pg_temp.work(:d, '{"outcome": "unverified", "reference": "bad", "detail": "self.hidden changes"}') \g /dev/null
SELECT is(pg_temp.state('c'), 'bad: self.hidden changes', 'the last one is');
SELECT results_eq(format('SELECT state, failure, detail FROM cudal1.candidate WHERE candidate_id IN (%s, %s) ORDER BY 1', :one, :two),
	$$VALUES ('discarded', 'unverified', 'self.hidden changes'),
		('discarded', 'unverified', 'the reference of task "c" cannot be measured: self.hidden changes')$$, 'what waits is not measured one by one');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'nothing waits');
SELECT throws_ok($$SELECT cudal1_submit('c', 'three')$$, '55000', 'the reference of task "c" cannot be measured', 'nothing can be submitted');
SELECT throws_ok($$SELECT cudal1_prompt('c')$$, '55000', NULL, 'nor is a model asked');
SELECT is((SELECT reason FROM cudal1_submit_batch('{c}', '{four}')), 'the reference of task "c" cannot be measured: self.hidden changes', 'a batch has the reason in its row');
SELECT is((SELECT count(*) FROM cudal1.proposal JOIN cudal1.task AS t USING (task_id) WHERE t.name = 'c'), 2::bigint, 'nothing was added');
SELECT ok((SELECT value || ' -> ' || hint FROM cudal1_status() WHERE item = 'references')
	LIKE '0 not checked yet, 1 bad -> the reference of task "c" cannot be measured: self.hidden changes (%', 'cudal1_status() names it');
SELECT pg_temp.add('c') \g /dev/null
SELECT is(pg_temp.state('c'), 'bad: self.hidden changes', 'added again it is what it was');

-- by a device that has nothing to do
SET LOCAL cudal1.certify = on;
SELECT pg_temp.add('d') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.claim(:g, 'w')), 0::bigint, 'a device of another class');
SELECT is(pg_temp.state('d'), 'unchecked', 'cannot check it');
SELECT is((SELECT count(*) FROM cudal1.claim(:d, 'w')), 0::bigint, 'one that can queues the check');
SELECT results_eq('SELECT purpose, priority, kind, trainer COLLATE "default", profile FROM cudal1.job JOIN cudal1.candidate USING (candidate_id)',
	$$VALUES ('reference', -1000000000, 'measure', '', 'certify')$$, 'behind all other work');
SELECT is(cudal1_check_reference('d'), false, 'asked for again, it waits already');
SELECT cudal1_submit('b', 'third', priority => -1000) AS third \gset
DELETE FROM cudal1.turn;
SELECT is(pg_temp.work(:d, '{"outcome": "crash"}'), 'b default', 'a proposal goes before');
SELECT is(pg_temp.work(:d, '{"outcome": "successful", "score": 1, "lower": 0.9, "upper": 1.1, "reference": "good"}'), 'd certify', 'the reference is measured as its own candidate');
SELECT is(pg_temp.state('d'), 'good', 'and is good');
SELECT is((SELECT count(*) FROM cudal1.pool_code JOIN cudal1.task AS t USING (task_id) WHERE t.name = 'd'), 0::bigint, 'it is in no bucket');
SELECT is((SELECT device_model FROM cudal1.task WHERE name = 'd'), NULL, 'and pins the task to no device');
SELECT pg_temp.add('e') \g /dev/null
SELECT pg_temp.work(:d, '{"outcome": "timeout", "reference": "good", "detail": "the code takes long", "evidence": {"restored": "self.memory"}}') \g /dev/null
SELECT is(pg_temp.state('e'), 'bad: as its own candidate it fails (timeout), and its runs change self.memory: the code takes long',
	'one that fails as its own candidate is bad, and what its runs change is named');
SELECT is(cudal1_check_reference('e'), true, 'it can be checked again');
SELECT pg_temp.work(:d, '{"outcome": "lost", "detail": "no disk"}') FROM generate_series(1, 3) \g /dev/null
SELECT matches(pg_temp.state('e'), '^bad: as its own candidate it fails', 'a check that is lost says nothing');
SELECT is((SELECT count(*) FROM cudal1.claim(:d, 'w')), 0::bigint, 'and is not repeated for ever');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'without being asked for');
SELECT is((SELECT string_agg(x::text, ';') FROM cudal1_check() AS x), NULL, 'all is sound');
SELECT cudal1_check_reference('b') \g /dev/null
SELECT pg_temp.work(:d, '{"outcome": "unverified", "reference": "bad", "detail": "no memory"}') FROM generate_series(1, 3) \g /dev/null
SELECT is(pg_temp.state('b'), 'bad: no memory', 'a check that was asked for counts also where the reference was good');
SELECT pg_temp.add('f') \g /dev/null
SELECT cudal1_check_reference('f'), cudal1_submit('f', 'one') \g /dev/null
SELECT pg_temp.work(:d, '{"outcome": "unverified", "reference": "bad", "detail": "self.hidden changes"}') FROM generate_series(1, 3) \g /dev/null
SELECT is(pg_temp.state('f'), 'bad: self.hidden changes', 'a check that waited meanwhile says it once');
SELECT throws_ok($$SELECT cudal1_check_reference('none')$$, '42704', NULL, 'an unknown task');
