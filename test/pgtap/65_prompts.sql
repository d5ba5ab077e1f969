-- Prompts say what is measured, show exemplars in ascending score, and are recorded with all that repeats their draw.
SELECT plan(82);

SELECT cudal1_add_task('product', 'void solve(const float *a, double *c, int32_t n) { /* ``` */ }', 'c',
	'{"entry": "solve", "rtol": 0.002, "args": [{"name": "a", "dtype": "float32", "shape": [64, 64], "role": "in"},
	  {"name": "c", "dtype": "float64", "shape": [64], "role": "out"}, {"name": "n", "dtype": "int32", "role": "scalar", "value": 64}]}') AS product \gset
SELECT cudal1_add_task('kernel', 'extern "C" void solve(__half *x) {}', 'cuda',
	'{"entry": "solve", "args": [{"name": "x", "dtype": "float16", "shape": [64], "role": "inout"}]}') AS kernel \gset
SELECT cudal1_add_task('module', 'class Model: pass', 'pytorch', NULL, NULL, '{"device": "cuda", "temperature": 0.5}') AS module \gset

CREATE FUNCTION pg_temp.headings(prompt text) RETURNS text[] LANGUAGE sql AS
$$SELECT array_agg(m[1]) FROM regexp_matches(prompt, '^(#.*)$', 'gn') AS m$$;

-- no exemplar yet
SELECT prompt_id AS id, prompt AS p, exemplars AS e FROM cudal1_prompt('product') \gset
SELECT is(:'e'::bigint[], '{}', 'without a candidate there is no exemplar');
SELECT ok(:'p' LIKE '%(score 1.00)%', 'and the reference is shown at 1.00');
SELECT is((length(:'p') - length(replace(:'p', '/* ``` */', ''))) / 9, 2, 'once as the reference, once as an implementation');
SELECT ok(:'p' LIKE E'%````c\nvoid solve(const float *a, double *c, int32_t n) { /* ``` */ }\n````%', 'a fence is longer than any run of backticks inside');
SELECT ok(:'p' LIKE '%void solve(const float *a, double *c, int32_t n)%- `a`: float32, shape [[]64, 64], input%- `c`: float64, shape [[]64], output%- `n`: int32, always 64%'
	OR :'p' LIKE '%void solve(const float *a, double *c, int32_t n)%- `a`: float32, shape [64, 64], input%- `c`: float64, shape [64], output%- `n`: int32, always 64%', 'c: the declaration and its arguments');
SELECT ok(:'p' LIKE '%0.002 of the value%', 'the task''s tolerance is told');
SELECT ok(:'p' ~ 'in C that defines' AND :'p' !~ 'CUDA', 'c: no word of CUDA');

-- exemplars
SELECT tap.decided(:product, 1.31, code => 'slower code') AS slower, tap.decided(:product, 3.10, code => E'faster code\n') AS faster \gset
SELECT prompt_id AS id, prompt AS p, exemplars AS e FROM cudal1_prompt('product', 2, 'bucket', 'contrastive', 0.7, 11) \gset
SELECT is(:'e'::bigint[], ARRAY[:slower, :faster]::bigint[], 'exemplars are told in ascending score');
SELECT ok(:'p' LIKE E'%Implementation 1 (score 1.31)\n\n```c\nslower code\n```\n\nImplementation 2 (score 3.10)\n\n```c\nfaster code\n```\n%', 'and shown so, with their scores');
SELECT is(pg_temp.headings(:'p'), ARRAY['## Performance Analysis', '## Algorithm Design', '## Code Implementation'], 'the prompt demands exactly three headings');
SELECT ok(:'p' ~* 'keep no results' AND :'p' ~* 'hyperparameters' AND :'p' ~* 'scores 0', 'caching and changed hyperparameters are forbidden, a wrong result scores 0');

