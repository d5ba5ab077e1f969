-- Submissions: a code is one candidate, a submission one proposal, whatever is repeated.
SELECT plan(86);

SELECT cudal1_add_task(name, 'class Model: pass', 'pytorch', options => '{"profile": "quick"}') FROM (VALUES ('t'), ('u')) AS v (name) \g /dev/null
CREATE FUNCTION pg_temp.proposals(id bigint) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM cudal1.proposal WHERE candidate_id = id';
CREATE FUNCTION pg_temp.jobs(id bigint) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM cudal1.job WHERE candidate_id = id';
CREATE FUNCTION pg_temp.state(id bigint) RETURNS text LANGUAGE sql AS 'SELECT concat_ws('':'', state, failure) FROM cudal1.candidate WHERE candidate_id = id';

-- no device yet
SELECT cudal1_submit('t', 'a') AS a \gset
SELECT is(pg_temp.state(:a), 'queued', 'a submission is queued');
SELECT is(pg_temp.jobs(:a), 1::bigint, 'with one job');
SELECT is(cudal1_reward(:a), NULL, 'it has no reward yet');
SELECT is(cudal1_reward(-1), NULL, 'an unknown candidate has none either');
SELECT isnt((SELECT waits_for FROM cudal1.queue WHERE candidate_id = :a), NULL, 'the queue says why it waits');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c", "pytorch"]}') AS device \gset
SELECT is((SELECT waits_for FROM cudal1.queue WHERE candidate_id = :a), NULL, 'with a device it waits its turn');

-- identity
SELECT is(cudal1_submit('t', 'a', 'other', group_key => 'g'), :a::bigint, 'identical code is the same candidate');
SELECT is(pg_temp.proposals(:a), 2::bigint, 'and another proposal');
SELECT is(pg_temp.jobs(:a), 1::bigint, 'measured once');
SELECT isnt(cudal1_submit('u', 'a'), :a::bigint, 'of another task it is another');
SELECT isnt(cudal1_submit('t', 'a '), :a::bigint, 'a blank makes a difference');
SELECT is(cudal1_submit('t', E'x\r\ny'), cudal1_submit('t', E'x\ny'), 'the kind of line end does not');
SELECT results_eq('SELECT method, group_key, created_by COLLATE "default" FROM cudal1.proposal WHERE candidate_id = ' || :a || ' ORDER BY proposal_id',
	$$VALUES ('manual'::text, NULL::text, session_user::text COLLATE "default"), ('other', 'g', session_user::text)$$, 'method and group belong to the proposal');
SELECT is((SELECT code_hash FROM cudal1.candidate WHERE candidate_id = :a), sha256('a'), 'the hash is that of the code');

-- idempotency
SELECT cudal1_submit('t', 'k1', proposal_key => 'key') AS k \gset
SELECT is(cudal1_submit('t', 'k2', proposal_key => 'key'), :k::bigint, 'a repeated key adds nothing');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code = 'k2'), 0::bigint, 'no candidate');
SELECT is(pg_temp.proposals(:k), 1::bigint, 'no proposal');
SELECT isnt(cudal1_submit('t', 'k2', proposal_key => 'key', group_key => 'g'), :k::bigint, 'in another group it is another key');
SELECT isnt(cudal1_submit('u', 'k1', proposal_key => 'key'), :k::bigint, 'and for another task');
SELECT is(cudal1_submit('t', 'k2', proposal_key => 'key', group_key => ''), :k::bigint, 'no group and the empty one are the same');

-- priorities and deadlines
SELECT cudal1_submit('t', 'p', priority => 5, deadline => now() + interval '1 hour') AS p \gset
SELECT cudal1_submit('t', 'p', priority => 3, deadline => now() + interval '2 hours') \g /dev/null
SELECT results_eq('SELECT priority, deadline FROM cudal1.job WHERE candidate_id = ' || :p, $$VALUES (5, now() + interval '2 hours')$$,
	'a job is as urgent as its most urgent proposal, and lasts as long as the longest');
