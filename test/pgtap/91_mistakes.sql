-- Plausible mistakes of trainers, engineers, analysts and operators: each is refused with its SQLSTATE, and what is said
-- names what would be right. Hints that the server's own errors get are in test/sql/errors.sql, mistakes with programs in
-- test/t/053_command_line.pl, 060_import.pl, 061_agent.pl, 089_report.pl and 091_top.pl.

SELECT cudal1_add_task('column sums', 'void solve(float *x) {}', 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [4], "role": "inout"}]}',
	options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_add_task('gone', 'class Model: pass', 'pytorch') \g /dev/null
SELECT cudal1_retire_task('gone', 'its outputs are not set') \g /dev/null
SET client_min_messages = error;
SELECT cudal1_submit('column sums', 'code', 'hand') AS id \g /dev/null
SELECT cudal1_add_model('model', 'http://127.0.0.1:9/v1', 'qwen') \g /dev/null
SELECT * FROM cudal1_prompt('column sums') \g /dev/null
CREATE ROLE plain_role;

CREATE FUNCTION pg_temp.signature(args text) RETURNS text LANGUAGE sql AS
	$$SELECT format('SELECT cudal1_add_task(''t'', ''x'', ''c'', %L)', '{"entry": "solve", "args": [' || args || ']}')$$;
