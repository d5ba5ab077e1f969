-- Models and their requests: who may be asked how often, what each outcome leads to, and that no answer is lost or counted twice.
SELECT plan(107);

SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT prompt_id AS p FROM cudal1_prompt('t', kind => 'augment') \gset
-- an answer of cudal1-generate to a claim
CREATE FUNCTION pg_temp.answer(request bigint, outcome text, more jsonb DEFAULT '{}', attempt int DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT cudal1.finish_request(jsonb_build_object('type', 'answer', 'request_id', request, 'outcome', outcome,
		'attempt', coalesce(attempt, (SELECT r.attempt FROM cudal1.request AS r WHERE r.request_id = request))) || more)
$$;
CREATE FUNCTION pg_temp.state(id bigint) RETURNS text LANGUAGE sql AS
	'SELECT concat_ws('' '', state, failures, status) FROM cudal1.request WHERE request_id = id';
CREATE FUNCTION pg_temp.claim(room int DEFAULT 100) RETURNS bigint LANGUAGE sql AS
	'SELECT count(*) FROM cudal1.claim_requests(''server 1 worker 1'', room)';
CREATE FUNCTION pg_temp.code(code text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('text', tap.words(code), 'status', 200,
		'finish_reason', 'stop', 'prompt_tokens', 1000, 'completion_tokens', 500, 'seconds', 1.5)
$$;

-- models
SELECT lives_ok($$SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1/', 'gpt', 'openai', '{"temperature": 0.7}', 2, NULL, 2, 8, '{"max_tries": 3, "backoff_seconds": 0.001}')$$, 'a model is added');
SELECT is((SELECT endpoint FROM cudal1.model), 'http://127.0.0.1:1/v1', 'its address without the last slash');
SELECT is(cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'gpt', 'openai', '{"temperature": 0.7}', 3, NULL, 2, 8, '{"max_tries": 3, "backoff_seconds": 0.001}'), (SELECT model_id FROM cudal1.model), 'added again it is the same');
SELECT is((SELECT concurrency FROM cudal1.model), 3, 'with new limits');
SELECT throws_ok($$SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'other')$$, '23505', NULL, 'another content under its name is refused');
SELECT throws_ok(format('SELECT cudal1_add_model(%L, %L, %L, %L, %L, %s, options => %L)', n, e, 'x', k, a, c, o), '22023', NULL, 'refused: ' || concat_ws(' ', n, e, k, a, c, o))
FROM (VALUES ('', 'http://h/v1', NULL, '{}', 1, '{}'), ('x', 'ftp://h/v1', NULL, '{}', 1, '{}'), ('x', 'file:///etc/passwd', NULL, '{}', 1, '{}'), ('x', 'http://u:p@h/v1', NULL, '{}', 1, '{}'),
	('x', 'http://h/v1?key=1', NULL, '{}', 1, '{}'), ('x', 'unix:relative:/v1', NULL, '{}', 1, '{}'), ('x', 'http://h/v1', 'sk-very secret', '{}', 1, '{}'),
	('x', 'http://h/v1', NULL, '[]', 1, '{}'), ('x', 'http://h/v1', NULL, '{"messages": []}', 1, '{}'), ('x', 'http://h/v1', NULL, '{}', 0, '{}'),
	('x', 'http://h/v1', NULL, '{}', 1, '{"max_tries": 0}'), ('x', 'http://h/v1', NULL, '{}', 1, '{"stall": 1}'), ('x', 'http://h/v1', NULL, '{}', 1, '{"stall_seconds": "1"}'),
	('x', 'http://h/v1', NULL, '{}', 1, '{"stall_seconds": 0}'))
	AS v (n, e, k, a, c, o);
SELECT lives_ok($$SELECT cudal1_add_model('s', 'unix:/run/model.sock:/v1', 'x', requests_per_minute => 60, options => '{"max_tries": 2.0}')$$, 'a unix socket is an address');
SELECT throws_ok(format('SELECT cudal1_add_model(''s'', ''unix:/run/model.sock:/v1'', ''x'', requests_per_minute => %L)', n), '22023', NULL, 'no rate that the schedule can''t count: ' || n)
FROM (VALUES (0), (1e-300), (1e30), ('NaN')) AS v (n);

-- asking
SELECT throws_ok(format('SELECT cudal1_generate(%s, %L, 0)', :p, 'm'), '22023', NULL, 'n must be positive');
SELECT is((SELECT count(*) FROM cudal1_generate(:p, 'm', 5, 'vanilla', 'g')), 5::bigint, 'five answers are asked for');
SELECT min(request_id) AS r FROM cudal1.request \gset
SELECT is((SELECT count(*) FROM cudal1.claim_requests('server 1 worker 1', 2)), 2::bigint, 'no more are claimed than there is room');
SELECT is((SELECT array_agg(job ORDER BY request_id) FROM cudal1.claim_requests('server 1 worker 1', 100)),
	(SELECT ARRAY[jsonb_build_object('type', 'job', 'request_id', :r + 2, 'attempt', 1, 'endpoint', 'http://127.0.0.1:1/v1', 'key', 'openai', 'connect_seconds', 10, 'stall_seconds', 120,
		'total_seconds', 1800, 'max_answer_bytes', 1048576, 'max_body_bytes', 67108864, 'body', jsonb_build_object('model', 'gpt', 'temperature', 0.7, 'stream', true,
		'stream_options', '{"include_usage": true}'::jsonb, 'messages', jsonb_build_array(jsonb_build_object('role', 'user', 'content', prompt))))] FROM cudal1.prompt WHERE prompt_id = :p),
	'nor than the model takes at once; a job has all that cudal1-generate needs, but no key');
SELECT is(pg_temp.claim(), 0::bigint, 'the model takes three');

-- what comes of it
SELECT is(pg_temp.answer(:r, 'answered', pg_temp.code('a')), 'stored', 'an answer is stored');
SELECT is(pg_temp.answer(:r, 'answered', pg_temp.code('a')), 'lost', 'once');
SELECT is((SELECT row(state, prompt_tokens, completion_tokens, cost, candidate_id)::text FROM cudal1.request WHERE request_id = :r), '(answered,1000,500,0.006,)', 'with tokens and cost, before it is looked at');
SELECT is(cudal1.take_answers(), 1::bigint, 'then it is taken');
SELECT is(cudal1.take_answers(), 0::bigint, 'once');
SELECT is((SELECT concat_ws(' ', p.method, p.group_key, p.prompt_id = :p, c.state, c.code) FROM cudal1.request AS r JOIN cudal1.candidate AS c USING (candidate_id) JOIN cudal1.proposal AS p USING (candidate_id) WHERE request_id = :r),
	'vanilla g t queued a', 'and is a candidate like any other');
SELECT is(pg_temp.claim(), 1::bigint, 'its place is free');
SELECT pg_temp.answer(:r + 1, 'answered', '{"text": "I do not know."}') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.take_answers()), 1::bigint, 'an answer without a code is taken');
SELECT is((SELECT c.failure FROM cudal1.request AS r JOIN cudal1.candidate AS c USING (candidate_id) WHERE request_id = :r + 1), 'malformed', 'and fails');