SELECT cudal1_submit('t', 'p', priority => 9) \g /dev/null
SELECT results_eq('SELECT priority, deadline FROM cudal1.job WHERE candidate_id = ' || :p, 'VALUES (9, NULL::timestamptz)', 'one without a deadline has none');

-- cancelling
SELECT is(cudal1_cancel(ARRAY[:p, :p]), 1::bigint, 'a waiting candidate is cancelled once');
SELECT is(pg_temp.state(:p), 'discarded:cancelled', 'and discarded');
SELECT is(pg_temp.jobs(:p), 0::bigint, 'its job is gone');
SELECT is(cudal1_reward(:p), NULL, 'NULL is its reward');
SELECT is(cudal1_cancel(ARRAY[:p]), 0::bigint, 'there is nothing more to cancel');
SELECT is(cudal1_cancel('{}'), 0::bigint, 'nor in an empty array');
SELECT is(cudal1_submit('t', 'p'), :p::bigint, 'submitted again');
SELECT is(pg_temp.state(:p), 'queued', 'a discarded candidate is queued again');
SELECT is(pg_temp.jobs(:p), 1::bigint, 'with one job');
SELECT throws_ok('SELECT cudal1_cancel(NULL)', '22004', NULL, 'as is NULL');
SELECT throws_ok('SELECT cudal1_cancel(ARRAY[NULL::bigint])', '22004', NULL, 'and one in the array');

-- batches
CREATE TEMP TABLE batch AS SELECT * FROM cudal1_submit_batch(
	ARRAY['t', 't', 'nope', NULL, 't', 't', 'u', 't', 't', 't'],
	ARRAY['a', 'b1', 'b1', 'b1', NULL, ' ', 'b1', E'b1', 'b2', 'b3'], 'batch', ARRAY[NULL, 'g', 'g', 'g', 'g', 'g', 'g', 'g', 'h', 'h'],
	ARRAY[NULL, NULL, 'k', 'k', 'k', 'k', NULL, NULL, 'same', 'same']);
SELECT is((SELECT array_agg(ordinal ORDER BY ordinal) FROM batch), ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'a batch answers row by row');
SELECT is((SELECT array_agg(ordinal) FROM batch WHERE reason IS NOT NULL), ARRAY[3, 4, 5, 6], 'bad rows get a reason');
SELECT is((SELECT array_agg(reason ORDER BY ordinal) FROM batch WHERE reason IS NOT NULL),
	ARRAY['task "nope" does not exist', 'task must not be null', 'code must not be null', 'code must not be empty'], 'the right one');
SELECT is((SELECT array_agg(ordinal) FROM batch WHERE (candidate_id IS NULL) <> (reason IS NOT NULL)), NULL, 'the others a candidate');
SELECT is((SELECT candidate_id FROM batch WHERE ordinal = 1), :a::bigint, 'a known code is its candidate');
SELECT is((SELECT candidate_id FROM batch WHERE ordinal = 8), (SELECT candidate_id FROM batch WHERE ordinal = 2), 'the same code within the batch is one');
SELECT isnt((SELECT candidate_id FROM batch WHERE ordinal = 7), (SELECT candidate_id FROM batch WHERE ordinal = 2), 'of two tasks two');
SELECT is((SELECT candidate_id FROM batch WHERE ordinal = 10), (SELECT candidate_id FROM batch WHERE ordinal = 9), 'a repeated key within the batch is the first row''s');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code = 'b3'), 0::bigint, 'the other code adds nothing');
SELECT is((SELECT count(*) FROM cudal1.proposal WHERE method = 'batch'), 5::bigint, 'each row that counts is a proposal');
SELECT is((SELECT count(*) FROM cudal1.job WHERE candidate_id IN (SELECT candidate_id FROM batch)), 4::bigint, 'each candidate has one job');
SELECT results_eq($$SELECT candidate_id FROM cudal1_submit_batch(ARRAY['t', 't'], ARRAY['other', 'b3'], proposal_keys => ARRAY['same', 'same'], group_keys => ARRAY['h', 'h'])$$,
	'SELECT candidate_id FROM batch WHERE ordinal >= 9', 'a key used before adds nothing');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code = 'other'), 0::bigint, 'not even the first of its rows');