CREATE TEMP TABLE mistake (n serial, statement text, state text, says text);
INSERT INTO mistake (statement, state, says) VALUES
	-- tasks
	($$SELECT cudal1_add_task('t', 'x', 'python')$$, '22023', 'It is one of c, cuda, pytorch'),
	($$SELECT cudal1_add_task('', 'x', 'c')$$, '22023', 'task must be a name of 1 to 1000 bytes'),
	($$SELECT cudal1_add_task('t', '', 'pytorch')$$, '22023', 'reference must not be empty'),
	($$SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', '{}')$$, '22023', 'signature must be null.*get_inputs'),
	($$SELECT cudal1_add_task('t', 'x', 'c')$$, '22023', 'signature must not be null.*For instance'),
	($$SELECT cudal1_add_task('t', 'x', 'c', '{"entry": "solve", "args": [')$$, '22P02', 'input string ended unexpectedly'),
	($$SELECT cudal1_add_task('t', 'x', 'c', '[]')$$, '22023', 'must be a JSON object.*For instance'),
	($$SELECT cudal1_add_task('t', 'x', 'c', '{"args": []}')$$, '22023', 'entry must be the name of a C function.*For instance'),
	($$SELECT cudal1_add_task('t', 'x', 'c', '{"entry": "f", "args": {}}')$$, '22023', 'args must be an array of 1 to 32'),
	($$SELECT cudal1_add_task('t', 'x', 'c', '{"arguments": []}')$$, '22023', 'unknown member "arguments".*Members are entry, args'),
	($$SELECT cudal1_add_task('t', 'x', 'c', '{"entry": "f", "rtol": "1e-4", "args": [{"name": "x", "dtype": "float32", "shape": [4], "role": "out"}]}')$$, '22023', 'rtol must be a number'),
	(pg_temp.signature('{"name": "x", "dtype": "fp32", "shape": [4], "role": "out"}'), '22023', 'argument 1 \(x\) has no valid dtype.*It is one of float64'),
	(pg_temp.signature('{"name": "x", "type": "float32", "shape": [4], "role": "out"}'), '22023', 'Did you mean "dtype" by "type"'),
	(pg_temp.signature('{"name": "x", "dtype": "float32", "shape": [4], "role": "output"}'), '22023', 'Did you mean "out".*It is one of in, out, inout, scalar'),
	(pg_temp.signature('{"name": "x", "dtype": "float32", "shape": "4", "role": "out"}'), '22023', 'needs a shape of 1 to 8 dimensions.*For instance'),
	(pg_temp.signature('{"name": "x", "dtype": "float32", "shape": ["n"], "role": "out"}'), '22023', 'dimension must be an integer from 1 to'),
	(pg_temp.signature('{"name": "x", "dtype": "float32", "shape": [4], "role": "inout", "init": "random"}'), '22023', 'It is one of normal, uniform'),
	(pg_temp.signature('{"name": "x", "dtype": "float32", "shape": [4], "role": "in"}'), '22023', 'no argument has the role out or inout'),
	(pg_temp.signature('{"name": "n", "dtype": "int32", "role": "scalar"}'), '22023', 'needs a number as value.*For instance'),
	(pg_temp.signature('{"name": "n", "dtype": "int32", "role": "scalar", "value": 3.5}'), '22023', 'value of int32 must be an integer'),
	(pg_temp.signature('{"name": "1x", "dtype": "float32", "shape": [4], "role": "out"}'), '22023', 'a name that is a C identifier'),
	(pg_temp.signature('{"name": "x", "dtype": "float32", "shape": [400000, 400000], "role": "out"}'), '22023', 'more than 16 GiB'),
	($$SELECT cudal1_add_task('t', 'x', 'pytorch', options => '{"profil": "quick"}')$$, '22023', 'unknown option "profil".*Did you mean "profile"\? Options are profile'),
	($$SELECT cudal1_add_task('t', 'x', 'pytorch', options => '{"profile": "quik"}')$$, '42704', 'Did you mean "quick"'),
	($$SELECT cudal1_add_task('t', 'x', 'pytorch', options => '{"cores": "two"}')$$, '22023', 'must be an integer between 1 and 1024'),
	($$SELECT cudal1_add_task('column sums', 'y', 'pytorch')$$, '23505', 'exists with other content: reference, language, signature.*another name'),
	($$SELECT cudal1_retire_task('colum sums', 'x')$$, '42704', 'Did you mean "column sums"'),
	($$SELECT cudal1_retire_task('column sums', NULL)$$, '22004', 'reason must not be null'),
	($$SELECT cudal1_certify_task('colum sums')$$, '42704', 'Did you mean "column sums"'),
	-- submitting and waiting
	($$SELECT cudal1_submit('colum sums', 'x')$$, '42704', 'Did you mean "column sums"'),
	($$SELECT cudal1_submit('gone', 'x')$$, '42704', 'is retired.*outputs are not set.*cudal1_restore_task'),
	($$SELECT cudal1_submit('column sums', '')$$, '22023', 'code must not be empty'),
	($$SELECT cudal1_submit('column sums', NULL)$$, '22004', 'code must not be null'),
	($$SELECT cudal1_submit('column sums', 'x', prompt_id => 999)$$, '42704', 'prompt 999 does not exist'),
	($$SELECT cudal1_submit('column sums', 'x', pool => 'mian')$$, '42704', 'Did you mean "main"'),
	($$SELECT cudal1_submit('column sums', 'x', purpose => 'training')$$, '22023', 'It is one of normal, null, certification, ablation'),
	($$SELECT * FROM cudal1_submit_batch(ARRAY['column sums'], ARRAY['a', 'b'])$$, '2202E', 'same length.*1, 2'),
	($$SELECT cudal1_submit_response(999, 'x')$$, '42704', 'Prompts come from cudal1_prompt'),
	($$SELECT * FROM cudal1_wait(ARRAY[99999])$$, '42704', 'cudal1.candidate lists them'),
	($$SELECT * FROM cudal1_wait('{}', '-1 second')$$, '22023', 'timeout must not be negative'),
	($$SELECT cudal1_cancel(ARRAY[99999])$$, '42704', 'Ids come from cudal1_submit'),
	($$SELECT cudal1_withdraw(1, '')$$, '22023|42704', 'reason must be|Ids come from'),
	-- prompts
	($$SELECT cudal1_prompt('column sums', kind => 'contrastiv')$$, '22023', 'Did you mean "contrastive"\? It is one of'),
	($$SELECT cudal1_prompt('column sums', n => 0)$$, '22023', 'must lie between 1 and 1000'),
	($$SELECT cudal1_prompt('column sums', temperature => 0)$$, '22023', 'between 1e-06 and 1000000000'),
	($$SELECT cudal1_prompt('column sums', temperature => 1e300)$$, '22023', 'between 1e-06 and 1000000000'),
	($$SELECT cudal1_prompt('column sums', temperature => 'NaN')$$, '22023', 'between 1e-06 and 1000000000'),
	($$SELECT cudal1_prompt('column sums', template => 'mine')$$, '42704', 'cudal1.prompt_template lists'),
	($$SELECT cudal1_prompt('column sums', strategy => 'islands')$$, '22023', 'Did you mean "island"'),
	($$SELECT * FROM cudal1_sample_exemplars('column sums', strategy => 'best')$$, '22023', 'It is one of bucket, island, random'),
	($$SELECT cudal1_add_prompt_template('mine', 'contrastive', 'Make {task} fast')$$, '22023', 'the place \{reference\}'),
	($$SELECT cudal1_open_pool('new', 'mian')$$, '42704', 'Did you mean "main"'),
	($$SELECT cudal1_group_advantages('{1,2}', 'verrl')$$, '22023', 'Valid variants are'),
	($$SELECT * FROM cudal1_score_rounds('{1,2,3}', '{1,2}')$$, '2202E', 'same length'),
	($$SELECT * FROM cudal1_score_rounds('{1,2,3,4,5,6,7}', '{1,2,3,4,5,6,7}', 'defaults')$$, '42704', 'Did you mean "default"'),
	($$SELECT * FROM cudal1_group_result('nogroup')$$, '42704', 'Groups come from'),
	-- reports
	($$SELECT * FROM cudal1_speedup_report('hnad')$$, '42704', 'Did you mean "hand"'),
	($$SELECT * FROM cudal1_speedup_report(device => 'H100')$$, '42704', 'Name a class'),
	($$SELECT * FROM cudal1_speedup_report(missing => 'zeros')$$, '22023', 'Did you mean "zero"'),
	($$SELECT * FROM cudal1_speedup_report(missing => 'none')$$, '22023', '"zero", "one" or "drop"'),
	($$SELECT * FROM cudal1_speedup_report(tasks => '{colum sums}')$$, '42704', 'names or LIKE patterns'),
	($$SELECT * FROM cudal1_speedup_report(pool => 'mian')$$, '42704', 'Did you mean "main"'),
	($$SELECT * FROM cudal1_speedup_report(baseline => 'compil')$$, '42704', 'Did you mean "compile"'),
	($$SELECT * FROM cudal1_percentiles(fractions => '{50,90}')$$, '22023', 'between 0 and 1.*For instance'),
	($$SELECT * FROM cudal1_fast_p(p => '{-1}')$$, '22023', 'For instance'),
	($$SELECT * FROM cudal1_compare('x', 'y')$$, '42704', 'cudal1.stat_method lists'),
	($$SELECT * FROM cudal1_compare('hand', 'hand', confidence => 95)$$, '22023', 'between 0 and 1'),
	($$SELECT cudal1_rl_dataset(methods => '{hnad}')$$, '42704', 'Did you mean "hand"'),
	($$SELECT cudal1_sft_dataset(methods => '{hand,grop}')$$, '42704', 'method "grop" does not exist'),
	($$SELECT cudal1_sft_dataset(content => 'answers')$$, '22023', 'Contents are'),
	-- operators
	($$SELECT cudal1_evaluate('{99999}')$$, '42704', 'Ids come from'),
	($$SELECT cudal1_evaluate('{}', profile => 'paper_evl')$$, '42704', 'Did you mean "paper_eval"'),
	($$SELECT cudal1_evaluate('{}', device => 'gpu')$$, '42704', 'Name a class \(cpu, cuda\)'),
	($$SELECT cudal1_grant('plain_rol', 'trainer')$$, '42704', 'Did you mean "plain_role"'),
	($$SELECT cudal1_grant('plain_role', 'trainers')$$, '22023', 'Did you mean "trainer"\? It is one of'),
	($$SELECT cudal1_set_weight('plain_role', -1)$$, '22023', 'between 0.001 and 1000'),
	($$SELECT cudal1_enable_device('cpu:9', true)$$, '42704', 'cudal1.device lists'),
	($$SELECT cudal1_import_result('column sums', 'x', -2, 'a', 'A100')$$, '22023', 'must be null, 0 or'),
	($$SELECT cudal1_ablate(99999, '{A}')$$, '42704', 'Ids come from'),
	($$SELECT cudal1_add_profile('mine', 'quick', '{"bucket_secnds": 1}', 'x')$$, '22023', 'Did you mean "bucket_seconds"'),
	($$SELECT cudal1_add_profile('quick', 'default', '{}', 'x')$$, '23505', 'exists already.*another name'),
	($$SELECT cudal1_add_baselines('column sums')$$, '22023', 'made of PyTorch references'),
	($$SELECT cudal1_reverify(best_per_task => 0)$$, '22023', 'at least 1'),
	($$SELECT cudal1_prune('-1 day')$$, '22023', 'must not be negative'),
	($$SELECT cudal1_reverify('-1 day')$$, '22023', 'must not be negative'),
	-- rows that are not named
	($$SELECT * FROM cudal1_wait('{NULL}')$$, '22004', 'candidate_ids must not contain nulls'),
	($$SELECT cudal1_lineage(NULL)$$, '22004', 'candidate must not be null'),
	($$SELECT cudal1_withdraw(NULL, 'x')$$, '22004', 'candidate_id must not be null'),
	($$SELECT * FROM cudal1_group_result(NULL)$$, '22004', 'group_key must not be null'),
	($$SELECT cudal1_answer_group(NULL, '{a}')$$, '22004', 'group_key must not be null'),
	($$SELECT cudal1_end_campaign(NULL)$$, '22004', 'campaign must not be null'),
	($$SELECT * FROM cudal1_prompt('column sums', pool => NULL)$$, '22004', 'pool must not be null'),
	($$SELECT cudal1_submit_response(NULL, 'x')$$, '22004', 'prompt_id and response must not be null'),
	($$SELECT cudal1_generate(1, NULL)$$, '22004', 'model must not be null'),
	($$SELECT cudal1_cancel_requests('{99999}')$$, '42704', 'cudal1.request lists'),
	($$SELECT cudal1_open_pool(' ')$$, '22023', 'a text of 1 to 100 characters, not blank'),
	($$SELECT cudal1_group_advantages('{1,NaN}')$$, '22003|22023', 'finite numbers only.*Element 2 is NaN'),
	($$SELECT cudal1_group_advantages('{{1,2},{3,4}}')$$, '2202E', 'It has 2 dimensions'),
	($$SELECT cudal1_submit('column sums', 'x', priority => 2147483647)$$, '22023', 'lie between -1000000000 and 1000000000'),
	($$SELECT * FROM cudal1_prompt('column sums', failures => 1000)$$, '22023', 'lie between 0 and 100'),
	($$SELECT cudal1_import_result('column sums', 'x', 'NaN', 'm', 'A100')$$, '22023', 'must be null, 0 or lie between'),
	($$SELECT cudal1_add_profile('mine', 'quick', '{"pairs": 2.5}', 'x')$$, '22023', 'must be of type integer'),
	($$SELECT cudal1_add_profile('mine', 'quick', '{"bucket_seconds": 0}', 'x')$$, '22023', 'Valid is bucket_seconds >= 0.001'),
	-- models
	($$SELECT cudal1_add_campaign('c', 'vanilla')$$, '22023', 'needs models.*an operator adds one'),
	($$SELECT cudal1_add_model('m', 'localhost:8000', 'qwen')$$, '22023', 'endpoint must be http://'),
	($$SELECT cudal1_add_model('m', 'http://localhost:8000/v1/chat/completions', 'qwen')$$, '22023', 'address before /chat/completions'),
	($$SELECT cudal1_add_model('m', 'http://localhost/v1', 'qwen', key_name => 'sk-0123456789')$$, '22023', 'not the key itself'),
	($$SELECT cudal1_add_model('m', 'http://localhost/v1', ' ')$$, '22023', 'model must be a name of 1 to 255 characters, not blank'),
	($$SELECT cudal1_add_model('m', 'http://localhost/v1', 'qwen', concurrency => 0)$$, '22023', 'between 1 and 10000'),
	($$SELECT cudal1_generate(1, 'modle')$$, '42704', 'Did you mean "model"'),
	($$SELECT cudal1_add_campaign('c', 'evolv', '{model}')$$, '22023', 'Did you mean "evolve"\? It is one of'),
	($$SELECT cudal1_add_campaign('c', 'evolve', '{model}')$$, '22023', 'Give at least one of the options'),
	($$SELECT cudal1_add_campaign('c', 'evolve', '{model}', options => '{"max_candidate": 3}')$$, '22023', 'Did you mean "max_candidates"\? Options are'),
	($$SELECT cudal1_pause_campaign('c')$$, '42704', 'cudal1.campaign_progress lists');

SELECT plan((SELECT count(*)::int FROM mistake));

SELECT matches(tap.answer(statement), format('^(%s) .*(%s)', state, says), left(statement, 100)) FROM mistake ORDER BY n;