-- the record
SELECT row_eq(format('SELECT kind, strategy, temperature, seed, island, exemplars, scores, prompt = %L FROM cudal1.prompt WHERE prompt_id = %s', :'p', :id),
	ROW('contrastive'::text, 'bucket'::text, 0.7::float8, 11::bigint, NULL::int, ARRAY[:slower, :faster]::bigint[], ARRAY[1.31, 3.1]::float8[], true), 'a prompt is recorded');
SELECT is(jsonb_path_query_array(probabilities, '$.buckets[*].probability'), (SELECT jsonb_agg(probability ORDER BY bucket) FROM cudal1_bucket_stats('product', 0.7)), 'with the probabilities of its draw')
FROM cudal1.prompt WHERE prompt_id = :id;
SELECT count(*) FROM generate_series(1, 5), LATERAL (SELECT tap.decided(:product, 0.3 + generate_series / 3.0, code => 'code ' || generate_series)) AS x \g /dev/null
SELECT prompt_id AS id, exemplars AS e FROM cudal1_prompt('product', 3) \gset
SELECT results_eq(format('SELECT d.candidate_id FROM cudal1.prompt AS p, cudal1_sample_exemplars(''product'', 3, p.strategy, p.temperature, p.seed) AS d WHERE prompt_id = %s', :id),
	format('SELECT unnest(%L::bigint[])', :'e'), 'a draw without a seed is repeated from its record');
SELECT is(temperature, 1::float8, 'the task''s temperature is recorded where none was given') FROM cudal1.prompt WHERE prompt_id = :id;
SELECT isnt(min(seed), max(seed), 'prompts without a seed have different ones') FROM cudal1.prompt WHERE seed <> 11;

-- augment
SELECT prompt_id AS id, prompt AS p, exemplars AS e FROM cudal1_prompt('product', kind => 'augment') \gset
SELECT is(:'e'::bigint[], '{}', 'augment shows no exemplars');
SELECT ok(:'p' LIKE '%Reference implementation (exact copy)%' AND :'p' !~ '\(score' AND :'p' ~ 'numerically stable', 'but an exact copy of the reference, and its demands');
SELECT is(pg_temp.headings(:'p'), NULL, 'and asks for no sections');
SELECT is(state || ' ' || code, 'queued ' || E'int t;\n', 'a fenced code answers it') FROM cudal1.candidate
	WHERE candidate_id = cudal1_submit_response(:id, E'Sure:\n```c\nint t;\n```\n');
SELECT is(kind || exemplars::text || probabilities::text, 'augment{}{}', 'and is recorded') FROM cudal1.prompt WHERE prompt_id = :id;

-- languages
SELECT prompt AS p FROM cudal1_prompt('kernel') \gset
SELECT ok(:'p' LIKE '%extern "C" void solve(__half *x)%device pointers%nvcc%', 'cuda: device pointers, extern "C", nvcc');
SELECT ok(:'p' ~ 'streams' AND :'p' ~ 'NVIDIA GPU', 'cuda: work on streams counts until the device is idle');
SELECT prompt AS p FROM cudal1_prompt('module') \gset
SELECT ok(:'p' LIKE E'%class ModelNew(torch.nn.Module)%load_inline%Triton%```python\nclass Model: pass\n```%', 'pytorch: ModelNew, with kernels of one''s own');
SELECT is(temperature, 0.5::float8, 'the temperature is the task''s') FROM cudal1.prompt WHERE task_id = :module;

