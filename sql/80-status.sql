/*
 * What is going on, and why nothing is: views for a glance, cudal1_status() for the reasons.
 */

CREATE VIEW cudal1.activity AS
	SELECT j.job_id, j.kind, t.name AS task, j.candidate_id, d.device_key AS device, j.worker, j.phase, j.pairs, j.rounds,
		   j.estimate, j.lower, j.upper, j.seconds_left, j.claimed_at AS since, j.lease_until, j.attempt, j.failures, j.cancel_requested
	FROM cudal1.job AS j
		JOIN cudal1.task AS t ON t.task_id = j.task_id
		JOIN cudal1.device AS d ON d.device_id = j.device_id
	WHERE j.state = 'running';
COMMENT ON VIEW cudal1.activity IS 'what is being measured now, one row for each claimed job';
COMMENT ON COLUMN cudal1.activity.phase IS 'building, waiting (for the device), checking, calibrating, measuring or auditing; NULL before the first word of the child';
COMMENT ON COLUMN cudal1.activity.estimate IS 'score so far, with the interval from lower to upper';
COMMENT ON COLUMN cudal1.activity.seconds_left IS 'estimated seconds until the measurement ends';
COMMENT ON COLUMN cudal1.activity.failures IS 'attempts that ended lost, unverified or unstable before this one';

CREATE VIEW cudal1.queue AS
	SELECT j.job_id, j.kind, t.name AS task, j.candidate_id, j.device, j.language, j.priority, j.profile, j.enqueued_at, j.deadline,
		   j.failures, j.trainer,
		   CASE WHEN j.deadline OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() THEN 'its deadline has passed'
				WHEN j.not_before OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp() THEN pg_catalog.format('not before %s', j.not_before)
				WHEN NOT EXISTS (SELECT FROM cudal1.device AS d
								 WHERE d.enabled AND j.device IN (d.class, d.model, d.device_key) AND j.language OPERATOR(pg_catalog.=) ANY (d.languages)
									AND d.cores OPERATOR(pg_catalog.>=) j.cores)
					THEN pg_catalog.format('no enabled device %s with language %s and %s core(s)', j.device, j.language, j.cores)
				WHEN NOT EXISTS (SELECT FROM cudal1.aa_candidate AS k
								 WHERE k.candidate_id OPERATOR(pg_catalog.=) j.candidate_id AND j.kind OPERATOR(pg_catalog.=) 'evaluate')
					AND NOT EXISTS (SELECT FROM cudal1.device AS d
									WHERE d.enabled AND d.untrusted_since IS NULL AND j.device IN (d.class, d.model, d.device_key)
										AND j.language OPERATOR(pg_catalog.=) ANY (d.languages) AND d.cores OPERATOR(pg_catalog.>=) j.cores)
					THEN pg_catalog.format('the A/A measurements of every device %s drift', j.device)
				WHEN NOT EXISTS (SELECT FROM cudal1.device AS d
								 WHERE d.enabled AND COALESCE(d.rests_until OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp(), true)
									AND j.device IN (d.class, d.model, d.device_key) AND j.language OPERATOR(pg_catalog.=) ANY (d.languages)
									AND d.cores OPERATOR(pg_catalog.>=) j.cores)
					THEN pg_catalog.format('every device %s rests, since it lost what it measured', j.device)
				WHEN j.avoid_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp()
					AND NOT EXISTS (SELECT FROM cudal1.device AS d
									WHERE d.enabled AND j.device IN (d.class, d.model) AND j.language OPERATOR(pg_catalog.=) ANY (d.languages)
										AND d.cores OPERATOR(pg_catalog.>=) j.cores
										AND NOT EXISTS (SELECT FROM cudal1.device AS a
														WHERE a.device_id OPERATOR(pg_catalog.=) j.avoid_device
															AND a.hardware OPERATOR(pg_catalog.=) d.hardware))
					THEN CASE WHEN j.avoid_until OPERATOR(pg_catalog.=) 'infinity'::timestamptz THEN 'needs another device of the same model to verify'
						 ELSE pg_catalog.format('waits for another device of the same model until %s', j.avoid_until) END
		   END AS waits_for
	FROM cudal1.job AS j JOIN cudal1.task AS t ON t.task_id OPERATOR(pg_catalog.=) j.task_id
	WHERE j.state OPERATOR(pg_catalog.=) 'queued'
	ORDER BY j.priority DESC, j.job_id;