SELECT is((SELECT count(*) FROM cudal1_submit_batch('{}', '{}')), 0::bigint, 'an empty batch is one');
SELECT is(cudal1_cancel(ARRAY[(SELECT candidate_id FROM batch WHERE ordinal = 9)]), 1::bigint, 'what a batch queued can be cancelled');
SELECT is((SELECT count(*) FROM cudal1_submit_batch(ARRAY['t'], ARRAY['b2'], priority => 4)), 1::bigint, 'and queued by a batch');
SELECT results_eq($$SELECT state, priority FROM cudal1.job WHERE candidate_id = (SELECT candidate_id FROM batch WHERE ordinal = 9)$$, $$VALUES ('queued', 4)$$, 'again');
SELECT throws_ok($$SELECT * FROM cudal1_submit_batch(ARRAY['t'], ARRAY['a'], proposal_keys => '{}')$$, '2202E', NULL, 'those of keys, too');
SELECT throws_ok($$SELECT * FROM cudal1_submit_batch(NULL, ARRAY['a'])$$, '22004', NULL, 'NULL is no batch');
SELECT throws_ok($$SELECT * FROM cudal1_submit_batch(ARRAY['t'], ARRAY['a'], '')$$, '22023', NULL, 'a method has a name');

-- answers of a model
SELECT (cudal1_prompt('t')).prompt_id AS prompt \gset
SELECT cudal1_submit_response(:prompt, E'## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```python\nclass ModelNew: pass\n```\n') AS r \gset
SELECT is((SELECT state || ':' || code FROM cudal1.candidate WHERE candidate_id = :r), E'queued:class ModelNew: pass', 'the code of an answer is queued');
SELECT results_eq('SELECT prompt_id, method, left(response, 2) FROM cudal1.proposal WHERE candidate_id = ' || :r, 'VALUES (' || :prompt || $$::bigint, 'model', '##')$$, 'with prompt and answer');
SELECT cudal1_submit_response(:prompt, E'I refuse.\r\n') AS m \gset
SELECT is(pg_temp.state(:m), 'failed:malformed', 'an answer without code is a failed candidate');
SELECT is((SELECT reward || ':' || (detail <> '') || ':' || (code_hash = cudal1.salted_hash('malformed', E'I refuse.\r\n')) FROM cudal1.candidate WHERE candidate_id = :m), '0:true:true', 'with reward 0, a reason, and the raw text as identity');
SELECT is(pg_temp.jobs(:m), 0::bigint, 'and no job');
SELECT is(cudal1_submit_response(:prompt, E'I refuse.\r\n'), :m::bigint, 'the same answer is the same candidate');
SELECT cudal1_submit_response(:prompt, '') AS e \gset
SELECT is(pg_temp.state(:e), 'failed:malformed', 'so is an empty one');

-- answers without end: one byte longer than any that is read
CREATE FUNCTION pg_temp.endless(last text DEFAULT '') RETURNS text LANGUAGE sql AS $$SELECT 'x' || repeat('é', 2097152) || last$$;
SELECT cudal1_submit_response(:prompt, pg_temp.endless(), group_key => 'endless', proposal_key => 'k') AS l \gset
SELECT is((SELECT concat_ws(' ', state, failure, reward, detail) FROM cudal1.candidate WHERE candidate_id = :l), 'failed malformed 0 the response is longer than 4 MiB',
	'an answer of more than 4 MiB is a failed candidate');
