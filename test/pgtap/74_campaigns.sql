-- Campaigns: each kind asks for what it should and no more, ends when it should, and goes on after a pause.
SELECT plan(137);

SELECT cudal1_add_task(t, 'class Model: pass # ' || t, 'pytorch', NULL, 1, options => '{"device": "cpu"}') FROM unnest(ARRAY['a', 'b']) AS t \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
SELECT cudal1_add_model(m, 'http://127.0.0.1:1/v1', m, concurrency => 100, completion_price => 1e6, options => '{"max_tries": 1}') FROM unnest(ARRAY['m1', 'm2']) AS m \g /dev/null
CREATE SEQUENCE pg_temp.n;
GRANT ALL ON SEQUENCE pg_temp.n TO PUBLIC;

-- claims what waits and answers it; code NULL: a refusal. Returns the number of requests
CREATE FUNCTION pg_temp.answer(same text DEFAULT NULL, outcome text DEFAULT 'answered') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	j	record;
	n	bigint := 0;
BEGIN
	FOR j IN SELECT * FROM cudal1.claim_requests('w', 1000) LOOP
		PERFORM cudal1.finish_request(jsonb_build_object('type', 'answer', 'request_id', j.request_id, 'attempt', j.attempt, 'outcome', outcome, 'completion_tokens', 10,
			'text', tap.words(coalesce(same, 'code ' || nextval('pg_temp.n')))));
		n := n + 1;
	END LOOP;
	PERFORM cudal1.take_answers(1000);
	RETURN n;
END
$$;
CREATE FUNCTION pg_temp.advance() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n	bigint := 0;
	s	bigint;
BEGIN
	LOOP
		s := cudal1.advance_campaigns();
		n := n + s;
		EXIT WHEN s = 0;
	END LOOP;
	RETURN n;
END
$$;
CREATE FUNCTION pg_temp.progress(campaign text) RETURNS text LANGUAGE sql AS
	'SELECT concat_ws('' '', state, lanes, done, trials, waiting, in_flight, measuring, tokens) FROM cudal1.campaign_progress WHERE name = campaign';
-- what it has come to when all campaigns have gone as far as they can
CREATE FUNCTION pg_temp.advanced(campaign text) RETURNS text LANGUAGE sql AS 'SELECT pg_temp.advance(); SELECT pg_temp.progress(campaign)';

-- what is refused
SELECT cudal1_add_prompt_template('bare', 'augment', '{reference}') \g /dev/null
SELECT throws_ok(format('SELECT cudal1_add_campaign(%L, %L, %L, %L, %L)', n, k, m, t, o), s, NULL, 'refused: ' || concat_ws(' ', n, k, m, t, o))
FROM (VALUES ('', 'vanilla', '{m1}', '{a}', '{}', '22023'), ('x', 'chocolate', '{m1}', '{a}', '{}', '22023'), ('x', 'vanilla', '{m3}', '{a}', '{}', '42704'),
	('x', 'vanilla', '{m1}', '{z}', '{}', '42704'), ('x', 'vanilla', NULL, '{a}', '{}', '22023'), ('x', 'vanilla', '{m1}', '{a}', '{"trials": 1}', '22023'),
	('x', 'vanilla', '{m1}', '{a}', '{"attempts": 0}', '22023'), ('x', 'vanilla', '{m1}', '{a}', '{"attempts": 1.5}', '22023'), ('x', 'evolve', '{m1}', '{a}', '{}', '22023'),
	('x', 'evolve', '{m1}', '{a}', '{"max_tokens": 9, "exemplars": 5}', '22023'), ('x', 'evolve', '{m1}', '{a}', '{"max_tokens": 9, "strategy": "best"}', '22023'),
	('x', 'evolve', '{m1}', '{a}', '{"max_seconds": -1}', '22023'), ('x', 'contrastive', '{m1}', '{a}', '{}', '22023'), ('x', 'vanilla', '{m1}', '{}', '{}', '22023'),
	('x', 'vanilla', '{m1}', '{a}', '[]', '22023'), ('x', 'vanilla', '{m1}', '{a}', '{"method": ""}', '22023'),
	('x', 'evolve', '{m1}', '{a}', '{"max_tokens": 9, "temperature": 1e12}', '22023'), ('x', 'vanilla', '{m1}', '{a}', '{"template": "bare", "failures": 1}', '22023')) AS v (n, k, m, t, o, s);
SELECT cudal1_add_model('free', 'http://127.0.0.1:1/v1', 'free', prompt_price => 0) \g /dev/null
SELECT throws_ok($$SELECT cudal1_add_campaign('x', 'evolve', '{free}', '{a}', '{"max_cost": 1}')$$, '22023', 'model "free" has no prices, so max_cost would never be reached', 'a budget of money needs prices');
SELECT is((SELECT count(*) FROM cudal1.campaign), 0::bigint, 'and leaves nothing behind');

