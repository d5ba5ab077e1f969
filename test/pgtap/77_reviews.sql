-- Reviews of rewards: a model orders what a person should read, shown what was found before, and decides nothing.
SELECT plan(23);

SELECT cudal1_add_task(t, 'class Model: pass # ' || t, 'pytorch', options => '{"device": "cpu"}') FROM unnest(ARRAY['a', 'b', 'c']) AS t \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'm') \g /dev/null
CREATE FUNCTION pg_temp.measure(device bigint, task text, code text, result jsonb) RETURNS bigint LANGUAGE sql AS
	$$SELECT cudal1_submit(task, code); SELECT candidate_id FROM tap.work(device, result)$$;
CREATE FUNCTION pg_temp.tell(model text, about bigint, words text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	j	record;
BEGIN
	PERFORM cudal1_review(model, ARRAY[about]);
	SELECT * INTO STRICT j FROM cudal1.claim_requests('w', 1);
	PERFORM cudal1.finish_request(jsonb_build_object('request_id', j.request_id, 'attempt', j.attempt, 'outcome', 'answered', 'text', words));
	RETURN (SELECT error FROM cudal1.request WHERE request_id = j.request_id);
END
$$;
CREATE FUNCTION pg_temp.score(s float8, evidence jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
	$$SELECT jsonb_build_object('outcome', 'successful', 'score', s, 'lower', s, 'upper', s, 'evidence', evidence)$$;

SELECT is((SELECT count(*) FROM cudal1.request), 0::bigint, 'nothing asks for reviews by itself');
SELECT pg_temp.measure(:d, 'a', 'fast', pg_temp.score(1.9)) AS fast, pg_temp.measure(:d, 'a', 'slower', pg_temp.score(1.2)) AS slower, pg_temp.measure(:d, 'b', 'other', pg_temp.score(1.1)) AS other,
	pg_temp.measure(:d, 'c', 'caught', '{"outcome": "cheat", "detail": "it keeps results"}') AS caught, pg_temp.measure(:d, 'c', 'slow', pg_temp.score(0.5)) AS slow \gset

-- cases
SELECT results_eq('SELECT candidate_id, found, reason FROM cudal1.cheat_case ORDER BY candidate_id', format($$VALUES (%s::bigint, 'cheat'::text, 'it keeps results'::text)$$, :caught), 'cases are what detectors found');

-- asking
SELECT is(cudal1_review('m'), 2::bigint, 'the best of each task that was paid more than 1.00');
SELECT set_eq('SELECT about FROM cudal1.request', ARRAY[:fast, :other]::bigint[], 'and no other');
SELECT is(cudal1_review('m'), 0::bigint, 'once');
CREATE TEMP TABLE job AS SELECT * FROM cudal1.claim_requests('w', 1);
SELECT matches(job #>> '{body,messages,0,content}', 'measured as 1.9 times.*cheat: it keeps results.*Code:\s+fast', 'a model is shown the cases, the reference and the code') FROM job;
SELECT is(cudal1.question('techniques', :fast) LIKE '%techniques%', true, 'which is another question than that for techniques');
SELECT cudal1_cancel_requests(ARRAY(SELECT request_id FROM cudal1.request)), cudal1.finish_request(jsonb_build_object('request_id', request_id, 'attempt', 1, 'outcome', 'cancelled')) FROM job \g /dev/null

-- answers
SELECT is(pg_temp.tell('m', :slower, E'<think>{"suspicion": 1}</think>It is fine: {"suspicion": 0.1, "reason": "a loop is tiled"}'), NULL, 'an answer is taken');
SELECT is(pg_temp.tell('m', :fast, '{"suspicion": 0.9, "reason": "it caches"}'), NULL, 'and another');
SELECT is(pg_temp.tell('m', :other, '{"suspicion": 0.9, "reason": "it waits"}'), NULL, 'and one more');
SELECT results_eq('SELECT candidate_id, suspicion, reason FROM cudal1.suspect', format($$VALUES (%s::bigint, 0.9::float8, 'it caches'::text), (%s, 0.9, 'it waits'), (%s, 0.1, 'a loop is tiled')$$, :fast, :other, :slower),
	'a person reads what is suspicious first, then what is paid best');
SELECT is((SELECT array_agg(reward ORDER BY candidate_id) FROM cudal1.candidate WHERE candidate_id IN (:fast, :slower, :other)), ARRAY[1.9, 1.2, 1.1]::float8[], 'no reward changes');
SELECT is((SELECT array_agg(DISTINCT answer) FROM cudal1.request WHERE state = 'answered'), '{""}', 'requests, which trainers read, don''t say what is suspicious');
SELECT is(cudal1_review('m', ARRAY[:slow, :caught, :slow]), 1::bigint, 'a code is asked about once, and not where it earns nothing');
SELECT cudal1.finish_request(jsonb_build_object('request_id', request_id, 'attempt', attempt, 'outcome', 'oversized', 'text', '{"suspicion": 0.5')) FROM cudal1.claim_requests('w', 1) \g /dev/null
SELECT is((SELECT answer FROM cudal1.request WHERE about = :slow), NULL, 'nor does the half of an answer');
SELECT cudal1_withdraw(:fast, 'it caches') \g /dev/null
SELECT is((SELECT count(*) FROM cudal1.suspect WHERE candidate_id = :fast), 0::bigint, 'what was withdrawn is a suspect no more');
SELECT is((SELECT found FROM cudal1.cheat_case WHERE candidate_id = :fast), 'withdrawn', 'but a case');
SELECT throws_ok(format('SELECT cudal1.take_review(%s, %L, ''m'')', :slow, w), '22023', NULL, 'no answer: ' || w) FROM (VALUES (''), ('0.5'), ('{"suspicion": 2}'), ('{"suspicion": "much"}')) AS v (w);
SELECT throws_ok($$SELECT cudal1_review('none')$$, '42704', NULL, 'an unknown model');
SELECT throws_ok($$SELECT cudal1_review('m', '{-1}')$$, '42704', NULL, 'an unknown candidate');
