/*
 * Quotas of trainers: candidates that wait, bytes that are stored, requests that are under way.
 * Operators have none, and what the worker stores for a role is counted but never refused: it was
 * admitted when it was asked for.
 *
 * What is stored is written down by each submission as a row, so that sessions of one role never
 * wait for each other, and added up now and then. The rest is counted when a quota is checked.
 */

CREATE FUNCTION cudal1.quota_of(owner text, OUT candidates bigint, OUT bytes bigint,
	OUT requests bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
AS $$
BEGIN
	SELECT coalesce(x.queued_candidates, y.queued_candidates, 10000),
			coalesce(x.stored_bytes, y.stored_bytes, 10737418240),
			coalesce(x.requests, y.requests, 10000)
		INTO candidates, bytes, requests FROM (SELECT quota_of.owner AS role) AS o
			LEFT JOIN cudal1.quota AS x ON x.role = o.role
			LEFT JOIN cudal1.quota AS y ON y.role = ''
		-- NULL where that role was dropped
		WHERE has_function_privilege(to_regrole(quote_ident(o.role))::oid,
			'cudal1.is_operator()', 'EXECUTE') IS NOT TRUE;
END
$$;
COMMENT ON FUNCTION cudal1.quota_of IS
'the quotas of a role: its own, else those for all, else the defaults; NULL: an operator';

CREATE FUNCTION cudal1.used_of(owner text, OUT candidates bigint, OUT bytes bigint,
	OUT requests bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
AS $$
BEGIN
	candidates := (SELECT count(*) FROM cudal1.job AS j
		WHERE j.trainer = used_of.owner AND j.state = 'queued' AND j.kind = 'measure');
	bytes := (SELECT coalesce(sum(s.bytes), 0) FROM cudal1.stored AS s
		WHERE s.role = used_of.owner);
	requests := (SELECT count(*) FROM cudal1.request AS r
		WHERE r.created_by = used_of.owner AND r.state IN ('queued', 'running'));
END
$$;
COMMENT ON FUNCTION cudal1.used_of IS 'what a role has of what its quotas limit';

CREATE FUNCTION cudal1.proposal_bytes(code text, response text)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- 256 bytes stand for the row and its index entries, because short proposals fill a disk, too
RETURN 256::bigint + COALESCE(octet_length(code), 0) + COALESCE(octet_length(response), 0);
COMMENT ON FUNCTION cudal1.proposal_bytes IS
'bytes that a proposal counts: its code where that is new, the answer it came in, and 256';

CREATE FUNCTION cudal1.room_of(owner text, OUT candidates bigint, OUT bytes bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	q		constant record := cudal1.quota_of(owner);
	u		record;
BEGIN
	-- the worker, too, for which the role was admitted before
	IF q.bytes IS NULL OR cudal1.is_operator() THEN
		candidates := 1000000000000;
		bytes := 1000000000000000;
		RETURN;
	END IF;
	u := cudal1.used_of(owner);
	candidates := q.candidates - u.candidates;
	bytes := q.bytes - u.bytes;
	-- A thousand rows become one. Above READ COMMITTED rows that others added up since would be an
	-- error; those that another transaction is adding up at this moment are left to it.
	IF current_setting('transaction_isolation') = 'read committed'
		AND (SELECT count(*) FROM cudal1.stored) > 1000 THEN
		WITH gone AS (
			DELETE FROM cudal1.stored AS s
				WHERE s.stored_id = ANY (ARRAY(
					SELECT x.stored_id FROM cudal1.stored AS x FOR UPDATE SKIP LOCKED))
				RETURNING s.role, s.bytes)
		INSERT INTO cudal1.stored (role, bytes)
			SELECT g.role, sum(g.bytes) FROM gone AS g GROUP BY g.role;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.room_of IS
'what a role is below its quotas; negative: above. Adds the rows of cudal1.stored up';

CREATE FUNCTION cudal1.quota_reason(owner text, quota text)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT format('role "%s" has used up its quota of %s', owner,
		CASE quota WHEN 'candidates' THEN q.candidates || ' queued candidates'
			WHEN 'bytes' THEN q.bytes || ' stored bytes'
			ELSE q.requests || ' requests under way' END)
	FROM cudal1.quota_of(owner) AS q);
COMMENT ON FUNCTION cudal1.quota_reason IS
'the message of a quota that is used up: candidates, bytes or requests';

CREATE FUNCTION cudal1.refuse(owner text, quota text, used bigint, more bigint)
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
RETURN cudal1.raise_if(true, '53400', cudal1.quota_reason(owner, quota),
	CASE quota WHEN 'candidates'
			THEN 'Wait for verdicts, or cancel candidates with cudal1_cancel().'
		WHEN 'bytes' THEN 'An operator can remove texts of failed candidates with cudal1_prune().'
		ELSE 'Wait for answers, or cancel requests with cudal1_cancel_requests().' END
		|| ' An operator can raise the quota with cudal1_set_quota().',
	format('It has %s, and %s more are asked for.', used, more));
COMMENT ON FUNCTION cudal1.refuse IS 'error 53400: a quota is used up';

CREATE FUNCTION cudal1.check_room(owner text, queued bigint, more bigint)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	q		constant record := cudal1.quota_of(owner);
	r		record;
BEGIN
	-- A count reads as many entries as the quota is large. So only some of many small submissions
	-- count, and a role can pass a large quota by some hundredths.
	IF random() * q.candidates > 100 AND random() * q.bytes > 100 * more THEN
		RETURN;
	END IF;
	r := cudal1.room_of(owner);
	-- the rows are written by now, and the error undoes them
	IF r.candidates < 0 AND queued > 0 THEN
		PERFORM cudal1.refuse(owner, 'candidates', q.candidates - r.candidates - queued, queued);
	ELSIF r.bytes < 0 AND more > 0 THEN
		PERFORM cudal1.refuse(owner, 'bytes', q.bytes - r.bytes - more, more);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_room IS
'error 53400 where a role is above its quotas, of which so much was used just now';

CREATE FUNCTION cudal1.store(owner text, bytes bigint)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	INSERT INTO cudal1.stored (role, bytes) VALUES (store.owner, store.bytes);
	SELECT cudal1.check_room(owner, 0, store.bytes);
END;
COMMENT ON FUNCTION cudal1.store IS
'writes down the bytes that were stored for a role, and checks its quota of them; error 53400';

CREATE FUNCTION cudal1.request_room(owner text, OUT quota text, OUT used bigint,
	OUT requests bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT v.name, v.used, coalesce(v.room, 1000000000000)
		FROM cudal1.quota_of(owner) AS q, cudal1.used_of(owner) AS u, LATERAL (VALUES
			(1, 'requests', u.requests, q.requests - u.requests),
			-- answers become candidates without a further check, so requests are checked here
			(2, 'candidates', u.candidates + u.requests, q.candidates - u.candidates - u.requests),
			(3, 'bytes', u.bytes, CASE WHEN u.bytes > q.bytes THEN 0 END))
			AS v (place, name, used, room)
		ORDER BY v.room, v.place LIMIT 1;
END;
COMMENT ON FUNCTION cudal1.request_room IS
'how many more requests a role may have under way, and the quota that ends there';

CREATE FUNCTION @extschema@.cudal1_set_quota(role name, queued_candidates bigint DEFAULT NULL,
	stored_bytes bigint DEFAULT NULL, requests bigint DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
#variable_conflict use_column
DECLARE
	target	constant text := coalesce(role, '');
BEGIN
	PERFORM cudal1.raise_if(0 > least(queued_candidates, stored_bytes, requests), '22023',
		'queued_candidates, stored_bytes and requests must not be negative');
	IF num_nonnulls(queued_candidates, stored_bytes, requests) = 0 THEN
		DELETE FROM cudal1.quota AS q WHERE q.role = target;
		-- DROP ROLE leaves the quotas of a role, for which they can still be taken back
		PERFORM cudal1.check_name('role', role) WHERE role IS NOT NULL AND NOT FOUND;
	ELSE
		PERFORM cudal1.check_name('role', role) WHERE role IS NOT NULL;
		INSERT INTO cudal1.quota AS q (role, queued_candidates, stored_bytes, requests)
			VALUES (target, queued_candidates, stored_bytes, requests)
			ON CONFLICT (role) DO UPDATE
				SET queued_candidates = excluded.queued_candidates,
					stored_bytes = excluded.stored_bytes, requests = excluded.requests;
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_set_quota(name, bigint, bigint, bigint) IS
'sets the quotas of a role, or with role NULL of all that have none of their own: candidates that
wait for their measurement (10000 where none was set), bytes of codes, answers, prompts and
references that are stored (10 GiB; a proposal counts 256 beside), requests that wait for a model or
are in flight (10000). A quota given as NULL is what holds for all. DROP ROLE leaves quotas, and
what counts in them, to the next role of that name. Operators and superusers have none. What a quota
refuses is an error 53400, in cudal1_submit_batch() a reason. Operators only. Errors: 42704 unknown
role, 22023 a negative number';

CREATE VIEW cudal1.quota_use AS
	SELECT r.role, u.candidates AS queued_candidates, q.candidates AS most_candidates,
			u.bytes AS stored_bytes, q.bytes AS most_bytes, u.requests,
			q.requests AS most_requests
		FROM (SELECT y.role FROM cudal1.quota AS y WHERE y.role <> ''
			  UNION SELECT y.role FROM cudal1.stored AS y
			  UNION SELECT y.created_by FROM cudal1.request AS y
				WHERE y.state IN ('queued', 'running')) AS r
			CROSS JOIN LATERAL cudal1.used_of(r.role) AS u
			CROSS JOIN LATERAL cudal1.quota_of(r.role) AS q;
COMMENT ON VIEW cudal1.quota_use IS
'what each role has of what its quotas limit, and the quotas (NULL: an operator, without any); also
of roles that were dropped, whose quotas and texts stay';

/*
 * Privileges. PUBLIC may do nothing. A role becomes able by cudal1_grant(), which follows one list
 * of what each kind may do; tables are written by SECURITY DEFINER functions alone, since an INSERT
 * would forge a reward.
 */

CREATE FUNCTION cudal1.privileges(kind text)
RETURNS TABLE (object text, privilege text) LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
	WITH allowed (kinds, privilege, names) AS (VALUES
		-- what reads
		('{analyst,trainer}', 'EXECUTE',
			ARRAY['cudal1_reward', 'cudal1_bucket_stats', 'cudal1_parse_response',
			'cudal1_conservative_round', 'cudal1_score_rounds', 'cudal1_group_advantages',
			'cudal1_grpo_objective', 'cudal1_speedup_report', 'cudal1_status', 'cudal1_wait',
			'cudal1_level_report', 'cudal1_method_report', 'cudal1_device_report',
			'cudal1_top_tasks', 'cudal1_speedup_histogram', 'cudal1_compare',
			'cudal1_compare_tasks', 'cudal1_percentiles', 'cudal1_fast_p', 'cudal1_task_report',
			'cudal1_light', 'cudal1_best', 'cudal1_lineage', 'cudal1_counters',
			'cudal1_ablation_table', 'cudal1_ablation_effects', 'cudal1_ablation_gatekeepers',
			'cudal1_group_result', 'cudal1_sft_dataset', 'cudal1_rl_dataset',
			-- with which the view cudal1.quota_use is made
			'cudal1.quota_of', 'cudal1.used_of']),
		('{analyst}', 'EXECUTE', ARRAY['cudal1_check']),
		-- what proposes, and asks models
		('{trainer}', 'EXECUTE',
			ARRAY['cudal1_add_task', 'cudal1_retire_task', 'cudal1_restore_task', 'cudal1_submit',
			'cudal1_submit_batch', 'cudal1_submit_response', 'cudal1_cancel', 'cudal1_open_pool',
			'cudal1_sample_exemplars', 'cudal1_prompt', 'cudal1_record_prompt',
			'cudal1_add_prompt_template', 'cudal1_certify_task', 'cudal1_check_reference',
			'cudal1_add_baselines', 'cudal1_ablate', 'cudal1_ablation_explain',
			'cudal1_generate', 'cudal1_cancel_requests', 'cudal1_add_campaign',
			'cudal1_pause_campaign', 'cudal1_resume_campaign', 'cudal1_end_campaign',
			'cudal1_next_group', 'cudal1_answer_group', 'cudal1_extract_techniques']),
		-- what measures
		('{agent,operator}', 'EXECUTE',
			ARRAY['cudal1.register_device', 'cudal1.claim', 'cudal1.heartbeat', 'cudal1.finish',
			'cudal1.release', 'cudal1.expire_leases', 'cudal1.take_back',
			'cudal1.wake', 'cudal1_status']),
		('{operator}', 'EXECUTE', ARRAY['all', 'cudal1.worker_state', 'cudal1.preloaded',
			'cudal1.is_operator', 'cudal1.quota_of', 'cudal1.used_of']),
		-- models in training see neither detectors nor evidence
		('{trainer}', 'SELECT',
			ARRAY['cudal1.task', 'cudal1.pool', 'cudal1.candidate', 'cudal1.proposal',
			'cudal1.prompt', 'cudal1.prompt_template',
			'cudal1.profile', 'cudal1.device', 'cudal1.activity', 'cudal1.queue', 'cudal1.bucket',
			'cudal1.model', 'cudal1.model_use', 'cudal1.request', 'cudal1.campaign',
			'cudal1.campaign_lane', 'cudal1.campaign_group', 'cudal1.campaign_progress',
			'cudal1.technique', 'cudal1.technique_look', 'cudal1.candidate_technique',
			'cudal1.technique_frequency',
			'cudal1.imported_score', 'cudal1.ablation', 'cudal1.ablation_run', 'cudal1.drift',
			'cudal1.aa_chart', 'cudal1.stat_device', 'cudal1.stat_task', 'cudal1.cost',
			'cudal1.stat_method',
			'cudal1.quota', 'cudal1.quota_use', 'cudal1.weight']),
		('{trainer}', 'SELECT WITHOUT evidence', ARRAY['cudal1.measurement']),
		('{analyst,operator}', 'SELECT', ARRAY['all']))
	SELECT n, a.privilege FROM allowed AS a, unnest(a.names) AS n
		WHERE privileges.kind = ANY (a.kinds::text[]);
$$;
COMMENT ON FUNCTION cudal1.privileges IS 'the objects that a kind of role may use, and how';

CREATE FUNCTION cudal1.change_privileges(role name, kind text, allow boolean)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	verb	constant text := CASE WHEN allow THEN 'GRANT %s ON %s %s TO %I'
		ELSE 'REVOKE %s ON %s %s FROM %I' END;
	home	constant oid := (SELECT e.extnamespace FROM pg_extension AS e
		WHERE e.extname = 'cudal1');
	o		record;
BEGIN
	PERFORM cudal1.check_word('kind', kind, '{trainer,analyst,operator,agent}');
	PERFORM cudal1.check_name('role', role);
	FOR o IN
		-- the schema of the functions is left as it is where it is open already, or has another
		-- owner
		SELECT 'USAGE' AS privilege, 'SCHEMA' AS type, quote_ident(n.nspname) AS name
			FROM pg_namespace AS n
			WHERE n.nspname = 'cudal1'
				OR n.oid = home AND allow AND NOT has_schema_privilege(role, n.oid, 'USAGE')
		UNION ALL
		SELECT 'EXECUTE', 'FUNCTION', f.oid::regprocedure::text
			FROM cudal1.privileges(kind) AS p JOIN pg_proc AS f
					-- inner functions stay with the owner, those apart that are named
					ON f.pronamespace = home AND (f.proname = p.object OR p.object = 'all'
							AND f.proname NOT IN ('cudal1_grant', 'cudal1_revoke'))
						OR f.pronamespace = 'cudal1'::regnamespace
							AND 'cudal1.' || f.proname = p.object
				JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = f.oid
					AND d.deptype = 'e'
				JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass
					AND d.refobjid = e.oid AND e.extname = 'cudal1'
			WHERE p.privilege = 'EXECUTE'
		UNION ALL
		SELECT CASE p.privilege WHEN 'SELECT' THEN 'SELECT'
				ELSE (SELECT format('SELECT (%s)', string_agg(quote_ident(a.attname), ', '
						ORDER BY a.attnum))
					FROM pg_attribute AS a
					WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
						AND a.attname NOT IN ('evidence')) END,
				'TABLE', c.oid::regclass::text
			FROM cudal1.privileges(kind) AS p JOIN pg_class AS c
				ON p.object IN ('all', 'cudal1.' || c.relname)
			WHERE p.privilege <> 'EXECUTE' AND c.relnamespace = 'cudal1'::regnamespace
				AND c.relkind IN ('r', 'v', 'm') AND has_table_privilege(c.oid, 'SELECT')
	LOOP
		EXECUTE format(verb, o.privilege, o.type, o.name, role);
	END LOOP;
	IF kind = 'operator' THEN
		-- to pause and resume; pg_reload_conf() makes it hold
		EXECUTE format(verb, 'ALTER SYSTEM', 'PARAMETER', '"cudal1.enabled"', role);
		EXECUTE format(verb, 'EXECUTE', 'FUNCTION', 'pg_catalog.pg_reload_conf()', role);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.change_privileges IS 'grants or revokes what a kind of role may do';

CREATE FUNCTION @extschema@.cudal1_grant(role name, kind text)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN cudal1.change_privileges(role, kind, true);
COMMENT ON FUNCTION @extschema@.cudal1_grant(name, text) IS
'lets a role do what its kind does. trainer: add tasks, submit, wait, cancel, sample, prompt,
report; read tasks, candidates, measurements, statistics, not the queue''s own table, the evidence
of detectors. analyst: read everything. operator: everything a user can do, and ALTER SYSTEM SET
cudal1.enabled with pg_reload_conf(). agent: claim jobs and report results. For the extension''s
owner; errors: 42704 unknown role, 22023 unknown kind';

CREATE FUNCTION @extschema@.cudal1_revoke(role name, kind text)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN cudal1.change_privileges(role, kind, false);
COMMENT ON FUNCTION @extschema@.cudal1_revoke(name, text) IS
'takes back what cudal1_grant() gave for the kind, but not USAGE of the schema that holds the
extension''s functions, since other objects may be there; grant what another kind of the same role
needs anew. Errors: 42704 unknown role, 22023 unknown kind';

/*
 * What holds for all functions and tables. PUBLIC may use nothing. Names in a body resolve in
 * pg_catalog alone, whatever the caller's search_path is: a function that is parsed when it is
 * called is pinned, and one that runs with its owner's rights. What was parsed when it was created
 * is not, because PostgreSQL inlines no function with a setting. Everything but the queue and its
 * turns is part of a dump.
 */
DO $$
DECLARE
	o		record;
BEGIN
	FOR o IN
		SELECT d.classid, d.objid, c.relkind, c.relname, coalesce(f.prosecdef
				OR f.prosqlbody IS NULL AND l.lanname <> 'c', false) AS is_pinned
			FROM pg_depend AS d
				JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cudal1'
				LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
				LEFT JOIN pg_proc AS f ON d.classid = 'pg_proc'::regclass AND f.oid = d.objid
				LEFT JOIN pg_language AS l ON l.oid = f.prolang
			WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
			ORDER BY d.objid
	LOOP
		IF o.classid = 'pg_proc'::regclass THEN
			EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', o.objid::regprocedure);
			IF o.is_pinned THEN
				EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp',
					o.objid::regprocedure);
			END IF;
		ELSIF o.relkind IN ('r', 'S')
			AND o.relname NOT IN ('job', 'job_job_id_seq', 'turn') THEN
			PERFORM pg_extension_config_dump(o.objid::regclass,
				CASE WHEN o.relname IN ('profile', 'prompt_template')
						THEN 'WHERE NOT shipped'
					WHEN o.relname = 'pool' THEN 'WHERE pool_id <> 1'
					WHEN o.relname = 'technique' THEN 'WHERE pattern IS NULL' ELSE '' END);
		END IF;
	END LOOP;
END
$$;
