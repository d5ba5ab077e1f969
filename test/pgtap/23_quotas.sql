-- Quotas: what a trainer may have queued, stored and under way ends somewhere, with a reason; operators and what was admitted before go on.
SELECT plan(71);

SELECT cudal1_add_task(t, 'class Model: pass # ' || t, 'pytorch', options => '{"device": "cpu"}') FROM unnest(ARRAY['t', 'u']) AS t \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'm', concurrency => 100) \g /dev/null
CREATE ROLE quota_anna;
CREATE ROLE quota_bert;
CREATE ROLE quota_ops;
SELECT cudal1_grant(r, 'trainer') FROM unnest(ARRAY['quota_anna', 'quota_bert']::name[]) AS r \g /dev/null
SELECT cudal1_grant('quota_ops', 'operator') \g /dev/null
GRANT USAGE ON SCHEMA public TO PUBLIC;

CREATE FUNCTION pg_temp.by(role text, command text) RETURNS text LANGUAGE sql AS $$SELECT tap.by('quota_' || role, command)$$;
CREATE FUNCTION pg_temp.said() RETURNS text LANGUAGE sql AS
	$$SELECT concat_ws(' | ', current_setting('tap.message'), current_setting('tap.detail'), current_setting('tap.hint'))$$;
CREATE FUNCTION pg_temp.submit(role text, code text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN x ~ '^[0-9]{1,4}$' THEN 'accepted' ELSE x END FROM pg_temp.by(role, format('SELECT cudal1_submit(%L, %L)', 't', code)) AS x
$$;
CREATE FUNCTION pg_temp.batch(codes text[], keys text[] DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.by('anna', format($q$SELECT string_agg(CASE WHEN reason IS NULL AND candidate_id IS NOT NULL THEN 'yes' ELSE coalesce(substring(reason FROM 'of [0-9]+ (\w+)'), 'NULL') END, ' ' ORDER BY ordinal)
		FROM cudal1_submit_batch(array_fill('t'::text, ARRAY[%s]), %L, proposal_keys => %L)$q$, cardinality(codes), codes, keys))
$$;
CREATE FUNCTION pg_temp.used(role text) RETURNS text LANGUAGE sql AS $$SELECT concat_ws(' ', queued_candidates, stored_bytes, requests) FROM cudal1.quota_use AS q WHERE q.role = 'quota_' || used.role$$;

-- what quotas are
SELECT is((SELECT row(q.*)::text FROM cudal1.quota_of('quota_anna') AS q), '(10000,10737418240,10000)', 'a role has quotas that nobody set');
SELECT cudal1_set_quota(NULL, 500, requests => 50) \g /dev/null
SELECT cudal1_set_quota('quota_anna', 3) \g /dev/null
SELECT is((SELECT row(q.*)::text FROM cudal1.quota_of('quota_anna') AS q), '(3,10737418240,50)', 'or its own, else those for all');
SELECT is((SELECT row(q.*)::text FROM cudal1.quota_of('quota_bert') AS q), '(500,10737418240,50)', 'as has each other');
SELECT cudal1_set_quota(NULL) \g /dev/null
SELECT is((SELECT row(q.*)::text FROM cudal1.quota_of('quota_bert') AS q), '(10000,10737418240,10000)', 'until they are taken back');
SELECT throws_ok($$SELECT cudal1_set_quota('quota_anna', -1)$$, '22023', NULL, 'none is negative');
SELECT throws_ok($$SELECT cudal1_set_quota('nobody at all', 1)$$, '42704', NULL, 'a role must exist');
SELECT is(pg_temp.by('anna', $$SELECT cudal1_set_quota('quota_anna', 10)$$), '42501', 'a trainer sets none');
SELECT is(pg_temp.by('ops', $$SELECT cudal1_set_quota('quota_bert', 10)$$), '', 'an operator does');

-- queued candidates
SELECT is(pg_temp.submit('anna', 'a' || n), CASE WHEN n <= 3 THEN 'accepted' ELSE '53400' END, 'candidate ' || n) FROM generate_series(1, 4) AS n;
SELECT is(pg_temp.said(), 'role "quota_anna" has used up its quota of 3 queued candidates | It has 3, and 1 more are asked for. | Wait for verdicts, or cancel candidates with cudal1_cancel(). An operator can raise the quota with cudal1_set_quota().',
	'the error names the quota and what to do');
SELECT is_empty($$SELECT FROM cudal1.candidate WHERE code = 'a4'$$, 'nothing stays of what was refused');
SELECT is(pg_temp.submit('anna', 'a1'), 'accepted', 'a code that is queued already needs no place');
SELECT is(pg_temp.submit('bert', 'b' || n), 'accepted', 'others are not hindered') FROM generate_series(1, 3) AS n;
SELECT is(pg_temp.submit('anna', 'b1'), 'accepted', 'nor is a proposal of another''s code');
SELECT is(pg_temp.by('anna', $$SELECT cudal1_cancel(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE code = 'a3'))$$), '1', 'what is cancelled');
SELECT is(pg_temp.submit('anna', 'a4'), 'accepted', 'makes room');
SELECT is(pg_temp.submit('anna', 'a3'), '53400', 'that a cancelled one needs, too, to be queued again');
SELECT is(pg_temp.submit('bert', 'a4'), 'accepted', 'what another role proposes as well');
SELECT is(pg_temp.by('anna', $$SELECT cudal1_cancel(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE code = 'a4'))$$), '0', 'and goes on with');
SELECT is(pg_temp.submit('anna', 'a5'), 'accepted', 'counts no more when it is cancelled');
SELECT count(*) FROM generate_series(1, 20) AS n, LATERAL cudal1.claim(CASE WHEN n > 0 THEN :d END, 'w') \g /dev/null
SELECT is(pg_temp.submit('anna', 'a6'), 'accepted', 'nor does what is being measured');
SELECT is(pg_temp.submit('ops', 'o1'), 'accepted', 'an operator has no quota');
SELECT cudal1_set_quota('quota_ops', 0) \g /dev/null
SELECT is(pg_temp.submit('ops', 'o2'), 'accepted', 'not even one that was set');