-- vanilla: k attempts for each task and model
SELECT isnt(cudal1_add_campaign('v', 'vanilla', '{m1,m2}', options => '{"attempts": 5}'), NULL, 'a campaign of all tasks');
SELECT throws_ok($$SELECT cudal1_add_campaign('v', 'vanilla', '{m1}')$$, '23505', NULL, 'its name is taken');
SELECT is(pg_temp.progress('v'), 'running 4 0 0 0 0 0 0', 'a lane for each task and model');
SELECT is(pg_temp.advanced('v'), 'running 4 0 16 16 0 0 0', 'four requests ahead in each');
SELECT is((SELECT count(DISTINCT prompt_id) FROM cudal1.request), 4::bigint, 'of one prompt each');
SELECT pg_temp.answer() \g /dev/null
SELECT is(pg_temp.advanced('v'), 'running 4 0 16 0 0 16 160', 'what is measured is under way still');
SELECT tap.measure(:d, 1.5) \g /dev/null
SELECT is(pg_temp.advanced('v'), 'running 4 0 20 4 0 0 160', 'then the fifth is asked for');
SELECT pg_temp.answer('same') \g /dev/null
SELECT tap.measure(:d, NULL) \g /dev/null
SELECT is(pg_temp.advanced('v'), 'finished 4 4 20 0 0 0 200', 'and that is all');
SELECT is((SELECT concat_ws(' ', best, mean, seconds_left) FROM cudal1.campaign_progress WHERE name = 'v'), '1.5 1.2', 'with the best and the mean reward');
SELECT is((SELECT array_agg(DISTINCT method ORDER BY method) FROM cudal1.proposal), ARRAY['vanilla: m1', 'vanilla: m2'], 'methods name kind and model');
SELECT is((SELECT row(tasks, success)::text FROM cudal1_speedup_report('vanilla: m1') WHERE level = 'All'), '(2,2)', 'and the report finds them');
SELECT is(pg_temp.advance(), 0::bigint, 'a finished campaign does nothing');

-- augment: until two codes succeed
SELECT cudal1_add_campaign('g', 'augment', '{m1}', '{a}') \g /dev/null
SELECT is(pg_temp.advanced('g'), 'running 1 0 2 2 0 0 0', 'no more than may be needed');
SELECT pg_temp.answer() \g /dev/null
SELECT tap.measure(:d, 1.2, 1), tap.measure(:d, NULL) \g /dev/null
SELECT is(pg_temp.advanced('g'), 'running 1 0 3 1 0 0 20', 'one succeeded: one more');
SELECT pg_temp.answer(), tap.measure(:d, 1.3) \g /dev/null
SELECT is(pg_temp.advanced('g'), 'finished 1 1 3 0 0 0 30', 'two did: done');
SELECT cudal1_add_campaign('g2', 'augment', '{m1}', '{a}', '{"trials": 3, "successes": 2, "method": "stage 1"}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer('x'), tap.measure(:d, 1.2), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('g2'), 'running 1 0 3 1 0 0 20', 'the same code twice is one success');
SELECT pg_temp.answer('I do not know'), tap.measure(:d, NULL), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('g2'), 'finished 1 1 3 0 0 0 30', 'all trials made: done');
SELECT is((SELECT l.note FROM cudal1.campaign_lane AS l JOIN cudal1.campaign USING (campaign_id) WHERE name = 'g2'), 'all trials made', 'and it says so');
SELECT is((SELECT DISTINCT method FROM cudal1.campaign_lane AS l JOIN cudal1.campaign USING (campaign_id) WHERE name = 'g2'), 'stage 1', 'a method of its own');
-- a correct code whose time is unsteady is a success, too
SAVEPOINT before_unsteady;
SELECT cudal1_add_campaign('g3', 'augment', '{m1}', '{a}', '{"trials": 3, "successes": 1}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer('unsteady') \g /dev/null
INSERT INTO cudal1.measurement (task_id, candidate_id, kind, attempt, device_id, device_model, profile, outcome, code_hash)
SELECT task_id, candidate_id, 'measure', 1, :d, 'M', 'default', 'unstable', code_hash FROM cudal1.candidate WHERE state = 'queued' RETURNING measurement_id AS unsteady \gset
SELECT cudal1.give_verdict(c, 'unverified', :unsteady, 'two measurements disagree') FROM cudal1.candidate AS c WHERE c.state = 'queued' \g /dev/null
SELECT pg_temp.advance() \g /dev/null
SELECT is((SELECT l.note FROM cudal1.campaign_lane AS l JOIN cudal1.campaign USING (campaign_id) WHERE name = 'g3'), '1 correct codes', 'a correct code without a time counts');
ROLLBACK TO before_unsteady;

-- self_supervised: rounds with a pause between
SELECT cudal1_add_campaign('s', 'self_supervised', '{m1}', options => '{"batch": 3, "rounds": 2}') \g /dev/null
SELECT is(pg_temp.advanced('s'), 'running 2 0 6 6 0 0 0', 'a batch for each task');
SELECT pg_temp.answer(), tap.measure(:d, 2.5, 4), tap.measure(:d, NULL), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('s'), 'paused 2 2 6 0 0 0 60', 'after it, a pause');
SELECT alike((SELECT note FROM cudal1.campaign WHERE name = 's'), 'round 1 of 2 is complete%', 'for training');
SELECT is((SELECT count(*) FROM cudal1_sft_dataset(campaign => 's')), 4::bigint, 'with the successful ones');
SELECT is((SELECT array_agg((j ->> 'reward')::int ORDER BY j ->> 'reward') FROM cudal1_rl_dataset(campaign => 's', reward => 'binary') AS j), ARRAY[0, 0, 1, 1, 1, 1], 'rewards are 1 or 0');
SELECT is(pg_temp.advance(), 0::bigint, 'nothing happens meanwhile');
SELECT cudal1_resume_campaign('s') \g /dev/null
SELECT is(pg_temp.advanced('s'), 'running 2 0 12 6 0 0 60', 'the second batch');
SELECT pg_temp.answer(), tap.measure(:d, 1.5), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('s'), 'finished 2 2 12 0 0 0 120', 'and the end');
SELECT throws_ok($$SELECT cudal1_resume_campaign('s')$$, '55000', NULL, 'which is final');
SELECT is((SELECT array_agg((SELECT count(*) FROM cudal1_sft_dataset(campaign => 's', round => r)) ORDER BY r) FROM generate_series(1, 3) AS r), ARRAY[4, 6, 0]::bigint[], 'data are of a round');

