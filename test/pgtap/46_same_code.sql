-- Codes of a task that compile to the same: one reward, whatever each was measured at.
SELECT plan(15);

SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_add_task('u', 'class Model: pass # 2', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
CREATE FUNCTION pg_temp.key(letter text) RETURNS text LANGUAGE sql AS 'SELECT repeat(letter, 64)';
-- submits a code and ends its claim; the candidate's state and reward
CREATE FUNCTION pg_temp.measured(device bigint, task text, code text, score float8, letter text, more jsonb DEFAULT '{}')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	id		bigint := cudal1_submit(task, code);
	c		record;
BEGIN
	SELECT * INTO c FROM cudal1.claim(device, 'w');
	PERFORM cudal1.finish(c.job_id, c.attempt, '{"outcome": "successful", "protocol": 2, "environment": {"torch": "1", "load": 1}}'
		|| jsonb_build_object('score', score, 'lower', score * 0.9, 'upper', score * 1.1, 'half_width', 0.1, 'code_key', pg_temp.key(letter)) || more);
	RETURN (SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = id);
END
$$;

SELECT is(pg_temp.measured(:d, 't', 'a', 1.4, 'a'), 'successful 1.4', 'the first is paid what it measured');
SELECT is(pg_temp.measured(:d, 't', 'b', 1.9, 'a', '{"environment": {"torch": "1", "load": 9}}'), 'successful 1.4', 'the same with other words is paid as the first');
SELECT is(pg_temp.measured(:d, 't', 'c', 1, 'a'), 'successful 1.4', 'or where it measured less');
SELECT is(pg_temp.measured(:d, 't', 'd', 9, 'a'), 'successful 1.4', 'or so much that it would be verified');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'without more work');
SELECT is((SELECT count(DISTINCT candidate_id) FROM cudal1.candidate WHERE reward = 1.4), 4::bigint, 'candidates stay apart');
SELECT is((SELECT count(DISTINCT measurement_id) FROM cudal1.candidate WHERE reward = 1.4), 1::bigint, 'and name one measurement');
SELECT results_eq('SELECT score, accepted FROM cudal1.measurement ORDER BY measurement_id',
	$$VALUES (1.4::float8, true), (1.9, false), (1, false), (9, false)$$, 'the history has what each measured');
SELECT is_empty($$SELECT * FROM cudal1_check() WHERE subject LIKE '%measurement%' OR subject LIKE '%candidate%'$$, 'and is no damage');
SELECT is(pg_temp.measured(:d, 't', 'e', 1.8, 'b'), 'successful 1.8', 'another code is paid what it measured');
SELECT is(pg_temp.measured(:d, 'u', 'a', 1.7, 'a'), 'successful 1.7', 'so is one of another task');
SELECT is(pg_temp.measured(:d, 't', 'g', 1.5, 'a', '{"protocol": 3}'), 'successful 1.5', 'by another protocol');
SELECT is(pg_temp.measured(:d, 't', 'h', 1.3, 'a', '{"code_key": null}'), 'successful 1.3', 'without a key');
SELECT is(pg_temp.measured(:d, 't', 'i', NULL, 'a', '{"outcome": "crash"}'), 'failed 0', 'what fails is paid nothing');
SELECT is(pg_temp.measured(:d, 't', 'j', 1.2, 'a', '{"code_key": "x"}'), 'queued', 'a key that is none makes no result');
