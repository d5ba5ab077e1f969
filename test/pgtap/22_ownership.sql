-- What a role made is its own: others neither answer, cancel nor take over its prompts, keys, groups, requests and campaigns.
SELECT plan(63);

SELECT cudal1_add_task(t, 'class Model: pass # ' || t, 'pytorch', options => '{"device": "cpu"}') FROM unnest(ARRAY['t', 'u']) AS t \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'm') \g /dev/null
-- carl and the group lab share their work; dora is a member that must SET ROLE
CREATE ROLE own_anna;
CREATE ROLE own_bert;
CREATE ROLE own_lab;
CREATE ROLE own_carl IN ROLE own_lab;
CREATE ROLE own_dora NOINHERIT IN ROLE own_lab;
CREATE ROLE own_ops;
CREATE ROLE "own ""q""";
SELECT cudal1_grant(r, 'trainer') FROM unnest(ARRAY['own_anna', 'own_bert', 'own_lab', 'own_carl', 'own_dora', 'own "q"']::name[]) AS r \g /dev/null
SELECT cudal1_grant('own_ops', 'operator') \g /dev/null
GRANT USAGE ON SCHEMA public TO PUBLIC;

CREATE FUNCTION pg_temp.by(role text, command text) RETURNS text LANGUAGE sql AS
	$$SELECT tap.by(CASE role WHEN '"q"' THEN 'own "q"' ELSE 'own_' || role END, command)$$;
CREATE FUNCTION pg_temp.may(role text, command text) RETURNS boolean LANGUAGE sql AS $$SELECT pg_temp.by(role, command) !~ '^[0-9A-Z]{5}$'$$;
CREATE FUNCTION pg_temp.state(id bigint) RETURNS text LANGUAGE sql AS 'SELECT state FROM cudal1.candidate WHERE candidate_id = id';

-- who calls
SELECT is(cudal1.caller(), CURRENT_USER::text, 'without SET ROLE the caller is the session''s role');
SELECT pg_temp.by('anna', $$SELECT cudal1_submit('t', 'who')$$) \g /dev/null
SELECT results_eq($$SELECT created_by, trainer COLLATE "default" FROM cudal1.proposal JOIN cudal1.job USING (candidate_id)$$, $$VALUES ('own_anna', 'own_anna')$$, 'what is submitted belongs to the role of SET ROLE');
SELECT is(pg_temp.by('"q"', $$SELECT cudal1_submit('t', 'quoted', group_key => 'q') > 0$$) || ' ' || pg_temp.by('"q"', $$SELECT count(*) FROM cudal1_group_result('q')$$), 'true 1', 'whatever its name holds');
SET LOCAL SESSION AUTHORIZATION own_bert;
SELECT cudal1_submit('t', 'bert''s own') AS b \gset
RESET SESSION AUTHORIZATION;
SELECT is((SELECT created_by FROM cudal1.proposal WHERE candidate_id = :b), 'own_bert', 'or to that of the session');

-- keys and groups
SELECT pg_temp.by('anna', $$SELECT cudal1_submit('t', 'a1', group_key => 'g', proposal_key => 'k')$$) AS a1, pg_temp.by('bert', $$SELECT cudal1_submit('t', 'b1', group_key => 'g', proposal_key => 'k')$$) AS b1 \gset
SELECT isnt(:'a1'::text, :'b1', 'the same keys of two roles are two submissions');
SELECT is(pg_temp.by('anna', $$SELECT cudal1_submit('t', 'a2', group_key => 'g', proposal_key => 'k')$$), :'a1', 'a role repeats its own');
SELECT is(pg_temp.by('bert', $$SELECT candidate_id FROM cudal1_submit_batch('{t}', '{b2}', group_keys => '{g}', proposal_keys => '{k}')$$), :'b1', 'in batches, too');
SELECT is(pg_temp.by('anna', $$SELECT array_agg(candidate_id) FROM cudal1_group_result('g')$$), format('{%s}', :'a1'), 'the same group of two roles are two groups');
SELECT is(pg_temp.by('bert', $$SELECT array_agg(candidate_id) FROM cudal1_group_result('g')$$), format('{%s}', :'b1'), 'each its own');
SELECT is(pg_temp.by('carl', $$SELECT count(*) FROM cudal1_group_result('g')$$), '42704', 'to a third it does not exist');
SELECT is(current_setting('tap.hint'), 'To read that of another role, name it as owner: own_anna, own_bert.', 'but by name');
SELECT is(pg_temp.by('carl', $$SELECT array_agg(candidate_id) FROM cudal1_group_result('g', owner => 'own_anna')$$), format('{%s}', :'a1'), 'it can be read');
SELECT is(pg_temp.by('ops', $$SELECT array_agg(candidate_id) FROM cudal1_group_result('g')$$), '22023', 'an operator says which is meant');
SELECT is(current_setting('tap.hint'), 'Name one of them as owner: own_anna, own_bert.', 'of those that there are');

