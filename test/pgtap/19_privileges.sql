-- Privileges: PUBLIC may do nothing, a role what its kind does, and nobody writes a table.
BEGIN;
SELECT plan(67);

CREATE ROLE cudal1_test_nobody;
CREATE ROLE cudal1_test_trainer;
CREATE ROLE cudal1_test_analyst;
CREATE ROLE cudal1_test_operator;
CREATE ROLE cudal1_test_agent;
SELECT cudal1_grant('cudal1_test_trainer', 'trainer') \g /dev/null
SELECT cudal1_grant('cudal1_test_analyst', 'analyst') \g /dev/null
SELECT cudal1_grant('cudal1_test_operator'::name, 'operator') \g /dev/null
SELECT cudal1_grant('cudal1_test_agent'::text, 'agent') \g /dev/null
GRANT USAGE ON SCHEMA public TO cudal1_test_nobody;

CREATE VIEW pg_temp.member AS
	SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid WHERE d.deptype = 'e' AND e.extname = 'cudal1';
CREATE VIEW pg_temp.function AS
	SELECT p.oid, p.oid::regprocedure AS signature, p.proname, n.nspname, p.prosecdef, p.proconfig, p.prolang
	FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE p.oid IN (SELECT objid FROM pg_temp.member WHERE classid = 'pg_proc'::regclass);
CREATE VIEW pg_temp.relation AS
	SELECT c.oid, c.oid::regclass AS name, c.relname, c.relkind FROM pg_class AS c
	WHERE c.relkind IN ('r', 'v', 'S') AND c.oid IN (SELECT objid FROM pg_temp.member WHERE classid = 'pg_class'::regclass);