-- tries
SELECT is(pg_temp.answer(:r + 2, 'unavailable', '{"status": 503}'), 'stored', 'an error is stored');
SELECT is(pg_temp.state(:r + 2), 'queued 1 503', 'the request waits for another try');
SELECT isnt((SELECT not_before FROM cudal1.request WHERE request_id = :r + 2), '-infinity', 'not at once');
SELECT pg_sleep(0.02) \g /dev/null
SELECT pg_temp.claim() \g /dev/null
SELECT is(pg_temp.answer(:r + 2, 'answered', pg_temp.code('old'), 1), 'lost', 'an answer to the first try comes too late');
SELECT pg_temp.answer(:r + 2, 'broken', '{"text": "half", "completion_tokens": 5}') \g /dev/null
SELECT pg_sleep(0.02) \g /dev/null
SELECT pg_temp.claim() \g /dev/null
SELECT pg_temp.answer(:r + 2, 'stalled', '{"text": "half an answer", "completion_tokens": 5}') \g /dev/null
SELECT is((SELECT row(state, failures, answer, completion_tokens, candidate_id)::text FROM cudal1.request WHERE request_id = :r + 2), '(failed,3,"half an answer",10,)', 'after max_tries it has failed; what came is kept');
SELECT is(pg_temp.answer(:r + 3, 'refused', '{"status": 401, "detail": "no"}'), 'stored', 'a refusal');
SELECT is(pg_temp.state(:r + 3), 'failed 1 401', 'is final at once');

-- being told to slow down
SELECT pg_temp.claim() \g /dev/null
SELECT is(pg_temp.answer(:r + 4, 'throttled', '{"status": 429, "retry_after": 30}'), 'stored', 'told to slow down');
SELECT is(pg_temp.state(:r + 4), 'queued 0 429', 'it is no failure');
SELECT is(pg_temp.claim(), 0::bigint, 'nothing is sent meanwhile');
SELECT ok(not_before - clock_timestamp() BETWEEN '20 seconds' AND '30 seconds', 'but after the time that was asked for') FROM cudal1.model WHERE name = 'm';
UPDATE cudal1.model SET not_before = '-infinity';