-- prompts
SELECT pg_temp.by('anna', $$SELECT prompt_id FROM cudal1_prompt('t')$$) AS p \gset
SELECT is(pg_temp.by('bert', format($$SELECT cudal1_submit_response(%s, %L)$$, :'p', tap.words('stolen'))), '42501', 'nobody answers another role''s prompt');
SELECT is(current_setting('tap.message'), format('prompt %s belongs to role "own_anna"', :'p'), 'and is told whose it is');
SELECT is(pg_temp.by('bert', format($$SELECT cudal1_submit('t', 'stolen', prompt_id => %s)$$, :'p')), '42501', 'nor submits to it');
SELECT is(pg_temp.by('bert', format($$SELECT cudal1_generate(%s, 'm')$$, :'p')), '42501', 'nor has a model answer it');
SELECT is_empty($$SELECT code FROM cudal1.candidate WHERE code ~ 'stolen'$$, 'and nothing of it stays');
SELECT ok(pg_temp.may('anna', format($$SELECT cudal1_submit_response(%s, %L)$$, :'p', tap.words('hers'))), 'its role does');
SELECT ok(pg_temp.may('ops', format($$SELECT cudal1_submit_response(%s, %L)$$, :'p', tap.words('operator''s'))), 'and operators do');

-- requests
SELECT pg_temp.by('anna', $$SELECT min(r) FROM cudal1_generate((SELECT prompt_id FROM cudal1_prompt('t')), 'm', 2) AS r$$) AS r \gset
SELECT is(pg_temp.by('bert', format('SELECT cudal1_cancel_requests(ARRAY[%s])', :'r')), '42501', 'nobody cancels another role''s requests');
SELECT is(current_setting('tap.message'), format('request %s belongs to role "own_anna"', :'r'), 'whose is said');
SELECT is(pg_temp.by('anna', format('SELECT cudal1_cancel_requests(ARRAY[%s])', :'r')), '1', 'the role itself does');
-- the key that the worker will give the answer
SELECT pg_temp.by('bert', format($$SELECT cudal1_submit('t', 'in its place', proposal_key => 'request %s')$$, :r + 1)) AS taken \gset
SELECT cudal1.finish_request(jsonb_build_object('request_id', c.request_id, 'attempt', c.attempt, 'outcome', 'answered', 'text', tap.words('answer'))) FROM cudal1.claim_requests('w', 100) AS c WHERE c.request_id = :r + 1 \g /dev/null
SELECT cudal1.take_answers() \g /dev/null
SELECT is((SELECT concat_ws(' ', p.created_by, c.code, j.trainer) FROM cudal1.request AS r JOIN cudal1.candidate AS c USING (candidate_id) JOIN cudal1.proposal AS p USING (candidate_id) JOIN cudal1.job AS j USING (candidate_id)
	WHERE r.request_id = :r + 1), 'own_anna answer own_anna', 'an answer becomes a candidate of the role that asked, whatever keys others use');