SELECT ok((SELECT response = left(pg_temp.endless(), 1048576) FROM cudal1.proposal WHERE candidate_id = :l), 'its beginning is kept');
SELECT ok((SELECT starts_with(code, left(pg_temp.endless(), 1048576)) AND length(code) < 1048576 + 200 FROM cudal1.candidate WHERE candidate_id = :l), 'as code, too');
SELECT is(cudal1_submit_response(:prompt, pg_temp.endless()), :l::bigint, 'the same answer is the same candidate');
SELECT is(cudal1_submit_response(:prompt, pg_temp.endless(), group_key => 'endless', proposal_key => 'k'), :l::bigint, 'and by its key the same proposal');
SELECT is((SELECT count(*) FROM cudal1.proposal WHERE group_key = 'endless'), 1::bigint, 'of which there is one');
SELECT isnt(cudal1_submit_response(:prompt, pg_temp.endless('y')), :l::bigint, 'one that differs behind its beginning is another');
SELECT is(pg_temp.state(cudal1_submit_response(:prompt, E'## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```python\nx = 1\n```\n' || repeat(' ', 4194304))),
	'failed:malformed', 'a code within does not save it');
SELECT is_empty('SELECT * FROM cudal1_check() WHERE subject = $$code hash$$', 'their hashes can be told from what is kept');
SELECT throws_ok('SELECT cudal1_submit($$u$$, $$x$$, prompt_id => ' || :prompt || ')', '22023', NULL, 'a prompt of another task is an error');

-- purposes
SELECT cudal1_submit('u', 'aa', purpose => 'null') AS aa \gset
SELECT is((SELECT purpose FROM cudal1.candidate WHERE candidate_id = :aa), 'null', 'a candidate may have another purpose');
SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE candidate_id <> :aa \g /dev/null
SELECT job_id AS j, attempt AS n FROM cudal1.claim(:device, 'w') \gset
SELECT is(cudal1.finish(:j, :n, '{"outcome": "successful", "score": 1.2}'), 'stored', 'it is measured');
SELECT is((SELECT count(*) FROM cudal1.pool_code WHERE candidate_id = :aa), 0::bigint, 'but in no bucket');
SELECT is(cudal1_submit('u', 'aa', purpose => 'ablation'), :aa::bigint, 'proposed for another one');
SELECT is((SELECT purpose FROM cudal1.candidate WHERE candidate_id = :aa), 'null', 'it stays what it is');
SELECT is((SELECT candidate_id FROM cudal1_submit_batch('{u}', '{aa}')), :aa::bigint, 'proposed by somebody as any other');
SELECT count(*) FROM cudal1.claim(:device, 'w') \g /dev/null
SELECT results_eq('SELECT purpose, (SELECT count(*) FROM cudal1.pool_code AS s WHERE s.candidate_id = c.candidate_id) FROM cudal1.candidate AS c WHERE candidate_id = ' || :aa,
	$$VALUES ('normal', 1::bigint)$$, 'it is one from the next claim on');

-- errors change nothing
SELECT throws_ok(q, s, m, m) FROM (VALUES
	($$SELECT cudal1_submit(NULL, 'x')$$, '22004', 'task must not be null'),
	($$SELECT cudal1_submit('t', repeat('x', 1048577))$$, '54000', 'code must not be longer than 1 MiB'),
	($$SELECT cudal1_submit('t', 'x', purpose => NULL)$$, '22004', 'purpose must not be null'),
	($$SELECT cudal1_prompt('t', 2, NULL, NULL)$$, '22004', 'kind must not be null'),
	($$SELECT cudal1_submit('t', 'x', E'two\nlines')$$, '22023', 'method must be a name of 1 to 200 bytes without control characters'),
	($$SELECT cudal1_submit('t', 'x', method => ' ')$$, '22023', 'method must be a name of 1 to 200 bytes without control characters'))
	AS v (q, s, m);
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code = 'x'), 0::bigint, 'an error adds nothing');

-- keys that no index holds
SELECT throws_ok($$SELECT cudal1_submit('t', 'x', group_key => repeat('k', 600), proposal_key => repeat('k', 401))$$, '54000', NULL, 'long keys are refused');
SELECT is((SELECT array_agg(candidate_id IS NULL ORDER BY ordinal) FROM cudal1_submit_batch('{t, t}', '{x1, x2}', 'manual', NULL, ARRAY['k', repeat('k', 1001)])), '{f,t}',
	'and in a batch they refuse their row alone');