-- PUBLIC
SELECT is_empty($$SELECT signature FROM pg_temp.function WHERE has_function_privilege('cudal1_test_nobody', oid, 'EXECUTE')$$, 'PUBLIC executes nothing');
SELECT is_empty($$SELECT name FROM pg_temp.relation WHERE CASE WHEN relkind <> 'S' THEN has_table_privilege('cudal1_test_nobody', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') END$$, 'reads and writes nothing');
SELECT is_empty($$SELECT name FROM pg_temp.relation WHERE CASE WHEN relkind = 'S' THEN has_sequence_privilege('cudal1_test_nobody', oid, 'USAGE, SELECT, UPDATE') END$$, 'not even a sequence');
SELECT ok(NOT has_schema_privilege('cudal1_test_nobody', 'cudal1', 'USAGE, CREATE'), 'and does not look into the schema');

-- nobody writes
SELECT is_empty(format($$SELECT name FROM pg_temp.relation WHERE CASE WHEN relkind = 'S' THEN has_sequence_privilege(%1$L, oid, 'USAGE, UPDATE')
	ELSE has_table_privilege(%1$L, oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') END$$, role), role || ' writes no table')
FROM unnest(ARRAY['cudal1_test_trainer', 'cudal1_test_analyst', 'cudal1_test_operator', 'cudal1_test_agent']) AS role;

-- what may be called
SELECT set_eq(format($$SELECT proname::text FROM pg_temp.function WHERE has_function_privilege('cudal1_test_%s', oid, 'EXECUTE')$$, kind),
	format('SELECT unnest(%L::text[])', names), format('a %s calls what it needs and no more', kind))
FROM (VALUES
	('trainer', ARRAY['cudal1_add_task', 'cudal1_retire_task', 'cudal1_restore_task', 'cudal1_submit', 'cudal1_submit_batch', 'cudal1_submit_response', 'cudal1_wait', 'cudal1_cancel', 'cudal1_reward', 'cudal1_sample_exemplars',
		'cudal1_open_pool', 'cudal1_record_prompt', 'cudal1_add_prompt_template', 'cudal1_bucket_stats', 'cudal1_prompt', 'cudal1_parse_response', 'cudal1_conservative_round', 'cudal1_score_rounds', 'cudal1_group_advantages', 'cudal1_grpo_objective',
		'cudal1_level_report', 'cudal1_method_report', 'cudal1_device_report', 'cudal1_top_tasks', 'cudal1_speedup_histogram', 'cudal1_compare', 'cudal1_compare_tasks',
		'cudal1_percentiles', 'cudal1_fast_p', 'cudal1_task_report', 'cudal1_light', 'cudal1_best', 'cudal1_lineage', 'cudal1_counters',
		'cudal1_ablation_table', 'cudal1_ablation_effects', 'cudal1_ablation_gatekeepers', 'cudal1_ablate', 'cudal1_ablation_explain', 'cudal1_certify_task', 'cudal1_check_reference', 'cudal1_add_baselines', 'cudal1_speedup_report', 'cudal1_status',
		'cudal1_generate', 'cudal1_cancel_requests', 'cudal1_add_campaign', 'cudal1_pause_campaign', 'cudal1_resume_campaign', 'cudal1_end_campaign', 'cudal1_next_group',
		'cudal1_answer_group', 'cudal1_group_result', 'cudal1_sft_dataset', 'cudal1_rl_dataset', 'cudal1_extract_techniques', 'campaign_options', 'quota_of', 'used_of']),
	('analyst', ARRAY['cudal1_wait', 'cudal1_reward', 'cudal1_bucket_stats', 'cudal1_parse_response', 'cudal1_conservative_round', 'cudal1_score_rounds', 'cudal1_group_advantages',
		'cudal1_level_report', 'cudal1_method_report', 'cudal1_device_report', 'cudal1_top_tasks', 'cudal1_speedup_histogram', 'cudal1_compare', 'cudal1_compare_tasks',
		'cudal1_percentiles', 'cudal1_fast_p', 'cudal1_task_report', 'cudal1_light', 'cudal1_best', 'cudal1_lineage', 'cudal1_counters',
		'cudal1_ablation_table', 'cudal1_ablation_effects', 'cudal1_ablation_gatekeepers', 'cudal1_check', 'cudal1_grpo_objective', 'cudal1_speedup_report', 'cudal1_status',
		'cudal1_group_result', 'cudal1_sft_dataset', 'cudal1_rl_dataset', 'campaign_options', 'quota_of', 'used_of']),
	('agent', ARRAY['register_device', 'claim', 'heartbeat', 'finish', 'release', 'expire_leases', 'take_back', 'wake', 'cudal1_status'])) AS v (kind, names);
SELECT is_empty($$SELECT signature FROM pg_temp.function WHERE nspname <> 'cudal1' AND proname NOT IN ('cudal1_grant', 'cudal1_revoke') AND NOT has_function_privilege('cudal1_test_operator', oid, 'EXECUTE')$$,
	'an operator calls every function for users but those that grant');
SELECT is_empty($$SELECT signature FROM pg_temp.function WHERE has_function_privilege('cudal1_test_operator', oid, 'EXECUTE')
	AND proname IN ('cudal1_grant', 'cudal1_revoke', 'change_privileges', 'accept_score', 'reject_candidate', 'end_job', 'retry_job', 'requeue_job', 'place_candidate', 'enqueue', 'accept_submission')$$,
	'nor what other functions are made of');
SELECT is_empty($$SELECT signature FROM pg_temp.function WHERE prosecdef AND NOT coalesce(proconfig @> ARRAY['search_path=pg_catalog, pg_temp'], false)$$, 'no SECURITY DEFINER function without a pinned search_path');
SELECT is_empty($$SELECT signature FROM pg_temp.function WHERE obj_description(oid, 'pg_proc') IS NULL$$, 'every function has a comment');
SELECT is_empty($$SELECT name FROM pg_temp.relation WHERE relkind <> 'S' AND obj_description(oid, 'pg_class') IS NULL$$, 'every table and view has one');
SELECT is_empty($$SELECT name FROM pg_temp.relation AS r WHERE relkind <> 'v' AND relname NOT IN ('job', 'job_job_id_seq', 'turn')
	AND r.oid <> ALL ((SELECT extconfig FROM pg_extension WHERE extname = 'cudal1')::oid[])$$, 'every table and sequence but the queue is part of dumps');
SELECT set_eq($$SELECT relname::text FROM pg_temp.relation WHERE relkind <> 'S' AND NOT has_any_column_privilege('cudal1_test_trainer', oid, 'SELECT')$$,
	ARRAY['job', 'turn', 'pool_code', 'bucket_part', 'island', 'null_candidate', 'stored', 'lane_note', 'review', 'suspect', 'cheat_case', 'asked', 'profiler_run', 'undecided'], 'a trainer reads all but the works behind it');
SELECT set_eq($$SELECT r.relname || '.' || a.attname FROM pg_temp.relation AS r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE r.relkind <> 'S' AND has_any_column_privilege('cudal1_test_trainer', r.oid, 'SELECT') AND NOT has_column_privilege('cudal1_test_trainer', r.oid, a.attnum, 'SELECT')$$,
	ARRAY['measurement.evidence'], 'and every column but one');

-- in practice: what a kind does works, what it does not is refused
CREATE FUNCTION pg_temp.as_role(role text, command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer	text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', 'cudal1_test_' || role);
	BEGIN
		EXECUTE command INTO answer;
		answer := coalesce(answer, 'NULL');
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE;
	END;
	RESET ROLE;
	RETURN answer;
END
$$;
SELECT is(pg_temp.as_role('trainer', $$SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch')$$), '1', 'a trainer adds a task');
SELECT is(pg_temp.as_role('trainer', $$SELECT cudal1_submit('t', 'a')$$), '1', 'submits');
SELECT is(pg_temp.as_role('trainer', $$SELECT candidate_id FROM cudal1_submit_batch('{t}', '{b}')$$), '2', 'in batches');
SELECT is(pg_temp.as_role('trainer', $$SELECT prompt_id FROM cudal1_prompt('t')$$), '1', 'makes prompts');
SELECT is(pg_temp.as_role('trainer', $$SELECT cudal1_submit_response(1, 'no code')$$), '3', 'hands answers in');
SELECT is(pg_temp.as_role('trainer', $$SELECT count(*) FROM cudal1_sample_exemplars('t')$$), '0', 'draws exemplars');
SELECT is(pg_temp.as_role('trainer', $$SELECT count(*) FROM cudal1_bucket_stats('t')$$), '0', 'sees buckets');
SELECT is(pg_temp.as_role('trainer', $$SELECT cudal1_cancel('{2}')$$), '1', 'cancels');
SELECT is(pg_temp.as_role('trainer', $$SELECT state FROM cudal1_wait('{3}')$$), '25001', 'waits (not for its own transaction)');
SELECT is(pg_temp.as_role('trainer', $$SELECT cudal1_reward(3)$$), '0', 'reads rewards');
SELECT is(pg_temp.as_role('trainer', $$SELECT tasks FROM cudal1_speedup_report() WHERE level = 'All'$$), '1', 'reports');
SELECT is(pg_temp.as_role('trainer', $$SELECT score FROM cudal1_score_rounds(array_fill(2.0::float8, '{7}'), array_fill(1.0::float8, '{7}'))$$), '2', 'scores rounds');
SELECT isnt(pg_temp.as_role('trainer', $$SELECT count(*) FROM cudal1_status()$$), '42501', 'asks for the status');
SELECT is(pg_temp.as_role(k, $$SELECT cudal1.campaign_options('vanilla') ->> 'attempts'$$), '5', k || ': looks options of campaigns up') FROM unnest(ARRAY['trainer', 'operator']) AS k;
SELECT is(pg_temp.as_role('trainer', 'SELECT count(*) FROM cudal1.' || x), n, 'reads cudal1.' || x)
FROM (VALUES ('task', '1'), ('candidate', '3'), ('proposal', '3'), ('prompt', '1'), ('activity', '0'), ('queue', '1'), ('device', '0')) AS v (x, n);
SELECT is(pg_temp.as_role('trainer', 'SELECT count(score) FROM cudal1.measurement'), '0', 'reads measurements');
SELECT is(pg_temp.as_role('trainer', 'SELECT count(evidence) FROM cudal1.measurement'), '42501', 'but not the evidence of detectors');
SELECT is(pg_temp.as_role('trainer', x), '42501', 'a trainer can''t: ' || x)
FROM unnest(ARRAY['INSERT INTO cudal1.candidate (task_id, code, code_hash) VALUES (1, $$x$$, $$x$$)', 'UPDATE cudal1.candidate SET reward = 100', 'DELETE FROM cudal1.job', 'SELECT count(*) FROM cudal1.job',
	'SELECT nextval($$cudal1.candidate_candidate_id_seq$$)', 'SELECT cudal1_import_result($$t$$, $$x$$, 5, $$m$$, $$d$$)', 'SELECT cudal1.register_device($$h$$, $${}$$)', 'SELECT cudal1.finish(1, 1, $${}$$)',
	'SELECT cudal1_reverify()', 'SELECT cudal1_grant($$cudal1_test_trainer$$, $$operator$$)', 'SELECT cudal1.place_candidate(1)', 'SELECT cudal1.accept_score(c, m) FROM cudal1.candidate AS c, cudal1.measurement AS m']) AS x;
SELECT is(pg_temp.as_role('agent', $$SELECT cudal1.register_device('h', '{"key": "k", "class": "cpu", "model": "M", "languages": ["pytorch"]}')$$), '1', 'an agent registers');
SELECT is(pg_temp.as_role('agent', $$SELECT job_id || ':' || attempt FROM cudal1.claim(1, 'w')$$), '1:1', 'claims');
SELECT is(pg_temp.as_role('agent', $$SELECT cudal1.heartbeat(1, 1)$$), 'continue', 'lives');
SELECT is(pg_temp.as_role('agent', $$SELECT cudal1.finish(1, 1, '{"outcome": "successful", "score": 1.5, "evidence": {}}')$$), 'stored', 'reports');
SELECT is(pg_temp.as_role('agent', $$SELECT cudal1_submit('t', 'x')$$), '42501', 'but does not submit');
SELECT is(pg_temp.as_role('analyst', $$SELECT evidence FROM cudal1.measurement$$), '{}', 'an analyst reads everything');
SELECT is(pg_temp.as_role('analyst', $$SELECT cudal1_submit('t', 'x')$$), '42501', 'but does not submit');
SELECT is(pg_temp.as_role('operator', $$SELECT cudal1_import_result('t', 'x', 5, 'm', 'd') IS NOT NULL$$), 'true', 'an operator imports');
SELECT is(pg_temp.as_role('nobody', $$SELECT cudal1_status()$$), '42501', 'who was granted nothing can do nothing');

-- taking back
SELECT throws_ok($$SELECT cudal1_grant('cudal1_test_nobody', 'king')$$, '22023', NULL, 'an unknown kind is an error');
SELECT throws_ok($$SELECT cudal1_grant('cudal1_test_none', 'trainer')$$, '42704', NULL, 'as is an unknown role');
SELECT cudal1_revoke(role, kind) FROM (VALUES ('cudal1_test_trainer'::name, 'trainer'), ('cudal1_test_analyst', 'analyst'), ('cudal1_test_operator', 'operator'), ('cudal1_test_agent', 'agent')) AS v (role, kind) \g /dev/null
SELECT is_empty($$SELECT signature::text, r FROM pg_temp.function, unnest(ARRAY['trainer', 'analyst', 'operator', 'agent']) AS r WHERE has_function_privilege('cudal1_test_' || r, oid, 'EXECUTE')
	UNION ALL SELECT name::text, r FROM pg_temp.relation, unnest(ARRAY['trainer', 'analyst', 'operator', 'agent']) AS r WHERE relkind <> 'S' AND has_any_column_privilege('cudal1_test_' || r, oid, 'SELECT')$$,
	'what was granted can be taken back');

SELECT * FROM finish();
ROLLBACK;