COMMENT ON VIEW cudal1.queue IS 'jobs that wait, in the order in which they are claimed';
COMMENT ON COLUMN cudal1.queue.device IS 'device class or model, or the key of the one device, that may claim the job';
COMMENT ON COLUMN cudal1.queue.trainer IS 'the role whose turn the job takes; empty where no role asked for it';
COMMENT ON COLUMN cudal1.queue.waits_for IS 'why no device can claim the job now; NULL: it waits its turn';

CREATE FUNCTION cudal1.ago(since timestamptz)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN s < 120 THEN pg_catalog.format('%s s', pg_catalog.round(s))
				WHEN s < 7200 THEN pg_catalog.format('%s min', pg_catalog.round(s / 60))
				WHEN s < 172800 THEN pg_catalog.format('%s h', pg_catalog.round(s / 3600))
				ELSE pg_catalog.format('%s days', pg_catalog.round(s / 86400)) END
		FROM (SELECT GREATEST(0, EXTRACT(epoch FROM pg_catalog.clock_timestamp() - since)) AS s) AS x;
END;
COMMENT ON FUNCTION cudal1.ago(timestamptz) IS 'how long ago, rounded, in words';

CREATE FUNCTION @extschema@.cudal1_status()
RETURNS TABLE (item text, value text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	w		record;
	d		record;
	r		record;
	here	constant text := current_database();
BEGIN
	RETURN QUERY SELECT 'version', e.extversion, (SELECT format('Run ALTER EXTENSION cudal1 UPDATE; this server has version %s.', a.default_version)
												  FROM pg_available_extensions AS a WHERE a.name = 'cudal1' AND a.default_version <> e.extversion)
		FROM pg_extension AS e WHERE e.extname = 'cudal1';

	-- what others may put beside the functions; what the extension itself calls is elsewhere, but a user's call may mean it
	FOR r IN
		SELECT n.nspname, string_agg(DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END, ', ') AS roles
			FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
			WHERE e.extname = 'cudal1' AND a.privilege_type = 'CREATE' AND a.grantee NOT IN (n.nspowner, e.extowner)
			GROUP BY n.nspname
	LOOP
		RETURN QUERY SELECT 'schema', format('%s may create in schema %s', r.roles, quote_ident(r.nspname)),
			format('REVOKE CREATE ON SCHEMA %I FROM %s; a function there with the name of one of cudal1''s may be called in its place.', r.nspname, r.roles);
	END LOOP;
	SELECT string_agg(f.oid::regprocedure::text, ', ' ORDER BY f.oid::regprocedure::text) AS signatures INTO r
		FROM pg_extension AS e JOIN pg_proc AS f ON f.pronamespace = e.extnamespace
		WHERE e.extname = 'cudal1' AND starts_with(f.proname::text, 'cudal1_')
			AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e'
								AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid);
	IF r.signatures IS NOT NULL THEN
		RETURN QUERY SELECT 'foreign functions', cudal1.clip(r.signatures), 'They are not the extension''s but bear such names, and may be called in place of its own: drop them.';
	END IF;

	-- the server
	IF cudal1.preloaded() THEN
		RETURN QUERY SELECT 'preload', 'yes', NULL;
	ELSE
		RETURN QUERY SELECT 'preload', 'no',
			'Add cudal1 to shared_preload_libraries in postgresql.conf and restart the server; without it only agents outside the server measure.';
	END IF;
	IF pg_is_in_recovery() THEN
		RETURN QUERY SELECT 'server', 'standby', 'Nothing is measured until this server is promoted.';
	END IF;
	SELECT s.* INTO w FROM cudal1.worker_state() AS s WHERE s.database = here;
	IF FOUND THEN
		RETURN QUERY SELECT 'database', format('%s is listed in cudal1.databases', here), NULL;
		IF w.pid IS NULL THEN
			RETURN QUERY SELECT 'worker', coalesce('none: ' || nullif(w.note, ''), 'none'),
				'The launcher starts it within seconds; if it does not, the server''s log says why (max_worker_processes may be used up).';
		ELSE
			RETURN QUERY SELECT 'worker', format('process %s for %s', w.pid, cudal1.ago(w.since)) || coalesce(', ' || nullif(w.note, ''), ''), NULL;
		END IF;
	ELSIF cudal1.preloaded() THEN
		RETURN QUERY SELECT 'database', format('%s is not listed in cudal1.databases', here),
			format('ALTER SYSTEM SET cudal1.databases = %L; then SELECT pg_reload_conf();',
				   (SELECT string_agg(quote_ident(n.name), ', ') FROM (SELECT s.database AS name FROM cudal1.worker_state() AS s
														  UNION SELECT here) AS n));
	ELSE
		RETURN QUERY SELECT 'database', here, 'Its worker starts once the library is preloaded and cudal1.databases names it (default: postgres).';
	END IF;
	IF current_setting('cudal1.enabled', true) = 'off' THEN
		RETURN QUERY SELECT 'measuring', 'switched off', 'ALTER SYSTEM SET cudal1.enabled = on; then SELECT pg_reload_conf();';
	END IF;

	-- devices
	IF NOT EXISTS (SELECT FROM cudal1.device) THEN
		RETURN QUERY SELECT 'devices', 'none',
			'A worker or an agent registers what cudal1-measure --devices prints on its host; run that by hand to see what it finds.';
	END IF;
	FOR d IN
		SELECT x.*, (SELECT count(*) FROM cudal1.job AS j WHERE j.device_id = x.device_id AND j.state = 'running') AS running
			FROM cudal1.device AS x ORDER BY x.class, x.device_key
	LOOP
		RETURN QUERY SELECT 'device ' || d.device_key,
			format('%s, %s, %s core(s), languages: %s; %s; seen %s ago', d.class, d.model, d.cores,
				   coalesce(nullif(array_to_string(d.languages, ' '), ''), 'none'),
				   CASE WHEN NOT d.enabled THEN 'disabled' WHEN d.untrusted_since IS NOT NULL THEN 'not trusted' WHEN d.running > 0 THEN 'measuring'
						WHEN d.rests_until > clock_timestamp() THEN 'resting' ELSE 'idle' END, cudal1.ago(d.last_seen)),
			nullif(concat_ws(' ',
				CASE WHEN NOT d.enabled THEN format('Enable it with SELECT cudal1_enable_device(%L, true).', d.device_key) END,
				CASE WHEN d.untrusted_since IS NOT NULL
					 THEN format('Its A/A measurements drift since %s (cudal1.aa_chart), so its queue waits; mend it, then SELECT cudal1_trust_device(%L).',
								 date_trunc('second', d.untrusted_since), d.device_key) END,
				CASE WHEN d.rests_until IS NOT NULL
					 THEN format('The last measurements of %s candidates were lost here, so it rests until %s after each: %s. Mend the host, then SELECT cudal1_enable_device(%L, true).',
								 d.lost, date_trunc('second', d.rests_until),
								 coalesce((SELECT rtrim(left(m.detail, 200), '.') FROM cudal1.measurement AS m WHERE m.candidate_id = d.lost_candidate
										   AND m.device_id = d.device_id AND m.outcome = 'lost' ORDER BY m.measurement_id DESC LIMIT 1), 'no reason given'),
								 d.device_key) END,
				CASE WHEN jsonb_typeof(d.details -> 'problems') = 'array' AND jsonb_array_length(d.details -> 'problems') > 0
					 THEN 'Problems: ' || (SELECT string_agg(p, '; ') FROM jsonb_array_elements_text(d.details -> 'problems') AS p) || '.' END), '');
	END LOOP;
	FOR r IN
		SELECT x.host,
				(SELECT string_agg(DISTINCT format('%s %s', e.key, e.value #>> '{}'), ', ')
					FROM cudal1.device AS y, jsonb_each(y.details) AS e
					WHERE y.host = x.host AND e.key IN ('gcc', 'cc', 'clang', 'nvcc', 'python', 'torch', 'cuda', 'driver')
						AND jsonb_typeof(e.value) IN ('string', 'number')) AS compilers,
				max(x.details ->> 'sandbox') AS sandbox
			FROM cudal1.device AS x GROUP BY x.host ORDER BY x.host
	LOOP
		RETURN QUERY SELECT 'compilers on ' || r.host, coalesce(r.compilers, 'none known'),
			CASE WHEN r.compilers IS NULL THEN 'Install gcc for c, nvcc for cuda, python3 with torch for pytorch.' END;
		RETURN QUERY SELECT 'sandbox on ' || r.host, coalesce(r.sandbox, 'none'),
			CASE WHEN r.sandbox IS NULL THEN 'Install bubblewrap and allow unprivileged user namespaces.' END;
	END LOOP;
	FOR r IN
		SELECT DISTINCT coalesce(t.device_model, t.device) AS wanted, t.language, t.cores FROM cudal1.task AS t
			WHERE t.retired_at IS NULL AND NOT EXISTS (SELECT FROM cudal1.device AS x
							  WHERE x.enabled AND coalesce(t.device_model, t.device) IN (x.class, x.model)
								AND t.language = ANY (x.languages) AND x.cores >= t.cores)
			ORDER BY 1, 2, 3
	LOOP
		RETURN QUERY SELECT format('tasks in %s on %s', r.language, r.wanted), 'no device can measure them',
			format('They need an enabled device of class or model "%s" with language %s and %s core(s).', r.wanted, r.language, r.cores);
	END LOOP;

	-- the queue
	SELECT count(*) FILTER (WHERE j.state = 'queued') AS waiting, count(*) FILTER (WHERE j.state = 'running') AS running,
			count(*) FILTER (WHERE j.state = 'running' AND j.lease_until < clock_timestamp()) AS silent,
			min(j.enqueued_at) FILTER (WHERE j.state = 'queued') AS oldest
		INTO r FROM cudal1.job AS j;
	RETURN QUERY SELECT 'queue',
		format('%s waiting, %s running', r.waiting, r.running) || coalesce(', the oldest waiting for ' || cudal1.ago(r.oldest), ''),
		CASE WHEN r.silent > 0 THEN format('%s claim(s) gave no sign of life in time; a living worker takes them over.', r.silent)
			 WHEN r.waiting > 0 THEN (SELECT format('%s of them cannot be claimed now; cudal1.queue.waits_for says why.', count(*))
									  FROM cudal1.queue AS q WHERE q.waits_for IS NOT NULL HAVING count(*) > 0) END;
	SELECT count(*) AS n INTO r FROM cudal1.candidate AS c
		WHERE c.state IN ('queued', 'measuring', 'verifying')
			AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'));
	IF r.n > 0 THEN
		RETURN QUERY SELECT 'undecided without a job', r.n::text, 'After a restore, SELECT cudal1_requeue() queues them again.';
	END IF;
	SELECT count(*) AS n, (array_agg(m.detail ORDER BY m.measurement_id DESC))[1] AS detail INTO r
		FROM (SELECT x.* FROM cudal1.measurement AS x ORDER BY x.measurement_id DESC LIMIT 100) AS m
		WHERE m.outcome IN ('lost', 'unverified') AND m.measured_at > clock_timestamp() - '1 hour'::interval;
	IF r.n > 0 THEN
		RETURN QUERY SELECT 'lost or unverified', format('%s of the last 100 measurements, within an hour', r.n), 'The last one said: ' || r.detail;
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_status() IS
'why something is or is not being measured: preloading, database and worker, devices, compilers, sandbox, queue; hint says what to do where something is wrong';