-- words of one's own, failed attempts
SELECT cudal1_add_prompt_template('own', 'augment', '{task}: {failures}{reference}', 'You are brief.') \g /dev/null
SELECT cudal1_add_campaign('w', 'vanilla', '{m1}', '{a}', '{"attempts": 4, "ahead": 2, "template": "own", "failures": 1}', 'own words') FROM cudal1_open_pool('own words') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer('no good'), tap.measure(:d, NULL), pg_temp.advance() \g /dev/null
SELECT is((SELECT array_agg(DISTINCT p.template || cardinality(p.failures)) FROM cudal1.request AS r JOIN cudal1.prompt AS p USING (prompt_id) WHERE r.state = 'queued'), '{own1}', 'a campaign prompts by its template, with what failed');
SELECT is((SELECT array_agg(DISTINCT job #>> '{body,messages,0,role}' || ': ' || (job #>> '{body,messages,0,content}') || ' ' || (job #>> '{body,messages,1,role}')) FROM cudal1.claim_requests('w', 10)),
	'{"system: You are brief. user"}', 'an endpoint gets its message of role system');
SELECT cudal1_end_campaign('w') \g /dev/null
SELECT throws_ok(format($$SELECT cudal1_add_campaign('x', %L, '{m1}', '{a}', %L)$$, kind, o), code, NULL, kind || ' ' || o) FROM (VALUES ('vanilla', '{"template": "none"}', '42704'), ('evolve', '{"template": "own", "max_cost": 1}', '22023'),
	('vanilla', '{"failures": 101}', '22023'), ('vanilla', '{"failures": "no"}', '22023')) AS v (kind, o, code);
SELECT cudal1_add_campaign('x', 'contrastive', tasks => '{a}', options => '{"exemplars": 0, "template": "own"}') \g /dev/null
SELECT group_key AS k, system AS s FROM cudal1_next_group('x') \gset
SELECT is(:'s'::text, 'You are brief.', 'groups have it, too');
CREATE TEMP TABLE bare AS SELECT ARRAY[E'```python\nx = 99\n```', repeat('no end ', 700000)] AS r;
SELECT count(*) FROM bare, cudal1_answer_group(:'k', r) \g /dev/null
SELECT is((SELECT array_agg(state ORDER BY proposal_id) FROM cudal1.proposal JOIN cudal1.candidate USING (candidate_id) WHERE group_key = :'k'), '{queued,failed}', 'a fenced code answers a group without exemplars');
UPDATE cudal1.proposal SET response = NULL WHERE group_key = :'k';
SELECT is((SELECT count(*) FROM bare, cudal1_answer_group(:'k', r)), 2::bigint, 'and is known again when the answer was pruned');
SELECT cudal1_end_campaign('x') \g /dev/null

-- evolve: a budget
SELECT cudal1_add_campaign('e', 'evolve', '{m1}', '{a}', '{"max_candidates": 6, "exemplars": 2, "strategy": "island"}') \g /dev/null
SELECT is(pg_temp.advanced('e'), 'running 1 0 4 4 0 0 0', 'four under way');
SELECT ok((SELECT seconds_left / seconds BETWEEN 0.49 AND 0.51 FROM cudal1.campaign_progress WHERE name = 'e'), 'two of six are left, which takes half as long');
SELECT is((SELECT array_agg(DISTINCT concat_ws(' ', p.kind, p.strategy, cardinality(p.exemplars) > 0)) FROM cudal1.request AS r JOIN cudal1.prompt AS p USING (prompt_id) WHERE r.state = 'queued'),
	ARRAY['contrastive island t'], 'each with exemplars of its own');
SELECT is((SELECT count(DISTINCT prompt_id) FROM cudal1.request WHERE state = 'queued'), 4::bigint, 'from a draw of its own');
SELECT pg_temp.answer(), tap.measure(:d, 1.9), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e'), 'running 1 0 6 2 0 0 40', 'no more than the budget');
SELECT pg_temp.answer(), tap.measure(:d, 1.9), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e'), 'finished 1 1 6 0 0 0 60', 'which ends it');
SELECT cudal1_add_campaign('e2', 'evolve', '{m1}', '{a}', '{"max_tokens": 35, "ahead": 2}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance(), pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance(), pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e2'), 'finished 1 1 4 0 0 0 40', 'tokens are a budget');
SELECT cudal1_add_campaign('e3', 'evolve', '{m1}', '{a}', '{"max_cost": 15, "ahead": 1}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance(), pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e3'), 'finished 1 1 2 0 0 0 20', 'cost is');
SELECT cudal1_add_campaign('e4', 'evolve', '{m1}', '{a}', '{"max_seconds": 100}') \g /dev/null
UPDATE cudal1.campaign SET active_seconds = 100 WHERE name = 'e4';
SELECT is(pg_temp.advanced('e4'), 'finished 1 1 0 0 0 0 0', 'time is');
SELECT cudal1_add_campaign('e6', 'evolve', '{m1}', options => '{"max_cost": 55, "max_tokens": 1000000}') \g /dev/null
SELECT is(pg_temp.advanced('e6'), 'running 2 0 1 1 0 0 0', 'one request of all lanes, before it is known what they cost');
SELECT pg_temp.answer(), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e6'), 'running 2 0 6 5 0 1 10', 'then as many as the budget has left');
SELECT pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e6'), 'finished 2 2 6 0 0 0 60', 'and no more');
SELECT is((SELECT note FROM cudal1.campaign WHERE name = 'e6'), 'cost reached', 'which is why it ends');
SELECT cudal1_add_campaign('e7', 'evolve', '{m1,m2}', options => '{"max_tokens": 25}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer(), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e7'), 'running 4 0 3 2 0 1 10', 'as of tokens');
SELECT pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e7'), 'finished 4 4 3 0 0 0 30', 'with less than a request too many');
SELECT cudal1_add_campaign('e8', 'evolve', '{m1}', '{a}', '{"max_tokens": 25}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer(NULL, 'refused'), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('e8'), 'running 1 0 2 2 0 0 10', 'what a refusal took is paid, too');
SELECT cudal1_end_campaign('e8') \g /dev/null
SELECT cudal1_add_campaign('e9', 'evolve', '{m1}', options => '{"max_tokens": 25}') \g /dev/null
SELECT pg_temp.advance() \g /dev/null
SELECT cudal1.finish_request(jsonb_build_object('request_id', request_id, 'attempt', attempt, 'outcome', 'refused', 'status', 400)) FROM cudal1.claim_requests('w', 9) \g /dev/null
SELECT pg_temp.advance() \g /dev/null
SELECT is((SELECT array_agg(t.name ORDER BY 1) FROM cudal1.request AS r JOIN cudal1.prompt AS p USING (prompt_id) JOIN cudal1.task AS t USING (task_id) WHERE r.state = 'queued'), '{b}', 'a task that is refused does not hold up the others');
SELECT cudal1_end_campaign('e9') \g /dev/null
SELECT cudal1_add_campaign('e5', 'evolve', '{m1}', '{a}', '{"max_seconds": 100}') \g /dev/null
SELECT pg_temp.advance() \g /dev/null
SELECT cudal1.finish_request(jsonb_build_object('request_id', request_id, 'attempt', attempt, 'outcome', 'answered', 'completion_tokens', 10, 'text', E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```python\nlate = 1\n```\n')) FROM cudal1.claim_requests('w', 1) \g /dev/null
SELECT request_id AS r, attempt AS n FROM cudal1.claim_requests('w', 1) \gset
SELECT cudal1.take_answers() \g /dev/null
UPDATE cudal1.campaign SET active_seconds = 100 WHERE name = 'e5';
SELECT is(pg_temp.advanced('e5'), 'finished 1 1 2 0 1 1 10', 'it is over also while requests wait, which are cancelled');
SELECT cudal1.finish_request(jsonb_build_object('request_id', :r, 'attempt', :n, 'outcome', 'throttled')) \g /dev/null
UPDATE cudal1.model SET not_before = '-infinity' WHERE name = 'm1';
SELECT is(pg_temp.progress('e5'), 'finished 1 1 1 0 0 1 10', 'as is what was in flight');
SELECT tap.measure(:d, 1.1), pg_temp.advance() \g /dev/null
SELECT is((SELECT concat_ws(' ', note, measuring) FROM cudal1.campaign_progress WHERE name = 'e5'), 'time over 0', 'and what was answered has its verdict');
-- another budget that is used up does not hide that time is over
SELECT cudal1_add_campaign('f1', 'evolve', '{m1}', '{a}', '{"max_candidates": 2, "max_seconds": 100}') \g /dev/null
SELECT pg_temp.advance() \g /dev/null
UPDATE cudal1.campaign SET active_seconds = 1000 WHERE name = 'f1';
SELECT pg_temp.advance() \g /dev/null
SELECT is((SELECT concat_ws(' ', state, note) FROM cudal1.campaign_progress WHERE name = 'f1'), 'finished time over', 'requests that wait don''t hold a campaign whose time is over');
-- what waits for one model holds up no other, and a bad task no budget
SELECT cudal1_add_campaign('f2', 'evolve', '{m1,m2}', '{a}', '{"max_tokens": 1000}') \g /dev/null
UPDATE cudal1.model SET enabled = false WHERE name = 'm1';
SELECT pg_temp.advance(), pg_temp.advance() \g /dev/null
SELECT is((SELECT string_agg(DISTINCT m.name, ',') FROM cudal1.request AS r JOIN cudal1.campaign_lane AS l USING (lane_id) JOIN cudal1.campaign AS c USING (campaign_id) JOIN cudal1.model AS m ON m.model_id = r.model_id WHERE c.name = 'f2'), 'm1,m2', 'a model that is disabled holds up no other');
UPDATE cudal1.model SET enabled = true WHERE name = 'm1';
SELECT cudal1_retire_task('a', 'x') \g /dev/null
SELECT pg_temp.advance() \g /dev/null
SELECT is((SELECT concat_ws(' ', state, note, in_flight) FROM cudal1.campaign_progress WHERE name = 'f2'), 'finished the task is retired 0', 'and lanes of a retired task end whatever is under way');
SELECT cudal1_restore_task('a') \g /dev/null
SELECT lives_ok($$SELECT cudal1_add_campaign('f3', 'evolve', '{m1,free}', '{a}', '{"max_cost": 1}'), cudal1_end_campaign('f3')$$, 'one model with prices is enough');

-- pause, end
SELECT cudal1_add_campaign('p', 'vanilla', '{m1}', '{a}') \g /dev/null
SELECT cudal1_pause_campaign('p') \g /dev/null
SELECT is(pg_temp.advance(), 0::bigint, 'a paused campaign asks for nothing');
SELECT cudal1_resume_campaign('p') \g /dev/null
SELECT isnt(pg_temp.advance(), 0::bigint, 'and then it does');
SELECT cudal1_end_campaign('p') \g /dev/null
SELECT is(pg_temp.progress('p'), 'finished 1 1 0 0 0 0 0', 'ended, its requests are cancelled');
SELECT throws_ok($$SELECT cudal1_pause_campaign('p')$$, '55000', NULL, 'an ended campaign is not paused');

-- whose role has lost its grant, or is gone
CREATE ROLE cudal1_leaver;
SELECT cudal1_grant('cudal1_leaver', 'trainer') \g /dev/null
SET LOCAL ROLE cudal1_leaver;
SELECT cudal1_add_campaign('left', 'vanilla', '{m1}', '{a}', '{"attempts": 2, "ahead": 1}') \g /dev/null
RESET ROLE;
SELECT cudal1_revoke('cudal1_leaver', 'trainer') \g /dev/null
SELECT is(pg_temp.advanced('left'), 'running 1 0 1 1 0 0 0', 'a campaign outlives its role''s grant');
DROP OWNED BY cudal1_leaver;
DROP ROLE cudal1_leaver;
SELECT pg_temp.answer('left'), tap.measure(:d, NULL), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('left'), 'running 1 0 2 1 0 0 10', 'and its role');
SELECT cudal1_end_campaign('left') \g /dev/null
SELECT is(pg_temp.progress('left'), 'finished 1 1 1 0 0 0 10', 'until an operator ends it');

-- what was answered is measured after the end, too
SELECT cudal1_add_campaign('ended', 'vanilla', '{m1}', '{a}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer() \g /dev/null
SELECT cudal1_end_campaign('ended') \g /dev/null
SELECT is(pg_temp.progress('ended'), 'finished 1 1 4 0 0 4 40', 'ended, its answers are measured');
SELECT tap.measure(:d, 1.1, 3), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('ended'), 'finished 1 1 4 0 0 1 40', 'one after the other');
SELECT tap.measure(:d, 1.1), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('ended'), 'finished 1 1 4 0 0 0 40', 'until none is left');
SELECT cudal1_add_campaign('broken', 'vanilla', '{m1}', '{b}', '{"attempts": 2}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer() \g /dev/null
SAVEPOINT broken;
UPDATE cudal1.task SET reference_state = 'bad', reference_detail = 'x' WHERE name = 'b';
SELECT is(pg_temp.advanced('broken'), 'finished 1 1 2 0 0 2 20', 'a lane of a bad reference is over');
SELECT tap.measure(:d, NULL), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('broken'), 'finished 1 1 2 0 0 0 20', 'and its answers are measured, too');
ROLLBACK TO broken;
SELECT cudal1_end_campaign('broken') \g /dev/null
SELECT tap.measure(:d, NULL) \g /dev/null

-- an endpoint that fails
SELECT cudal1_add_campaign('f', 'vanilla', '{m1}', '{a}') \g /dev/null
SELECT pg_temp.advance(), pg_temp.answer(NULL, 'refused'), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('f'), 'paused 1 0 0 0 0 0 40', 'failures are no trials, and pause the campaign');
SELECT is((SELECT note FROM cudal1.campaign WHERE name = 'f'), 'requests fail: refused', 'with the reason');
SELECT cudal1_resume_campaign('f') \g /dev/null
SELECT is(pg_temp.advanced('f'), 'running 1 0 4 4 0 0 40', 'resumed, it tries again');
SELECT cudal1_end_campaign('f') \g /dev/null