-- islands
SELECT prompt_id AS id FROM cudal1_prompt('product', 2, 'island', seed => 4) \gset
SELECT is(count(*), 0::bigint, 'a prompt by strategy island writes no islands') FROM cudal1.island WHERE task_id = :product;
SELECT ok(island BETWEEN 0 AND 9 AND temperature = 0.1 AND strategy = 'island', 'the island is recorded') FROM cudal1.prompt WHERE prompt_id = :id;
SELECT cudal1_submit_response(:id, E'## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```c\nint i;\n```\n') AS answer \gset
UPDATE cudal1.candidate SET state = 'successful', reward = 1.01, score = 1.01, decided_at = now() WHERE candidate_id = :answer;
SELECT cudal1.place_candidate(:answer) \g /dev/null
SELECT is(count(*), 10::bigint, 'islands are written with the first answer that is placed') FROM cudal1.island WHERE task_id = :product;
SELECT is(island, (SELECT island FROM cudal1.prompt WHERE prompt_id = :id), 'which is on the island of its prompt') FROM cudal1.pool_code WHERE candidate_id = :answer;
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'all of it exact');
SELECT prompt_id AS id FROM cudal1_prompt('product', 2, 'island', 'augment') \gset
SELECT is(island, NULL, 'kind augment belongs to no island') FROM cudal1.prompt WHERE prompt_id = :id;

-- prompts made elsewhere
SELECT cudal1_record_prompt('product', 'words of one''s own', ARRAY[:faster, :slower]) AS id \gset
SELECT row_eq(format('SELECT kind, strategy, seed, exemplars, scores, prompt FROM cudal1.prompt WHERE prompt_id = %s', :id),
	ROW('recorded'::text, NULL::text, NULL::bigint, ARRAY[:faster, :slower]::bigint[], ARRAY[3.1, 1.31]::float8[], 'words of one''s own'::text), 'a prompt made elsewhere is recorded');
SELECT ok(island BETWEEN 0 AND 9, 'and belongs to an island that holds its exemplars') FROM cudal1.prompt WHERE prompt_id = :id;
SELECT is(state || ' ' || code, 'queued ' || E'int x;\n', 'a fenced code is an answer') FROM cudal1.candidate
	WHERE candidate_id = cudal1_submit_response(:id, E'<think>\n```c\nint y;\n```\n</think>\nHere:\n\n```c\nint x;\n```\n');
SELECT is(island, (SELECT island FROM cudal1.prompt WHERE prompt_id = :id), 'which goes to the island') FROM cudal1.proposal WHERE prompt_id = :id;
SELECT cudal1_submit_response(:id, E'<think>\n```c\nint w;\n```\n') AS cut \gset
SELECT is(failure || ': ' || detail, 'malformed: the reasoning block is not closed: the answer was cut off', 'a code within reasoning is none') FROM cudal1.candidate WHERE candidate_id = :cut;
SELECT is(failure || ': ' || detail, 'malformed: the response has no fenced code', 'bare words are none, and no section is asked for') FROM cudal1.candidate WHERE candidate_id = cudal1_submit_response(:id, 'int z;');
SELECT is(code, E'int w;\n', 'three sections are, as everywhere') FROM cudal1.candidate
	WHERE candidate_id = cudal1_submit_response(:id, E'## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```c\nint w;\n```\n');
SELECT is(failure, 'malformed', 'a contrastive prompt asks for sections') FROM cudal1_prompt('product') AS p, cudal1.candidate AS c
	WHERE c.candidate_id = cudal1_submit_response(p.prompt_id, E'```c\nint v;\n```\n');
SELECT is(q.island, NULL, 'without exemplars it belongs to no island') FROM cudal1.prompt AS q WHERE q.prompt_id = cudal1_record_prompt('product', 'x');
SELECT throws_ok(q, code, NULL, q) FROM (VALUES ($$SELECT cudal1_record_prompt('no such', 'x')$$, '42704'), ($$SELECT cudal1_record_prompt('product', ' ')$$, '22023'), ($$SELECT cudal1_record_prompt('product', NULL)$$, '22004'),
	($$SELECT cudal1_record_prompt('product', 'x', '{-1}')$$, '42704'), ($$SELECT cudal1_record_prompt('product', 'x', '{NULL}')$$, '22004'), ($$SELECT cudal1_record_prompt('product', 'x', pool => 'no such')$$, '42704'),
	(format('SELECT cudal1_record_prompt(''kernel'', ''x'', ARRAY[%s])', :faster), '22023')) AS v (q, code);

