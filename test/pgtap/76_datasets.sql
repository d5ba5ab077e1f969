-- What trainers get, and what codes do: data sets without duplicates, techniques by keywords and by a model.
SELECT plan(67);

SELECT cudal1_add_task(t, 'class Model: pass # ' || t, 'pytorch', NULL, 1, options => '{"device": "cpu"}') FROM unnest(ARRAY['a', 'b']) AS t \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
SELECT prompt_id AS p FROM cudal1_prompt('a', kind => 'augment') \gset
SELECT prompt_id AS p2 FROM cudal1_prompt('b', kind => 'augment') \gset

SELECT cudal1_submit('a', 'one', 'manual'), cudal1_submit_response(:p, tap.words('one'), 'x', 'g', 'k1'), cudal1_submit_response(:p, tap.words('two'), 'x', 'g', 'k2'),
	cudal1_submit_response(:p2, tap.words('three'), 'y') \g /dev/null
SELECT tap.measure(:d, 1.5) \g /dev/null
SELECT cudal1_submit('b', 'four', 'manual'), cudal1_submit('b', 'null', 'manual', purpose => 'null') \g /dev/null
SELECT tap.measure(:d, 1.8) \g /dev/null
SELECT cudal1_submit_response(:p, tap.words('bad'), 'x', 'g', 'k3'), cudal1_submit_response(:p, 'nothing', 'x', 'g', 'k4') \g /dev/null
SELECT tap.measure(:d, NULL) \g /dev/null
SELECT cudal1_submit_response(:p, tap.words('waits'), 'x', 'g', 'k5') \g /dev/null

-- supervised fine-tuning
SELECT is((SELECT array_agg(s ->> 'task' || ' ' || (s ->> 'method') || ' ' || (s ->> 'reward')) FROM cudal1_sft_dataset() AS s), ARRAY['a x 1.5', 'a x 1.5', 'b manual 1.8', 'b y 1.5'],
	'a row for each successful code, best first, an answer before a bare code');