-- batches
SELECT cudal1_set_quota('quota_anna', 4) \g /dev/null
SELECT is(pg_temp.batch('{c1,c2,c3,c4}'), 'yes yes yes queued', 'rows above the quota have it as their reason');
SELECT is(pg_temp.batch('{a1,c1,c5,b2}'), 'yes yes queued yes', 'known ones are accepted all the same');
SELECT is(pg_temp.batch('{c6,c6,c7,c7}', '{x,x,y,z}'), 'queued queued queued queued', 'those that repeat a code or a key go with it');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE code IN ('c4', 'c5', 'c6', 'c7')), 0::bigint, 'and nothing stays of them');
SELECT is(pg_temp.batch('{a3,c1}'), 'queued yes', 'a cancelled one needs a place');
SELECT is(pg_temp.by('anna', $$SELECT reason FROM cudal1_submit_batch('{t}', '{c4}')$$), 'role "quota_anna" has used up its quota of 4 queued candidates', 'the reason names the quota');
SELECT is(pg_temp.batch('{}'), 'NULL', 'an empty batch needs none');
SELECT cudal1_set_quota('quota_anna') \g /dev/null
SELECT is(pg_temp.batch(ARRAY(SELECT 'd' || n FROM generate_series(1, 300) AS n)), repeat('yes ', 299) || 'yes', 'a batch below the quota is accepted as a whole');

-- a change holds at once
SELECT cudal1_set_quota('quota_bert', 1000) \g /dev/null
SELECT pg_temp.submit('bert', 'e' || n) FROM generate_series(1, 50) AS n \g /dev/null
SELECT cudal1_set_quota('quota_bert', 40) \g /dev/null
SELECT is(pg_temp.submit('bert', 'g'), '53400', 'a quota that was lowered refuses');
SELECT cudal1_set_quota('quota_bert', 1000) \g /dev/null
SELECT is(pg_temp.submit('bert', 'g'), 'accepted', 'one that was raised accepts');