-- words of one's own
SELECT cudal1_add_prompt_template('short', 'contrastive', E'{task} {unknown} on {device}:\n{reference}{exemplars}{restrictions}') AS short \gset
SELECT is(cudal1_add_prompt_template('short', 'contrastive', E'{task} {unknown} on {device}:\n{reference}{exemplars}{restrictions}'), :short::bigint, 'the same template again is the same one');
SELECT prompt_id AS id, prompt AS p FROM cudal1_prompt('product', template => 'short') \gset
SELECT ok(:'p' LIKE E'product {unknown} on a modern CPU:\n````c\n%Implementation 1 (score %Keep no results%', 'a template of one''s own is filled in');
SELECT is(template, 'short', 'and recorded by its name') FROM cudal1.prompt WHERE prompt_id = :id;
SELECT is(state, 'queued', 'a fenced code answers it, as it does not ask for sections') FROM cudal1.candidate WHERE candidate_id = cudal1_submit_response(:id, E'```c\nint u;\n```\n');
SELECT set_eq('SELECT name FROM cudal1.prompt_template WHERE shipped', ARRAY['contrastive', 'augment'], 'the shipped ones are rows');
SELECT throws_ok(q, code, NULL, q) FROM (VALUES ($$SELECT cudal1_add_prompt_template('short', 'contrastive', '{reference}{exemplars}')$$, '23505'), ($$SELECT cudal1_add_prompt_template('x', 'contrastive', '{reference}')$$, '22023'),
	($$SELECT cudal1_add_prompt_template('x', 'few-shot', '{reference}')$$, '22023'), ($$SELECT cudal1_add_prompt_template('x', 'augment', 'words')$$, '22023'), ($$SELECT cudal1_add_prompt_template('x', 'augment', '{reference}', '{exemplars}')$$, '22023'), ($$SELECT cudal1_add_prompt_template('x', 'augment', NULL)$$, '22004'),
	($$SELECT cudal1_prompt('product', template => 'shorter')$$, '42704'), ($$SELECT cudal1_prompt('product', template => 'augment')$$, '22023')) AS v (q, code);

-- a message of role system
SELECT cudal1_add_prompt_template('preface', 'augment', '{reference}', 'An expert in {expertise}.') AS preface \gset
SELECT is(cudal1_add_prompt_template('preface', 'augment', '{reference}', 'An expert in {expertise}.'), :preface::bigint, 'a template has words for the role system');
SELECT throws_ok($$SELECT cudal1_add_prompt_template('preface', 'augment', '{reference}')$$, '23505', NULL, 'which are part of it');
SELECT cudal1_add_prompt_template('asks there', 'augment', '{reference}', '{failures}{answer_format}') AS asks \gset
SELECT prompt_id AS there FROM cudal1_prompt((SELECT name FROM cudal1.task ORDER BY task_id LIMIT 1), kind => 'augment', template => 'asks there', failures => 1) \gset
SELECT isnt(((cudal1.row_of_response(:there, E'```c\nint x;\n```', 'm', NULL, NULL, 0, NULL, NULL, NULL)).origin).malformed, NULL, 'and may have the places of failures and of the answer''s form');
SELECT prompt_id AS id, system AS s FROM cudal1_prompt('product', kind => 'augment', template => 'preface') \gset
SELECT is(:'s'::text, 'An expert in C and the optimisation of numerical code for CPUs.', 'a prompt gives them, filled in');
SELECT is(system, :'s', 'and records them') FROM cudal1.prompt WHERE prompt_id = :id;
SELECT is(system, 'Be brief.', 'so does one made elsewhere') FROM cudal1.prompt WHERE prompt_id = cudal1_record_prompt('product', 'words', system => 'Be brief.');
SELECT is(cudal1.chat('Be brief.', '{q,a,q}'), '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "q"}]', 'a chat has it first');
SELECT is(cudal1.chat(NULL, '{q}'), '[{"role": "user", "content": "q"}]', 'where there is one');