SELECT is((SELECT s #>> '{messages,0,content}' FROM cudal1_sft_dataset() AS s LIMIT 1), (SELECT prompt FROM cudal1.prompt WHERE prompt_id = :p), 'the question is the prompt');
SELECT is((SELECT s #>> '{messages,1,content}' FROM cudal1_sft_dataset() AS s LIMIT 1), tap.words('one'), 'the answer is the whole answer');
SELECT is((SELECT array_agg(s #>> '{messages,0,role}' || ' ' || (s #>> '{messages,1,role}')) FROM cudal1_sft_dataset(methods => '{y}') AS s), ARRAY['user assistant'], 'roles are those of a chat');
SELECT is((SELECT s #>> '{messages,1,content}' FROM cudal1_sft_dataset(methods => '{manual}', tasks => '{b}') AS s), E'```python\nfour\n```\n', 'a bare code is an answer of its own');
SELECT is((SELECT s #>> '{messages,0,content}' FROM cudal1_sft_dataset(methods => '{manual}', tasks => '{b}') AS s), (SELECT prompt FROM cudal1_prompt('b', kind => 'augment')), 'to the prompt that would be asked');
SELECT is((SELECT count(*) FROM cudal1_sft_dataset(above => 1.5)), 1::bigint, 'above a reward');
SELECT is((SELECT count(*) FROM cudal1_sft_dataset(per_task => 1)), 2::bigint, 'the best of each task');
SELECT is((SELECT array_agg(s ->> 'reward') FROM cudal1_sft_dataset(methods => '{y}', per_task => 1) AS s), ARRAY['1.5'], 'the best of those that are asked for, not of all');
SELECT is((SELECT count(*) FROM cudal1_sft_dataset(tasks => '{a}')), 2::bigint, 'of some tasks');
SELECT throws_ok('SELECT cudal1_sft_dataset(above => ''NaN'')', '22023', NULL, 'above must be a number');
SELECT throws_ok('SELECT cudal1_sft_dataset(per_task => 0)', '22023', NULL, 'per_task must be positive');
SELECT throws_ok('SELECT cudal1_sft_dataset(campaign => ''z'')', '42704', NULL, 'an unknown campaign');
SELECT throws_ok('SELECT cudal1_sft_dataset(tasks => ''{a,z}'')', '42704', NULL, 'an unknown task');

SELECT is((SELECT array_agg(s #>> '{messages,1,content}') FROM cudal1_sft_dataset(tasks => '{a}', content => 'code') AS s), ARRAY[E'```python\none\n```\n', E'```python\ntwo\n```\n'], 'codes alone');
-- what passed all checks, but could not be confirmed
SAVEPOINT before_steady;
SELECT cudal1_submit('a', 'unsteady') AS unsteady \gset
INSERT INTO cudal1.measurement (task_id, candidate_id, kind, attempt, device_id, device_model, profile, outcome, code_hash) SELECT task_id, candidate_id, 'measure', 1, :d, 'M', 'default', 'unstable', code_hash FROM cudal1.candidate WHERE candidate_id = :unsteady RETURNING measurement_id AS m \gset
SELECT cudal1.give_verdict(c, 'unverified', :m, 'two measurements disagree') FROM cudal1.candidate AS c WHERE candidate_id = :unsteady \g /dev/null
SELECT is((SELECT count(*) FROM cudal1_sft_dataset(tasks => '{a}')), 2::bigint, 'a correct code whose time is unconfirmed is left out');
SELECT is((SELECT array_agg((s ->> 'candidate_id')::bigint) FILTER (WHERE s -> 'reward' = 'null') FROM cudal1_sft_dataset(tasks => '{a}', unconfirmed => true) AS s), ARRAY[:unsteady]::bigint[], 'unless it is asked for');
SELECT is((SELECT count(*) FROM cudal1_sft_dataset(tasks => '{a}', unconfirmed => true, above => 1)), 2::bigint, 'without a reward it is above none');
ROLLBACK TO before_steady;

-- reinforcement learning
SELECT is((SELECT array_agg((s ->> 'reward')::float8) FROM cudal1_rl_dataset(tasks => '{a}') AS s), ARRAY[1.5, 1.5, 0, 0, NULL]::float8[], 'all answers, with what has no verdict as NULL');
SELECT is((SELECT array_agg((s ->> 'advantage')::float8) FROM cudal1_rl_dataset(tasks => '{a}') AS s), ARRAY[1, 1, -1, -1, NULL]::float8[], 'advantages within the group');
SELECT is((SELECT array_agg((s ->> 'advantage')::float8) FROM cudal1_rl_dataset(tasks => '{a}', variant => 'dr_grpo') AS s), ARRAY[0.75, 0.75, -0.75, -0.75, NULL]::float8[], 'of any variant');
SELECT is((SELECT array_agg((s ->> 'reward')::float8) FROM cudal1_rl_dataset(tasks => '{a}', reward => 'binary') AS s), ARRAY[1, 1, 0, 0, NULL]::float8[], 'or as success and failure');
SELECT is((SELECT array_agg(DISTINCT s ->> 'group') FROM cudal1_rl_dataset() AS s), ARRAY['key g', 'prompt ' || :p2], 'without a key the prompt makes the group');
SELECT is((SELECT row(s ->> 'state', s ->> 'failure')::text FROM cudal1_rl_dataset() AS s WHERE s ->> 'response' = 'nothing'), '(failed,malformed)', 'what failed says why');
SELECT throws_ok('SELECT cudal1_rl_dataset(reward => ''best'')', '22023', NULL, 'no such reward');
SELECT throws_ok('SELECT cudal1_rl_dataset(variant => ''best'')', '22023', NULL, 'no such variant');SELECT throws_ok('SELECT cudal1_rl_dataset(tasks => ''{z}'')', '42704', NULL, 'no such task');
SELECT throws_ok('SELECT cudal1_rl_dataset(campaign => ''z'')', '42704', NULL, 'no such campaign');

-- what is left out was compared all the same
SELECT cudal1_submit_response(:p2, tap.words('three'), 'y', 'h'), cudal1_submit_response(:p2, 'nothing', 'z', 'h'), cudal1_submit('b', 'four', 'w', group_key => 'h') \g /dev/null
SELECT is((SELECT array_agg(round((s ->> 'advantage')::numeric, 4)) FROM cudal1_rl_dataset(methods => '{y}') AS s WHERE s ->> 'group' = 'key h'), ARRAY[0.5080], 'a method''s answers keep the advantages of their group');
SELECT is((SELECT round(advantages[1]::numeric, 4) FROM cudal1_group_advantages(ARRAY[1.5, 0, 1.8]) AS advantages), 0.5080, 'which counts those of others, and bare codes');
SELECT cudal1_open_pool('run1'), cudal1_submit_response(:p2, tap.words('three'), 'y', 'x', pool => 'run1'), cudal1_submit_response(:p2, 'nothing', 'z', 'x in pool run1') \g /dev/null
SELECT is((SELECT array_agg((s ->> 'advantage')::float8) FROM cudal1_rl_dataset(tasks => '{b}') AS s WHERE s ->> 'group' = 'key x in pool run1'), '{0,0}'::float8[], 'groups whose names read alike stay apart');
SELECT cudal1_prune('0 days') \g /dev/null
SELECT is((SELECT array_agg((s ->> 'advantage')::float8) FROM cudal1_rl_dataset(tasks => '{a}') AS s), ARRAY[1, 1, NULL]::float8[], 'answers that stay keep theirs when others are pruned');
SELECT is((SELECT array_agg(round((s ->> 'advantage')::numeric, 4)) FROM cudal1_rl_dataset(tasks => '{b}') AS s WHERE s ->> 'group' = 'key h'), ARRAY[0.5080], 'in every group');

-- techniques
SELECT is(ARRAY(SELECT t.name FROM cudal1.technique AS t WHERE code ~* t.pattern ORDER BY t.name), names, left(code, 40))
FROM (VALUES ('x = x + 1', '{}'::text[]), ('__global__ void k(const float *a, float *b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] = a[i]; } void f(...) { dim3 g((n + 255) / 256); k<<<g, 256>>>(a, b, n); }', '{}'),
	('float4 v = reinterpret_cast<const float4 *>(a)[i];', '{memory coalescing,vectorization}'), ('__launch_bounds__(256, 4)', '{optimized thread block configuration,register optimization}'), ('v = __ldg(a + i);', '{memory access optimization,memory hierarchy optimization}'),
	('for (i = t; i < n; i += gridDim.x * blockDim.x)', '{thread coarsening}'), ('y = fminf(fmaxf(x, -1), 1);', '{branchless implementation}'), ('s.wait_stream(t)', '{minimal synchronization}'), ('with torch.cuda.stream(s):', '{asynchronous execution,stream management}'), ('__shared__ float tile[32][33];', '{shared memory usage,tiling}'), ('v = __shfl_down_sync(m, v, 16);', '{warp-level optimization}'),
	('#pragma omp parallel for', '{multithreading}'), ('y = x.to(memory_format=torch.channels_last)', '{memory format optimization}')) AS v (code, names);
SELECT cudal1_submit('a', '__shared__ float s[32]; #pragma unroll', 'manual') AS c \gset
SELECT tap.measure(:d, 1.6) \g /dev/null
SELECT is(cudal1_extract_techniques(), 6::bigint, 'all successful codes are looked at');
SELECT is((SELECT array_agg(technique ORDER BY technique) FROM cudal1.candidate_technique WHERE candidate_id = :c), '{"loop unrolling","register optimization","shared memory usage"}', 'and what they use is noted');
SELECT is((SELECT row(candidates, tasks, round(share::numeric, 3), median_reward)::text FROM cudal1.technique_frequency WHERE technique = 'loop unrolling'), '(1,1,0.167,1.6)', 'and counted, as a share of all that were looked at');
SELECT is(cudal1_extract_techniques(ARRAY[:c]), 1::bigint, 'again, it adds nothing');
SELECT throws_ok('SELECT cudal1_extract_techniques(ARRAY[-1])', '42704', NULL, 'an unknown candidate');
SELECT throws_ok('SELECT cudal1_extract_techniques(ARRAY[NULL::bigint])', '22004', NULL, 'or none');
SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'm') \g /dev/null
SELECT is(cudal1_extract_techniques(ARRAY[:c], 'm'), 1::bigint, 'a model is asked');
SELECT is(cudal1_extract_techniques(ARRAY[:c], 'm'), 0::bigint, 'once');
SELECT matches(job #>> '{body,messages,0,content}', 'shared memory usage.*__shared__ float s\[32\]', 'with the terms and the code') FROM cudal1.claim_requests('w', 10);
SELECT cudal1.finish_request(jsonb_build_object('request_id', request_id, 'attempt', 1, 'outcome', 'answered', 'text', E'Sure: ["Tiling", "bank conflict padding"]')) FROM cudal1.request \g /dev/null
SELECT cudal1.take_answers() \g /dev/null
SELECT is((SELECT array_agg(technique ORDER BY technique) FROM cudal1.candidate_technique WHERE candidate_id = :c AND source = 'm'), '{"bank conflict padding",tiling}', 'its terms are noted, also new ones');
SELECT cudal1.take_techniques(c.candidate_id, CASE c.purpose WHEN 'null' THEN '["tiling"]' ELSE '[]' END, 'm') FROM cudal1.candidate AS c WHERE c.code IN ('null', 'two', 'bad') \g /dev/null
SELECT is((SELECT array_agg(share) FROM cudal1.technique_frequency WHERE technique = 'tiling' AND source = 'm'), '{0.5}'::float8[], 'one of two successful codes, one of another purpose apart');
CREATE TEMP TABLE named AS
	SELECT * FROM (VALUES ('with an index', E'[1] It uses a[i] and x[0]: ["tiling"]', '{tiling}'::text[]), ('in a fence', E'```json\n["Loop Unrolling", "tiling"]\n```', '{loop unrolling,tiling}'),
		('that thinks', E'<think>["prefetch"]? no</think>["tiling"]', '{tiling}'), ('of none', '[]', '{}'), ('that says more', E'["tiling"] as in float x[];', '{tiling}')) AS v (n, answer, names);
SELECT cudal1.take_techniques(:c, answer, n) FROM named \g /dev/null
SELECT is(ARRAY(SELECT technique FROM cudal1.candidate_technique WHERE source = n ORDER BY 1), names, 'of an answer ' || n) FROM named;
SELECT throws_ok(format('SELECT cudal1.take_techniques(%s, %L, ''m'')', :c, t), '22023', NULL, 'no list: ' || t) FROM (VALUES (''), ('tiling'), ('[tiling]'), ('[1, 2]'), ('{"a": 1}')) AS v (t);
