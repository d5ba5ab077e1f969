/*
 * Privileges. PUBLIC may do nothing. A role becomes able by cudal1_grant(), which follows one list of what each kind may do;
 * tables are written by SECURITY DEFINER functions alone, since an INSERT would forge a reward.
 */

CREATE FUNCTION cudal1.privileges(kind text)
RETURNS TABLE (object text, privilege text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	WITH allowed (kind, privilege, names) AS (VALUES
		-- what reads
		('analyst', 'EXECUTE', ARRAY['cudal1_reward', 'cudal1_bucket_stats', 'cudal1_parse_response', 'cudal1_conservative_round',
			'cudal1_score_rounds', 'cudal1_group_advantages', 'cudal1_grpo_objective', 'cudal1_speedup_report', 'cudal1_status', 'cudal1_wait',
			'cudal1_level_report', 'cudal1_method_report', 'cudal1_device_report',
			'cudal1_top_tasks', 'cudal1_speedup_histogram', 'cudal1_compare', 'cudal1_compare_tasks',
			'cudal1_percentiles', 'cudal1_fast_p', 'cudal1_task_report',
			'cudal1_ablation_table', 'cudal1_ablation_effects', 'cudal1_ablation_gatekeepers', 'cudal1_check']),
		-- what proposes
		('trainer', 'EXECUTE', ARRAY['cudal1_add_task', 'cudal1_retire_task', 'cudal1_restore_task', 'cudal1_submit', 'cudal1_submit_batch', 'cudal1_submit_response', 'cudal1_wait',
			'cudal1_cancel', 'cudal1_reward', 'cudal1_sample_exemplars', 'cudal1_bucket_stats', 'cudal1_prompt', 'cudal1_parse_response',
			'cudal1_conservative_round', 'cudal1_score_rounds', 'cudal1_group_advantages', 'cudal1_grpo_objective', 'cudal1_speedup_report',
			'cudal1_status', 'cudal1_certify_task', 'cudal1_level_report', 'cudal1_method_report', 'cudal1_device_report',
			'cudal1_top_tasks', 'cudal1_speedup_histogram', 'cudal1_compare', 'cudal1_compare_tasks',
			'cudal1_percentiles', 'cudal1_fast_p', 'cudal1_task_report',
			'cudal1_ablation_table', 'cudal1_ablation_effects', 'cudal1_ablation_gatekeepers',
			'cudal1_ablate', 'cudal1_ablation_explain']),
		-- what asks models
		('trainer', 'EXECUTE', ARRAY['cudal1_generate', 'cudal1_cancel_requests', 'cudal1_add_campaign', 'cudal1_pause_campaign',
			'cudal1_resume_campaign', 'cudal1_end_campaign', 'cudal1_next_group', 'cudal1_answer_group', 'cudal1_group_result',
			'cudal1_sft_dataset', 'cudal1_rl_dataset', 'cudal1_extract_techniques', 'cudal1.campaign_options']),
		('analyst', 'EXECUTE', ARRAY['cudal1_group_result', 'cudal1_sft_dataset', 'cudal1_rl_dataset', 'cudal1.campaign_options']),
		-- what measures
		('agent', 'EXECUTE', ARRAY['cudal1.register_device', 'cudal1.claim', 'cudal1.heartbeat', 'cudal1.finish', 'cudal1.release',
			'cudal1.expire_leases', 'cudal1.announce_idle', 'cudal1.take_back', 'cudal1.wake', 'cudal1_status']),
		-- models in training see neither detectors nor evidence, nor how far audits follow them
		('trainer', 'SELECT', ARRAY['cudal1.task', 'cudal1.candidate', 'cudal1.proposal', 'cudal1.prompt', 'cudal1.profile', 'cudal1.device',
			'cudal1.activity', 'cudal1.queue', 'cudal1.bucket', 'cudal1.model', 'cudal1.model_use', 'cudal1.request', 'cudal1.campaign',
			'cudal1.campaign_lane', 'cudal1.campaign_group', 'cudal1.campaign_progress', 'cudal1.technique', 'cudal1.candidate_technique',
			'cudal1.technique_frequency', 'cudal1.imported_score', 'cudal1.ablation', 'cudal1.ablation_run', 'cudal1.drift', 'cudal1.aa_chart',
			'cudal1.stat_device', 'cudal1.stat_task', 'cudal1.stat_method', 'cudal1.method', 'cudal1.quota', 'cudal1.quota_use',
			'cudal1.weight']),
		('trainer', 'SELECT WITHOUT evidence', ARRAY['cudal1.measurement']),
		('analyst', 'SELECT', ARRAY['all']),
		('operator', 'SELECT', ARRAY['all']),
		('operator', 'EXECUTE', ARRAY['all']))
	SELECT n, a.privilege FROM allowed AS a, unnest(a.names) AS n WHERE a.kind = privileges.kind;
$$;
COMMENT ON FUNCTION cudal1.privileges(text) IS 'the objects that a kind of role may use, and how';

CREATE FUNCTION cudal1.change_privileges(role name, kind text, allow boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	to_role	text;
	verb	constant text := CASE WHEN allow THEN 'GRANT %s ON %s %s TO %s' ELSE 'REVOKE %s ON %s %s FROM %s' END;
	home	oid;
	s		record;
	o		record;
	p		record;
BEGIN
	IF role IS NULL OR kind IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'role and kind must not be null';
	END IF;
	IF kind NOT IN ('trainer', 'analyst', 'operator', 'agent') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown kind of role "%s"', kind),
			HINT = 'Kinds are trainer, analyst, operator and agent.';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = role) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('role "%s" does not exist', role);
	END IF;
	to_role := quote_ident(role);
	SELECT e.extnamespace INTO STRICT home FROM pg_extension AS e WHERE e.extname = 'cudal1';
	-- the schema of the functions may be anybody's, and is left as it is where it is open already or not ours to open
	FOR s IN SELECT n.oid, n.nspname FROM pg_namespace AS n WHERE n.nspname = 'cudal1' OR (n.oid = home AND allow) LOOP
		IF (s.nspname = 'cudal1' OR NOT has_schema_privilege(role, s.oid, 'USAGE'))
			AND (allow OR s.nspname = 'cudal1') THEN
			EXECUTE format(verb, 'USAGE', 'SCHEMA', quote_ident(s.nspname), to_role);
		END IF;
	END LOOP;
	FOR p IN SELECT x.* FROM cudal1.privileges(kind) AS x LOOP
		IF p.privilege = 'EXECUTE' THEN
			FOR o IN
				SELECT f.oid::regprocedure AS signature
					FROM pg_proc AS f
						JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e'
						JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'cudal1'
					WHERE (p.object = 'all' AND f.prorettype <> 'trigger'::regtype
						   AND f.proname NOT IN ('cudal1_grant', 'cudal1_revoke', 'change_privileges')
						   -- what other functions are made of stays with the owner
						   AND (f.pronamespace = home OR f.proname IN ('register_device', 'claim', 'heartbeat', 'finish', 'release',
								'expire_leases', 'announce_idle', 'take_back', 'wake', 'worker_state', 'preloaded', 'rebucket', 'recount',
								'campaign_options', 'is_operator')))
						OR (f.pronamespace = home AND f.proname = p.object)
						OR (f.pronamespace = 'cudal1'::regnamespace AND 'cudal1.' || f.proname = p.object)
			LOOP
				EXECUTE format(verb, 'EXECUTE', 'FUNCTION', o.signature, to_role);
			END LOOP;
		ELSE
			FOR o IN
				SELECT c.oid::regclass AS relation,
						(SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute AS a
							WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT IN ('evidence', 'audit_bound')) AS columns
					FROM pg_class AS c
					WHERE c.relnamespace = 'cudal1'::regnamespace AND c.relkind IN ('r', 'v', 'm')
						AND (p.object = 'all' OR 'cudal1.' || c.relname = p.object)
						AND has_table_privilege(c.oid, 'SELECT')
			LOOP
				EXECUTE format(verb, CASE p.privilege WHEN 'SELECT' THEN 'SELECT' ELSE format('SELECT (%s)', o.columns) END,
							   'TABLE', o.relation, to_role);
			END LOOP;
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.change_privileges(name, text, boolean) IS 'grants or revokes what a kind of role may do';

CREATE FUNCTION @extschema@.cudal1_grant(role name, kind text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT cudal1.change_privileges(role, kind, true);
END;
COMMENT ON FUNCTION @extschema@.cudal1_grant(name, text) IS
'lets a role do what its kind does. trainer: add tasks, submit, wait, cancel, sample, prompt, report; read tasks, candidates, measurements, statistics, not the queue''s own table, the evidence of detectors nor the bound that audits set. analyst: read everything.
operator: everything a user can do, imports, evaluations and switches included. agent: claim jobs and report results. For the extension''s owner; errors: 42704 unknown role, 22023 unknown kind';

CREATE FUNCTION @extschema@.cudal1_revoke(role name, kind text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT cudal1.change_privileges(role, kind, false);
END;
COMMENT ON FUNCTION @extschema@.cudal1_revoke(name, text) IS
'takes back what cudal1_grant() gave for the kind; grant what another kind of the same role needs anew. Errors: 42704 unknown role, 22023 unknown kind';

-- nothing is open to PUBLIC, and everything but the queue and its turns is part of a dump
DO $$
DECLARE
	o		record;
BEGIN
	FOR o IN
		SELECT d.classid, d.objid, c.relkind, c.relname
			FROM pg_catalog.pg_depend AS d
				JOIN pg_catalog.pg_extension AS e ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'cudal1'
				LEFT JOIN pg_catalog.pg_class AS c ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::regclass
					AND c.oid OPERATOR(pg_catalog.=) d.objid
			WHERE d.deptype OPERATOR(pg_catalog.=) 'e' AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::regclass
			ORDER BY d.objid
	LOOP
		IF o.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::regclass THEN
			EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', o.objid::regprocedure);
		ELSIF o.relkind IN ('r', 'S') AND o.relname NOT IN ('job', 'job_job_id_seq', 'turn', 'task_turn') THEN
			PERFORM pg_catalog.pg_extension_config_dump(o.objid::regclass,
				CASE WHEN o.relname IN ('profile', 'method') THEN 'WHERE NOT shipped' WHEN o.relname = 'technique' THEN 'WHERE pattern IS NULL' ELSE '' END);
		END IF;
	END LOOP;
END
$$;