-- failed attempts
SELECT is(failures, '{}', 'without any, none is shown') FROM cudal1.prompt WHERE prompt_id = (SELECT prompt_id FROM cudal1_prompt('product', failures => 3));
CREATE FUNCTION pg_temp.fail(code text, failure text, detail text, pool text DEFAULT 'main') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint := cudal1_submit('product', code, pool => pool);
BEGIN
	DELETE FROM cudal1.job AS j WHERE j.candidate_id = id;
	UPDATE cudal1.candidate AS c SET state = 'failed', failure = fail.failure, detail = fail.detail, reward = 0, decided_at = now() WHERE c.candidate_id = id;
	RETURN id;
END $$;
SELECT cudal1_open_pool('apart') \g /dev/null
SELECT pg_temp.fail('code of old', 'crash', NULL) AS old, pg_temp.fail('code of bad', 'compile_error', E'line 1: ``` expected') AS bad, pg_temp.fail('code of wrong', 'wrong_output', 'element 3 is 1, not 2') AS wrong,
	pg_temp.fail('code of cheat', 'cheat', 'cached'), pg_temp.fail('code of apart', 'timeout', NULL, 'apart') AS apart \gset
SELECT cudal1_submit('product', 'code that waits') \g /dev/null
SELECT prompt_id AS id, prompt AS p FROM cudal1_prompt('product', failures => 2) \gset
SELECT is(failures, ARRAY[:bad, :wrong]::bigint[], 'the latest failures are shown, the last one last') FROM cudal1.prompt WHERE prompt_id = :id;
SELECT ok(:'p' LIKE E'%Failed attempt 1\n\n````text\ncompile_error: line 1: ``` expected\n````\n\n```c\ncode of bad\n```\n\nFailed attempt 2\n\n```text\nwrong_output: element 3%code of wrong%', 'with reasons that stay in their fences');
SELECT ok(:'p' !~ 'code of (old|cheat|apart)', 'a cheat is none, nor what failed in another pool');
SELECT is(failures, ARRAY[:apart]::bigint[], 'which shows its own') FROM cudal1.prompt WHERE prompt_id = (SELECT prompt_id FROM cudal1_prompt('product', kind => 'augment', failures => 5, pool => 'apart'));
SELECT throws_ok(q, e, NULL, q) FROM (VALUES ($$SELECT cudal1_prompt('product', failures => -1)$$, '22023'), ($$SELECT cudal1_prompt('product', failures => 101)$$, '22023'),
	($$SELECT cudal1_prompt('product', failures => NULL)$$, '22004'), ($$SELECT cudal1_prompt('product', template => 'short', failures => 1)$$, '22023')) AS v (q, e);

-- who may
CREATE ROLE prompt_trainer;
SELECT cudal1_grant('prompt_trainer', 'trainer') \g /dev/null
SET ROLE prompt_trainer;
SELECT is(count(*), 1::bigint, 'a trainer prompts without rights on tables') FROM cudal1_prompt('product');
SELECT throws_ok($$INSERT INTO cudal1.prompt (task_id) VALUES (1)$$, '42501', NULL, 'and cannot forge a record');
RESET ROLE;

SELECT throws_ok(q, code, NULL, q) FROM (VALUES ($$SELECT cudal1_prompt('no such')$$, '42704'), ($$SELECT cudal1_prompt('product', 0)$$, '22023'),
	($$SELECT cudal1_prompt('product', 2, 'best')$$, '22023'), ($$SELECT cudal1_prompt('product', 2, 'best', 'augment')$$, '22023')) AS v (q, code);

-- one that a request could not hold is not made
SELECT cudal1_add_task('long', 'ref', 'pytorch') \g /dev/null
SELECT cudal1_import_result('long', repeat('x', 1048570) || n, 1 + n / 100.0, 'elsewhere', 'M') FROM generate_series(1, 10) AS n \g /dev/null
SELECT throws_ok($$SELECT cudal1_prompt('long', 10, 'random')$$, '54000', 'the prompt would be longer than 10 MiB', 'a prompt has an end');