-- an endpoint that refuses one task
SELECT cudal1_add_campaign('r', 'vanilla', '{m1}', options => '{"attempts": 3}') \g /dev/null
SELECT pg_temp.advance() \g /dev/null
SELECT cudal1.finish_request(jsonb_build_object('type', 'answer', 'request_id', j.request_id, 'attempt', j.attempt, 'status', 400, 'detail', 'the prompt is too long',
		'outcome', CASE WHEN t.name = 'b' THEN 'refused' ELSE 'answered' END, 'text', CASE WHEN t.name = 'a' THEN 'words' ELSE '' END))
FROM cudal1.claim_requests('w', 1000) AS j JOIN cudal1.request AS r USING (request_id) JOIN cudal1.prompt AS p USING (prompt_id) JOIN cudal1.task AS t USING (task_id) \g /dev/null
SELECT cudal1.take_answers(), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('r'), 'finished 2 2 3 0 0 0 ' || (SELECT sum(tokens) FROM cudal1.campaign_lane JOIN cudal1.campaign USING (campaign_id) WHERE name = 'r'),
	'what one task alone suffers ends one lane');
SELECT is((SELECT array_agg(l.note ORDER BY l.lane_id) FROM cudal1.campaign_lane AS l JOIN cudal1.campaign USING (campaign_id) WHERE name = 'r'),
	ARRAY['all attempts made', 'requests fail: the prompt is too long'], 'which says so');