-- bytes
SELECT is((SELECT stored_bytes FROM cudal1.quota_use WHERE role = r), (SELECT sum(octet_length(code)) FILTER (WHERE first) + 256 * count(*) FROM (SELECT p.created_by, c.code, row_number() OVER (PARTITION BY c.candidate_id ORDER BY p.proposal_id) = 1 AS first
	FROM cudal1.candidate AS c JOIN cudal1.proposal AS p USING (candidate_id)) AS x WHERE created_by = r)::bigint, r || ': codes that were new count, and 256 a proposal') FROM unnest(ARRAY['quota_anna', 'quota_bert']) AS r;
CREATE ROLE quota_carl;
SELECT cudal1_grant('quota_carl', 'trainer') \g /dev/null
SELECT cudal1_set_quota('quota_carl', stored_bytes => 10000) \g /dev/null
SELECT is(pg_temp.submit('carl', repeat('x', 5000)), 'accepted', 'a code is stored');
SELECT is(pg_temp.used('carl'), '1 5256 0', 'and counts');
SELECT is(pg_temp.submit('carl', repeat('y', 5000)), '53400', 'another is too much');
SELECT is(pg_temp.said(), 'role "quota_carl" has used up its quota of 10000 stored bytes | It has 5256, and 5256 more are asked for. | An operator can remove texts of failed candidates with cudal1_prune(). An operator can raise the quota with cudal1_set_quota().', 'which is said');
SELECT is(pg_temp.submit('carl', repeat('x', 5000)), 'accepted', 'the same is not stored again');
SELECT is(pg_temp.by('carl', format($$SELECT string_agg(coalesce(substring(reason FROM 'of [0-9]+ (\w+)'), 'yes'), ' ' ORDER BY ordinal) FROM cudal1_submit_batch('{t,t,t,t}', %L)$$, ARRAY['z', repeat('z', 9000), 'zz', repeat('x', 5000)])),
	'yes stored stored stored', 'a batch ends where the bytes do');
SELECT is(pg_temp.by('carl', $$SELECT cudal1_add_task('long', 'class Model: pass # ' || repeat('x', 5000), 'pytorch')$$), '53400', 'references count');
SELECT is(pg_temp.by('carl', $$SELECT count(*) FROM generate_series(1, 100) AS n, LATERAL cudal1_prompt(CASE WHEN n > 0 THEN 't' END)$$), '53400', 'prompts do');
SELECT is(pg_temp.by('carl', format($$SELECT cudal1_submit_response((SELECT prompt_id FROM cudal1_prompt('t')), %L)$$, repeat('no code ', 1000))), '53400', 'answers do');
UPDATE cudal1.candidate SET state = 'failed', failure = 'crash', reward = 0, decided_at = now() - interval '1 day' WHERE code = repeat('x', 5000);
DELETE FROM cudal1.job WHERE candidate_id = (SELECT candidate_id FROM cudal1.candidate WHERE code = repeat('x', 5000));
SELECT cudal1_prune('0 days') \g /dev/null
SELECT is(pg_temp.submit('carl', repeat('y', 5000)), 'accepted', 'what was pruned makes room');
INSERT INTO cudal1.stored (role, bytes) SELECT 'quota_carl', 0 FROM generate_series(1, 1001);
SELECT stored_bytes AS b FROM cudal1.quota_use WHERE role = 'quota_carl' \gset
SELECT pg_temp.submit('carl', 'w') \g /dev/null
SELECT is((SELECT row(count(*), sum(bytes))::text FROM cudal1.stored WHERE role = 'quota_carl'), format('(1,%s)', :b + 257), 'many entries are added up to one');