-- dead workers and fencing
SELECT is(pg_temp.claim(), 1::bigint, 'sent again');
SELECT is(cudal1.release_requests('server 1 worker 1'), 0::bigint, 'what the worker itself has in flight stays');
SELECT is(cudal1.release_requests('server 1 worker 2'), 1::bigint, 'what a former worker had in flight is open again');
SELECT is(pg_temp.state(:r + 4), 'queued 0 429', 'without a failure');
SELECT is(pg_temp.answer(:r + 4, 'answered', pg_temp.code('kept')), 'stored', 'an answer that was kept still counts');
SELECT is(pg_temp.claim(), 0::bigint, 'and nothing is paid for twice');
SELECT cudal1_generate(:p, 'm') AS q \gset
SELECT pg_temp.claim() \g /dev/null
SELECT is(cudal1.release_requests('server 2 worker 1'), 1::bigint, 'of another server, too');
SELECT pg_temp.claim() \g /dev/null
SELECT is(pg_temp.answer(:q, 'answered', pg_temp.code('late'), 1), 'lost', 'after another claim the answer of the first is refused');
SELECT is(cudal1.release_requests('server 1 worker 1', true), 1::bigint, 'the program died');
SELECT is(pg_temp.state(:q), 'queued 1', 'of it, perhaps');
SELECT throws_ok('SELECT cudal1_cancel_requests(ARRAY[-1])', '42704', NULL, 'an unknown request');
SELECT throws_ok('SELECT cudal1_cancel_requests(ARRAY[NULL::bigint])', '22004', NULL, 'or none');
SELECT is(cudal1_cancel_requests(ARRAY[:q]), 1::bigint, 'a waiting request is cancelled');
SELECT is(pg_temp.state(:q), 'cancelled 1', 'at once');
SELECT cudal1_generate(:p, 'm') AS q \gset
SELECT pg_temp.claim() \g /dev/null
SELECT cudal1_cancel_requests(ARRAY[:q]) \g /dev/null
SELECT is(pg_temp.state(:q), 'running 0', 'one in flight');
SELECT pg_temp.answer(:q, 'cancelled') \g /dev/null
SELECT is(pg_temp.state(:q), 'cancelled 0', 'when its sender says so');

-- lines
SELECT cudal1_generate(:p, 'm') AS q \gset
SELECT pg_temp.claim() \g /dev/null
SELECT is((cudal1.finish_requests(E'no json\n{"type": "answer"}\n[]\n\n' || jsonb_build_object('type', 'answer', 'request_id', :q, 'attempt', 1, 'outcome', 'answered', 'text', 'x')::text || E'\n')).stored,
	format(E'{"type": "stored", "attempt": 1, "request_id": %s}\n', :q), 'what is stored is told, whatever else comes');
SELECT cudal1_generate(:p, 'm') AS q \gset
SELECT pg_temp.claim() \g /dev/null
SELECT cudal1.finish_requests(format('{"type": "answer", "request_id": %s, "attempt": 1, "outcome": "answered", "text": "\u0000"}', :q)) \g /dev/null
SELECT is((SELECT state FROM cudal1.request WHERE request_id = :q), 'failed', 'an answer that the database cannot hold fails, and is not asked for again');

-- one answer that fails in the middle of a batch, whatever the reason
SELECT array_agg(q) AS many FROM cudal1_generate(:p, 'm', 3) AS q \gset
SELECT pg_temp.claim() \g /dev/null
ALTER TABLE cudal1.request ADD CONSTRAINT contrary CHECK (answer <> 'contrary');
SELECT is((SELECT count(*) FROM regexp_matches((cudal1.finish_requests((SELECT string_agg(jsonb_build_object('type', 'answer', 'request_id', q, 'attempt', 1, 'outcome', 'answered',
	'text', CASE n WHEN 2 THEN 'contrary' ELSE 'word ' || n END)::text, E'\n' ORDER BY n) FROM unnest(:'many'::bigint[]) WITH ORDINALITY AS u (q, n)))).stored, 'stored', 'g')), 3::bigint, 'a batch with an answer that cannot be stored');