SELECT is((SELECT note FROM cudal1.campaign WHERE name = 'r'), '1 all attempts made, 1 requests fail: the prompt is too long', 'as does the campaign');
SELECT is((SELECT note FROM cudal1.campaign WHERE name = 'v'), 'all attempts made', 'one whose lanes all ended alike says it once');

-- contrastive, with a trainer's policy
SELECT throws_ok($$SELECT cudal1_add_campaign('c', 'contrastive', options => '{"group_size": 10001}')$$, '22023', 'option "group_size" must be an integer between 1 and 10000', 'a group has no more answers than are taken at once');
SELECT throws_ok($$SELECT cudal1_add_campaign('c', 'contrastive', options => '{"exemplars": 5}')$$, '22023', 'option "exemplars" must be an integer between 0 and 4', 'nor more exemplars than a prompt shows');
SELECT cudal1_add_campaign('c', 'contrastive', options => '{"group_size": 4}') \g /dev/null
SELECT is(pg_temp.advance(), 0::bigint, 'the worker leaves it alone');
SELECT group_key AS k, prompt_id AS p, task AS t1 FROM cudal1_next_group('c') \gset
SELECT isnt((SELECT task FROM cudal1_next_group('c')), :'t1', 'groups go round the tasks');
SELECT is((SELECT array_agg(ordinal) FROM cudal1_answer_group(:'k', ARRAY[E'```\nx = 1\n```', 'nothing', E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```python\nx = 2\n```', 'nothing'])), ARRAY[1, 2, 3, 4], 'a group is answered');
SELECT is((SELECT count(*) FROM cudal1.proposal WHERE group_key = :'k'), 4::bigint, 'with a proposal each');
CREATE TEMP TABLE sent AS SELECT ARRAY[E'```\nx = 1\n```', 'nothing', E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```python\nx = 2\n```', 'nothing'] AS r;
GRANT SELECT ON sent TO PUBLIC;
CREATE FUNCTION pg_temp.known(key text) RETURNS bigint[] LANGUAGE sql AS $$SELECT array_agg(candidate_id ORDER BY proposal_id) FROM cudal1.proposal WHERE group_key = key$$;
SELECT is((SELECT array_agg(candidate_id ORDER BY ordinal) FROM sent, cudal1_answer_group(:'k', r)), pg_temp.known(:'k'), 'sent again, the same answers have the same candidates');
SELECT is((SELECT count(*) FROM cudal1.proposal WHERE group_key = :'k'), 4::bigint, 'once');
SELECT throws_ok(format('SELECT cudal1_answer_group(%L, r %s) FROM sent', :'k', change), '22023', NULL, 'another answer is none of this group: ' || change)
FROM (VALUES ($$|| 'more'::text$$), ('[:3]'), ($$[:3] || 'other'::text$$), ('[3:4] || r[1:2]')) AS v (change);
SELECT is((SELECT answers FROM cudal1.campaign_group WHERE group_key = :'k'), 4, 'and is no trial');
SELECT is((SELECT trials FROM cudal1.campaign_progress WHERE name = 'c'), 4::bigint, 'nor in what is counted');
SELECT is((SELECT array_agg(reward) FROM cudal1_group_result(:'k')), ARRAY[0, 0, NULL, 0]::float8[], 'before the verdict');
SELECT tap.measure(:d, 1.5) \g /dev/null
SELECT is((SELECT array_agg(round(advantage::numeric, 4)) FROM cudal1_group_result(:'k')), ARRAY[-0.5774, -0.5774, 1.7321, -0.5774]::numeric[], 'rewards and advantages, in order');
SELECT throws_ok($$SELECT cudal1_next_group('v')$$, '22023', NULL, 'other campaigns have no groups');
SELECT throws_ok(format($$SELECT cudal1_answer_group(%L, '{{x,y},{z,NULL}}')$$, :'k'), '22023', 'responses must be an array of 1 to 10000 texts', 'nor one that is missing');
SELECT throws_ok($$SELECT cudal1_answer_group('nobody', '{x}')$$, '42704', NULL, 'no such group');
SELECT is((SELECT array_agg(round((j ->> 'advantage')::numeric, 4) ORDER BY j ->> 'proposal_id') FROM cudal1_rl_dataset(campaign => 'c') AS j WHERE j ->> 'task' = :'t1'),
	ARRAY[-0.5774, -0.5774, 1.7321, -0.5774]::numeric[], 'the data set has the same');

-- what measures a group
SELECT is((SELECT array_agg(DISTINCT profile) FROM cudal1.measurement JOIN cudal1.proposal USING (candidate_id) WHERE group_key = :'k'), '{train}', 'a group is measured by train');
SELECT cudal1_add_task('named', 'class Model: pass', 'pytorch', options => '{"profile": "quick"}'), cudal1_add_campaign('named', 'contrastive', tasks => '{a,named}'),
	cudal1_add_campaign('paper', 'contrastive', tasks => '{named}', options => '{"profile": "paper"}') \g /dev/null
SELECT cudal1_next_group('named'), cudal1_next_group('named'), cudal1_next_group('paper') \g /dev/null
SELECT is((SELECT array_agg(cudal1.group_profile(g.prompt_id, t) ORDER BY g.group_key COLLATE "C", t.name) FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l USING (lane_id)
	JOIN cudal1.task AS t USING (task_id) JOIN cudal1.campaign AS c USING (campaign_id) WHERE c.name IN ('named', 'paper')),
	'{train,quick,paper}', 'unless its task or campaign names a profile');
SELECT is((SELECT cudal1.group_profile(0, t) FROM cudal1.task AS t WHERE t.name = 'a'), NULL, 'a prompt of no group leaves the profile to its task');
SELECT cudal1_submit('a', 'x = 11') \g /dev/null
SELECT cudal1_answer_group(g.group_key, ARRAY(SELECT E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```python\nx = ' || x || E'\n```' FROM unnest(ARRAY[11, CASE c.name WHEN 'named' THEN 12 ELSE 22 END]) AS x)) FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l USING (lane_id)
	JOIN cudal1.campaign AS c USING (campaign_id) WHERE c.name IN ('named', 'paper') \g /dev/null
SELECT g.prompt_id AS p FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l USING (lane_id) JOIN cudal1.campaign AS c USING (campaign_id) WHERE c.name = 'paper' \gset
SELECT cudal1_submit('named', 'x = 13', prompt_id => :p) \g /dev/null
CREATE TEMP TABLE waited AS SELECT candidate_id, trainer, profile FROM cudal1.job WHERE kind = 'measure';
SELECT is((SELECT array_agg(DISTINCT profile ORDER BY profile) FROM waited), '{default,paper,quick,train}', 'answers and codes wait for measurements by several profiles');
DELETE FROM cudal1.job;
SELECT cudal1_requeue() \g /dev/null
SELECT results_eq($$SELECT candidate_id, trainer, profile FROM cudal1.job WHERE kind = 'measure' ORDER BY 1, 2$$, 'SELECT * FROM waited ORDER BY 1, 2', 'and after a restore by the same ones');
SELECT cudal1_cancel(array_agg(candidate_id)) FROM waited \g /dev/null
SELECT throws_ok($$SELECT cudal1_add_campaign('x', 'contrastive', options => '{"profile": "trian"}')$$, '42704', NULL, 'no campaign has an unknown profile');

SELECT cudal1_prune('0 days') \g /dev/null
SELECT is((SELECT array_agg(candidate_id ORDER BY ordinal) FROM sent, cudal1_answer_group(:'k', r)), pg_temp.known(:'k'), 'answers that were pruned are known by their hash');
SELECT throws_ok(format('SELECT cudal1_answer_group(%L, r[:3] || ''other''::text) FROM sent', :'k'), '22023', NULL, 'others are not');

-- groups of a trainer without a campaign
SELECT throws_ok('SELECT cudal1_group_result(' || k || ')', s, NULL, 'no results of an unknown group: ' || k) FROM (VALUES ($$'nobody'$$, '42704'), ('NULL', '22004')) AS v (k, s);
SELECT cudal1_submit(t, x, group_key => 'step 1') FROM (VALUES ('a', 'x = 3'), ('b', 'x = 4'), ('a', 'x = 2')) AS v (t, x) \g /dev/null
SELECT tap.measure(:d, 2.5, 1), tap.measure(:d, 1.1, 1), tap.measure(:d, 1.3) \g /dev/null
SELECT is((SELECT array_agg(candidate_id ORDER BY ordinal) FROM cudal1_group_result('step 1')), pg_temp.known('step 1'), 'a group_key of submissions is a group');
SELECT is((SELECT array_agg(advantage ORDER BY ordinal) FROM cudal1_group_result('step 1')),
	(SELECT ARRAY[x[1], 0, x[2]] FROM (SELECT cudal1_group_advantages(array_agg(reward ORDER BY proposal_id)) AS x FROM cudal1.proposal JOIN cudal1.candidate USING (candidate_id)
		WHERE group_key = 'step 1' AND proposal.task_id = (SELECT task_id FROM cudal1.task WHERE name = 'a')) AS y), 'within each task');

-- contrastive, with a model
SELECT cudal1_add_campaign('c2', 'contrastive', '{m2}', '{b}', '{"group_size": 3, "groups": 2, "ahead": 1}') \g /dev/null
SELECT pg_temp.advance() \g /dev/null
SELECT is((SELECT row(count(*), count(DISTINCT prompt_id), count(DISTINCT group_key))::text FROM cudal1.request WHERE state = 'queued'), '(3,1,1)', 'a whole group of one prompt');
SELECT pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance(), pg_temp.answer(), tap.measure(:d, 1.1), pg_temp.advance() \g /dev/null
SELECT is(pg_temp.progress('c2'), 'finished 1 1 6 0 0 0 60', 'and another');

-- one campaign does not hold up another
SELECT cudal1_add_campaign('can''t', 'evolve', '{m1}', '{a}', '{"max_candidates": 2.0, "priority": 1.0}'), cudal1_add_campaign('can', 'vanilla', '{m1}', '{b}', '{"attempts": 1.0}') \g /dev/null
UPDATE cudal1.campaign SET options = options || '{"temperature": 0}' WHERE name = 'can''t';
SELECT pg_temp.advance() \g /dev/null
SELECT is((SELECT array_agg(concat_ws(' ', state, trials, note) ORDER BY name) FROM cudal1.campaign_progress WHERE name LIKE 'can%'),
	'{running 1,"paused 0 no request can be made: argument \"temperature\" must lie between 1e-06 and 1000000000"}', 'a campaign that cannot make its prompts is paused, and the next goes on');