-- requests
SELECT cudal1_set_quota('quota_carl', requests => 3) \g /dev/null
SELECT pg_temp.by('carl', $$SELECT prompt_id FROM cudal1_prompt('t')$$) AS p \gset
SELECT is(pg_temp.by('carl', format($$SELECT count(*) FROM cudal1_generate(%s, 'm', 2)$$, :'p')), '2', 'requests are made');
SELECT is(pg_temp.by('carl', format($$SELECT count(*) FROM cudal1_generate(%s, 'm', 2)$$, :'p')), '53400', 'up to a number');
SELECT is(pg_temp.said(), 'role "quota_carl" has used up its quota of 3 requests under way | It has 2, and 2 more are asked for. | Wait for answers, or cancel requests with cudal1_cancel_requests(). An operator can raise the quota with cudal1_set_quota().', 'which is said');
SELECT is(pg_temp.by('carl', $$SELECT cudal1_extract_techniques(ARRAY(SELECT candidate_id FROM cudal1.candidate ORDER BY 1 LIMIT 2), 'm')$$), '53400', 'questions about techniques count');
SELECT is((SELECT count(*) FROM cudal1.request WHERE created_by = 'quota_carl'), 2::bigint, 'and none was made');
SELECT pg_temp.by('carl', $$SELECT cudal1_add_campaign('c', 'vanilla', '{m}', '{t,u}')$$) \g /dev/null
SELECT is(cudal1.advance_campaigns(), 1::bigint, 'a campaign makes as many as its role may');
SELECT is(cudal1.advance_campaigns(), 0::bigint, 'and waits');
SELECT cudal1_set_quota('quota_carl', queued_candidates => 0, stored_bytes => 0) \g /dev/null
SELECT cudal1.finish_request(jsonb_build_object('request_id', c.request_id, 'attempt', c.attempt, 'outcome', 'answered', 'text', tap.words('answer ' || c.request_id))) FROM cudal1.claim_requests('w', 100) AS c \g /dev/null
SELECT is(cudal1.take_answers(), 3::bigint, 'answers that were asked for before');
SELECT is((SELECT count(*) FROM cudal1.request AS r JOIN cudal1.candidate AS c USING (candidate_id) WHERE r.created_by = 'quota_carl' AND c.state = 'queued'), 3::bigint, 'become candidates, whatever the quotas are');
SELECT is(cudal1.advance_campaigns(), 0::bigint, 'but the campaign makes no more');
SELECT is(pg_temp.by('carl', format($$SELECT count(*) FROM cudal1_generate(%s, 'm')$$, :'p')), '53400', 'nor does the role');
SELECT is(split_part(pg_temp.said(), ' | ', 1), 'role "quota_carl" has used up its quota of 0 queued candidates', 'since its answers would be queued');
SELECT cudal1_set_quota('quota_carl') \g /dev/null
SELECT cmp_ok(cudal1.advance_campaigns(), '>', 0::bigint, 'with room again the campaign goes on');

-- what makes rows of other kinds
SELECT cudal1_submit('t', E'class ModelNew:\n    USE_A = True') AS switched \gset
SELECT cudal1_ablate(:switched, '{USE_A}'), cudal1_set_quota('quota_carl', stored_bytes => 0) \g /dev/null
SELECT is(pg_temp.by('carl', c), '53400', 'the quota of bytes holds for ' || what)
	FROM (VALUES (format($$SELECT cudal1_ablate(%s, '{USE_A}')$$, :switched), 'an ablation that adds no code'), ($$SELECT cudal1_add_campaign('d', 'contrastive')$$, 'a campaign'),
		(format($$SELECT cudal1_extract_techniques('{%s}', 'm')$$, :switched), 'questions to a model')) AS v (c, what);

-- a role that is gone
CREATE ROLE quota_dora;
SELECT cudal1_set_quota('quota_dora', 5) \g /dev/null
DROP ROLE quota_dora;
SELECT throws_ok($$SELECT cudal1_set_quota('quota_dora', 6)$$, '42704', NULL, 'a dropped role gets no quota');
SELECT lives_ok($$SELECT cudal1_set_quota('quota_dora')$$, 'but those it had can be taken back');
SELECT is_empty($$SELECT FROM cudal1.quota_use WHERE role = 'quota_dora'$$, 'so that no other role of its name gets them');
SELECT throws_ok($$SELECT cudal1_set_quota('quota_dora')$$, '42704', NULL, 'once');