SELECT is((SELECT array_agg(state ORDER BY request_id) FROM cudal1.request WHERE request_id = ANY (:'many')), '{answered,failed,answered}', 'leaves the others alone');
SELECT matches((SELECT error FROM cudal1.request WHERE request_id = ANY (:'many') AND state = 'failed'), 'cannot be stored.*contrary', 'and says why');
ALTER TABLE cudal1.request DROP CONSTRAINT contrary;
ALTER TABLE cudal1.candidate ADD CONSTRAINT contrary CHECK (code <> 'word 3');
SELECT is(cudal1.take_answers(), 4::bigint, 'nor does an answer that cannot be taken');
ALTER TABLE cudal1.candidate DROP CONSTRAINT contrary;
SELECT is((SELECT string_agg(concat_ws(' ', state, candidate_id IS NOT NULL, taken_at IS NOT NULL, error ~ 'contrary'), ', ' ORDER BY request_id) FROM cudal1.request WHERE request_id = ANY (:'many')),
	'answered t t, failed f f t, answered f t t', 'which stays, with the reason');

-- every answer is a candidate, whatever it holds
CREATE FUNCTION pg_temp.becomes(text text, more jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q	bigint := (SELECT cudal1_generate((SELECT min(prompt_id) FROM cudal1.prompt), 'm'));
BEGIN
	PERFORM pg_temp.claim();
	PERFORM pg_temp.answer(q, 'answered', more || jsonb_build_object('text', text));
	PERFORM cudal1.take_answers();
	RETURN (SELECT concat_ws(' ', r.state, r.decided, c.state, c.failure, c.reward) FROM cudal1.request AS r LEFT JOIN cudal1.candidate AS c USING (candidate_id) WHERE r.request_id = q);
END
$$;
SELECT is(pg_temp.becomes(t), 'answered f failed malformed 0', 'an answer of ' || n)
FROM (VALUES ('nothing', ''), ('blanks', E' \n\t'), ('words', 'I would rather not.'), ('one character 4 MiB long', repeat('x', 4194304)), ('one longer than 4 MiB', repeat('x', 4194305)), ('a heading', '## Code Implementation'),
	('an empty code', E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```python\n\n```\n'),
	('a code cut off', E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```python\nx = 1\n'),
	('a code beyond 1 MiB', E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```python\n' || repeat(E'x = 1\n', 200000) || '```')) AS v (n, t);
SELECT is(pg_temp.becomes('I would rather not.'), 'answered f failed malformed 0', 'the same again');
SELECT is((SELECT pg_temp.becomes(v.text, '{"finish_reason": "length"}')), 'answered f failed malformed 0', 'tokens that ran out after ' || octet_length(v.text) || ' bytes')
FROM (VALUES (''), (E'```python\nx = 1\n')) AS v (text);
SELECT is((SELECT string_agg(c.detail, '; ' ORDER BY request_id) FROM cudal1.request AS r JOIN cudal1.candidate AS c USING (candidate_id) WHERE r.finish_reason = 'length'),
	'the model''s tokens were used up before it wrote an answer; the model''s tokens were used up before it wrote an answer to its end: the code fence is not closed: the answer was cut off',
	'are the reason of a malformed answer, also beside an empty one');
SELECT is((SELECT count(*) FROM cudal1.request WHERE state = 'answered' AND taken_at IS NOT NULL AND candidate_id IS NULL AND request_id <> ALL (:'many')), 0::bigint, 'none is without');

-- tokens that nobody counted
SELECT is((SELECT row(prompt_tokens, completion_tokens, tokens_estimated)::text FROM cudal1.request WHERE answer = 'I would rather not.' ORDER BY request_id LIMIT 1),
	(SELECT format('(%s,5,t)', ceil(octet_length(prompt) / 4.0)) FROM cudal1.prompt WHERE prompt_id = :p), 'tokens that the endpoint does not count are estimated');
SELECT pg_temp.becomes('x', '{"prompt_tokens": 0, "completion_tokens": 0}') \g /dev/null
SELECT is((SELECT row(prompt_tokens, completion_tokens, tokens_estimated)::text FROM cudal1.request ORDER BY request_id DESC LIMIT 1), '(0,0,f)', 'those that it counts are not');

-- being told to slow down again and again, without a time
UPDATE cudal1.model SET options = options || '{"backoff_seconds": 1}' WHERE name = 'm';
SELECT cudal1_generate(:p, 'm') AS q \gset
UPDATE cudal1.request SET attempt = 4 WHERE request_id = :q;
SELECT pg_temp.claim() \g /dev/null
SELECT pg_temp.answer(:q, 'throttled', '{"status": 429}') \g /dev/null
SELECT ok(not_before - clock_timestamp() BETWEEN '2 seconds' AND '24 seconds', 'the pause grows') FROM cudal1.model WHERE name = 'm';
SELECT matches((SELECT last_error FROM cudal1.model_use WHERE name = 'm'), '; next try in ([1-9]|1[0-9]|2[0-4]) s, try 1 of [0-9]+$', 'how long it is, is said beside the error');
UPDATE cudal1.model SET not_before = '-infinity', options = options || '{"backoff_seconds": 0.001}' WHERE name = 'm';
SELECT pg_temp.claim() \g /dev/null
SELECT pg_temp.answer(:q, 'throttled', '{"status": 429, "retry_after": 999999}') \g /dev/null
SELECT ok(not_before - clock_timestamp() BETWEEN '3500 seconds' AND '3600 seconds', 'a time that was asked for counts up to an hour') FROM cudal1.model WHERE name = 'm';
UPDATE cudal1.model SET not_before = '-infinity' WHERE name = 'm';
SELECT cudal1_cancel_requests(ARRAY[:q]) \g /dev/null

-- rate
SELECT cudal1_generate(:p, 's', 3) \g /dev/null
SELECT is(pg_temp.claim(), 1::bigint, 'sixty a minute: one now');
SELECT is(pg_temp.claim(), 0::bigint, 'the next');
UPDATE cudal1.model SET next_request = next_request - interval '1 second' WHERE name = 's';
SELECT is(pg_temp.claim(), 1::bigint, 'a second later it is sent');
SELECT lives_ok($$SELECT cudal1_enable_model('s', false)$$, 'a model can be switched off');
UPDATE cudal1.model SET next_request = '-infinity' WHERE name = 's';
SELECT is(pg_temp.claim(), 0::bigint, 'then nothing is sent');

-- impossible states
SELECT throws_ok($$UPDATE cudal1.request SET answer = NULL WHERE state = 'answered'$$, '23514', NULL, 'an answered request has an answer');
SELECT throws_ok($$UPDATE cudal1.request SET worker = 'w' WHERE state = 'answered'$$, '23514', NULL, 'and no worker');
SELECT is((SELECT row(answered, failed, waiting, in_flight)::text FROM cudal1.model_use WHERE name = 'm'), '(19,4,0,0)', 'the use of a model');

UPDATE cudal1.request SET state = 'cancelled', finished_at = now(), worker = NULL WHERE state IN ('queued', 'running');

-- a task whose reference turns out to be bad while its answer is on the way
SELECT cudal1_add_task('bad', 'class Model: bad', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_generate((SELECT prompt_id FROM cudal1_prompt('bad', kind => 'augment')), 'm') AS bad \gset
SELECT cudal1_generate(:p, 'm') AS good \gset
SELECT pg_temp.claim() \g /dev/null
SELECT pg_temp.answer(q, 'answered', pg_temp.code('of ' || q)) FROM unnest(ARRAY[:bad, :good]) AS q \g /dev/null
UPDATE cudal1.task SET reference_state = 'bad', reference_detail = 'it fails' WHERE name = 'bad';
SELECT is(cudal1.take_answers(), 2::bigint, 'both answers are taken');
SELECT is((SELECT row(candidate_id, error)::text FROM cudal1.request WHERE request_id = :bad), '(,"the reference of task ""bad"" cannot be measured")', 'one is told why it is no candidate');
SELECT isnt((SELECT candidate_id FROM cudal1.request WHERE request_id = :good), NULL, 'the other is one');
SELECT throws_ok($$SELECT cudal1_generate((SELECT max(prompt_id) FROM cudal1.prompt JOIN cudal1.task USING (task_id) WHERE name = 'bad'), 'm')$$, '55000', 'the reference of task "bad" cannot be measured', 'nothing is asked for a task whose reference is bad');
SELECT cudal1_generate(:p, 'm') AS flies \gset
SELECT pg_temp.claim() \g /dev/null
SELECT cudal1_generate(:p, 'm') AS waits \gset
SELECT cudal1_retire_task('t', 'x') \g /dev/null
SELECT is((SELECT row(state, cancel_requested)::text FROM cudal1.request WHERE request_id = :flies), '(running,t)', 'a request for a task that is retired is stopped');
SELECT is((SELECT state FROM cudal1.request WHERE request_id = :waits), 'cancelled', 'and one that waits is not sent');
SELECT throws_ok(format('SELECT cudal1_generate(%s, ''m'')', :p), '42704', 'task "t" is retired', 'nor for one that is retired');
SELECT cudal1_restore_task('t') \g /dev/null
SELECT lives_ok(format('SELECT cudal1_generate(%s, ''m'')', :p), 'until it is restored');