-- campaigns
SELECT pg_temp.by('anna', $$SELECT cudal1_add_campaign('c', 'contrastive', tasks => '{u}')$$) AS c \gset
-- each code is measured once, for all roles
SELECT pg_temp.by('anna', $$SELECT cudal1_add_task('of anna', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}')$$) \g /dev/null
SELECT is(pg_temp.by('anna', format($$SELECT cudal1_add_campaign('by %1$s, %2$s', 'contrastive', tasks => '%3$s', options => '{"profile": "%1$s"}')$$, p, n, t)) <> '42501', fine,
		format('a campaign over %s by profile %s is %s', coalesce(t, 'all tasks'), p, CASE WHEN fine THEN 'made' ELSE 'refused' END))
	FROM (VALUES (1, 'certify', '{t}', false), (2, 'paper_eval', '{"of anna",t}', false), (3, 'default', '{t}', true), (4, 'paper_eval', '{"of anna"}', true)) AS v (n, p, t, fine);
SELECT is(pg_temp.by('anna', $$SELECT cudal1_add_campaign('all', 'contrastive', options => '{"profile": "quick"}')$$), '42501', 'nor may one over all tasks have a profile that is not theirs');
SELECT is(pg_temp.by('bert', format('SELECT %s(%L)', f, 'c')), '42501', 'another role''s campaign: ' || f)
FROM unnest(ARRAY['cudal1_pause_campaign', 'cudal1_resume_campaign', 'cudal1_end_campaign', 'cudal1_next_group']) AS f;
SELECT pg_temp.by('anna', $$SELECT group_key FROM cudal1_next_group('c')$$) AS k \gset
SELECT is(pg_temp.by('bert', format('SELECT count(*) FROM cudal1_answer_group(%L, %L)', :'k', ARRAY['x'])), '42501', 'nor answers its groups');
SELECT pg_temp.by('bert', format($$SELECT cudal1_submit('u', 'poison', group_key => %L, proposal_key => 'answer 1')$$, :'k')) \g /dev/null
SELECT is(pg_temp.by('anna', format('SELECT count(*) FROM cudal1_answer_group(%L, %L)', :'k', ARRAY[tap.words('one'), tap.words('two')])), '2', 'its role does');
SELECT is(pg_temp.by('anna', format('SELECT string_agg(code, %L ORDER BY ordinal) FROM cudal1_group_result(%L) JOIN cudal1.candidate USING (candidate_id)', ' ', :'k')), 'one two', 'and finds no other''s answer in them');
SELECT is(pg_temp.by('anna', format('SELECT count(DISTINCT s ->> %L) FROM cudal1_rl_dataset(campaign => %L) AS s', 'group', 'c')), '1', 'nor in data sets');

-- shared work
SELECT pg_temp.by('lab', $$SELECT cudal1_add_campaign('shared', 'contrastive', tasks => '{t}', options => '{"method": "lab"}')$$) AS s, pg_temp.by('lab', $$SELECT prompt_id FROM cudal1_prompt('t')$$) AS lp,
	pg_temp.by('lab', $$SELECT cudal1_submit('t', 'of the lab', group_key => 'lab')$$) AS lc \gset
SELECT is(pg_temp.by('carl', $$SELECT group_key ~ '^shared' FROM cudal1_next_group('shared')$$), 'true', 'a member takes a group');
SELECT is(pg_temp.by('carl', $$SELECT count(*) FROM cudal1.campaign_group AS g CROSS JOIN LATERAL cudal1_answer_group(g.group_key, '{x}') WHERE g.group_key ~ '^shared'$$), '1', 'and answers it');
SELECT is((SELECT DISTINCT created_by FROM cudal1.proposal WHERE group_key ~ '^shared'), 'own_lab', 'for the shared role');
SELECT is((SELECT DISTINCT created_by FROM cudal1.prompt JOIN cudal1.campaign_group USING (prompt_id) WHERE group_key ~ '^shared'), 'own_lab', 'whose prompt it is');
SELECT is(pg_temp.by('carl', $$SELECT count(*) FROM cudal1_group_result('lab')$$), '1', 'reads its groups');
SELECT ok(pg_temp.may('carl', format('SELECT cudal1_submit_response(%s, %L, %L)', :'lp', 'x', 'lab')), 'answers its prompts, by its method');
SELECT is(pg_temp.by('dora', format('SELECT cudal1_submit_response(%s, %L)', :'lp', 'y')), '42501', 'a member that inherits nothing does so after SET ROLE only');
SELECT is(pg_temp.by('carl', format('SELECT cudal1_cancel(ARRAY[%s])', :'lc')), '1', 'a member cancels');
SELECT is(pg_temp.by('lab', format('SELECT cudal1_cancel_requests(ARRAY[%s])', :r + 1)), '42501', 'the shared role has no more than its own');

-- candidates
SELECT is(pg_temp.by('bert', format('SELECT cudal1_cancel(ARRAY[%s, %s])', :'b1', :'a1')), '42501', 'nobody cancels what another role alone proposed');
SELECT is(current_setting('tap.message'), format('candidate %s was not proposed by role "own_bert"', :'a1'), 'which is said');
SELECT is(pg_temp.state(:b1), 'queued', 'and then nothing is cancelled');
SELECT pg_temp.by('anna', $$SELECT cudal1_submit('t', 'both''s')$$) AS both, pg_temp.by('bert', $$SELECT cudal1_submit('t', 'both''s')$$) \gset
SELECT is(pg_temp.by('bert', format('SELECT cudal1_cancel(ARRAY[%s])', :'both')), '0', 'what two roles proposed');
SELECT is(pg_temp.state(:both), 'queued', 'goes on for the other');
SELECT is(pg_temp.by('anna', format('SELECT cudal1_cancel(ARRAY[%s])', :'both')), '1', 'until that cancels, too');
SELECT is(pg_temp.state(:both), 'discarded', 'then it is discarded');
SELECT is(pg_temp.by('bert', $$SELECT cudal1_submit('t', 'both''s')$$), :'both', 'and is queued again');
SELECT is(pg_temp.by('bert', format('SELECT cudal1_cancel(ARRAY[%s])', :'both')), '1', 'for the role that wants it, alone');
SELECT pg_temp.by('anna', $$SELECT cudal1_submit('t', 'again')$$) AS again, pg_temp.by('bert', $$SELECT cudal1_submit('t', 'again')$$) \gset
SELECT is(pg_temp.by('ops', format('SELECT cudal1_cancel(ARRAY[%s])', :'again')), '1', 'an operator cancels for all');

-- what a role proposes first, or again, spoils nothing for the next
SELECT pg_temp.by('bert', format('SELECT cudal1_submit_response((SELECT prompt_id FROM cudal1_prompt(%L)), %L)', 't', 'no headings, but a code')) AS spoilt \gset
SELECT is(pg_temp.state(pg_temp.by('anna', $$SELECT cudal1_submit('t', 'no headings, but a code')$$)::bigint), 'queued', 'a code is measured that another role''s malformed answer consisted of');
SELECT is(pg_temp.state(pg_temp.by('anna', format('SELECT cudal1_submit_response((SELECT prompt_id FROM cudal1_prompt(%L)), %L)', 't', 'a1'))::bigint), 'failed', 'and a malformed answer that is another''s code is malformed');
SELECT is(pg_temp.by('bert', format('SELECT cudal1_submit(%L, %L)', 't', reference || E'\n\n\n# the reference as its own candidate\nclass ModelNew(Model):\n    pass\n')) ~ '^[0-9]+$', true, 'what the check of a reference measures is proposed')
	FROM cudal1.task WHERE name = 't';
SELECT is(pg_temp.by('anna', $$SELECT cudal1_certify_task('t') > 0$$), 'true', 'without being in its way');
SELECT is(pg_temp.by('anna', format('SELECT cudal1_cancel(ARRAY[%s])', (SELECT candidate_id FROM cudal1.candidate WHERE purpose = 'reference'))) || ' ' || current_setting('tap.detail'), '42501 No role proposed it.', 'which is no role''s to cancel');
SELECT pg_temp.by('anna', $$SELECT cudal1_submit('t', 'patient')$$) AS patient, pg_temp.by('bert', $$SELECT cudal1_submit('t', 'patient', deadline => now())$$) \gset
SELECT is((SELECT deadline FROM cudal1.job WHERE candidate_id = :patient AND trainer = 'own_anna'), NULL, 'a job without a deadline gets none from another role');
