/*
 * What is going on, and why nothing is: views for a glance, cudal1_status() for the reasons. Then
 * upkeep: statistics, retention, and a recount of everything that is derived.
 */

CREATE VIEW cudal1.activity AS
	SELECT j.job_id, j.kind, t.name AS task, j.candidate_id, d.device_key AS device, j.worker,
		p.phase, p.pairs, p.rounds, p.estimate, p.lower, p.upper, p.seconds_left,
		j.claimed_at AS since, j.lease_until, j.attempt, j.failures, j.cancel_requested, j.heat,
		CASE WHEN p.phase = 'waiting' THEN p.held_by END AS held_by
	FROM cudal1.job AS j
		CROSS JOIN LATERAL jsonb_to_record(COALESCE(j.progress, '{}')) AS p (phase text,
			held_by text, pairs int, rounds int, estimate float8, lower float8, upper float8,
			seconds_left float8)
		JOIN cudal1.task AS t ON t.task_id = j.task_id
		JOIN cudal1.device AS d ON d.device_id = j.device_id
	WHERE j.state = 'running';
COMMENT ON VIEW cudal1.activity IS 'what is being measured now, one row for each claimed job';
COMMENT ON COLUMN cudal1.activity.phase IS
'building, waiting (for the device), checking or measuring; NULL before the
first word of the child';
COMMENT ON COLUMN cudal1.activity.estimate IS 'score so far, with the interval from lower to upper';
COMMENT ON COLUMN cudal1.activity.seconds_left IS 'estimated seconds until the measurement ends';
COMMENT ON COLUMN cudal1.activity.held_by IS
'in phase waiting: the process of that host that holds the device, for whatever database; NULL:
not known';

CREATE VIEW cudal1.queue AS
	SELECT j.job_id, j.kind, t.name AS task, j.candidate_id, j.device, j.language, j.priority,
		j.profile, j.enqueued_at, j.deadline, j.failures, j.trainer,
		CASE WHEN j.deadline <= clock_timestamp() THEN 'its deadline has passed'
			WHEN d.last_seen IS NULL
				THEN format('no enabled device %s with language %s and %s core(s)', j.device,
					j.language, j.cores)
			WHEN d.last_seen <= clock_timestamp() - '2 minutes'::interval
				THEN format('no device %s is served by a worker or an agent', j.device)
		END AS waits_for
	FROM cudal1.job AS j JOIN cudal1.task AS t ON t.task_id = j.task_id
		CROSS JOIN LATERAL (SELECT max(x.last_seen) AS last_seen FROM cudal1.device AS x
			WHERE x.enabled AND j.device IN (x.class, x.model, x.device_key)
				AND j.language = ANY (x.languages) AND x.cores >= j.cores) AS d
	WHERE j.state = 'queued'
	ORDER BY j.priority DESC, j.job_id;
COMMENT ON VIEW cudal1.queue IS
'jobs that wait, by priority and then by job_id. Claims follow another order where several trainers
or tasks wait, because these take turns';
COMMENT ON COLUMN cudal1.queue.waits_for IS
'why no device can claim the job now; NULL: it waits its turn';

CREATE FUNCTION cudal1.ago(since timestamptz)
RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN cudal1.in_words(GREATEST(0, EXTRACT(epoch FROM clock_timestamp() - since)::float8));
COMMENT ON FUNCTION cudal1.ago IS 'how long ago, rounded, in words';

CREATE VIEW cudal1.undecided AS
	SELECT c.candidate_id, c.state FROM cudal1.candidate AS c
		WHERE c.state IN ('queued', 'measuring', 'verifying')
			AND NOT EXISTS (SELECT FROM cudal1.job AS j
				WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'));
COMMENT ON VIEW cudal1.undecided IS
'candidates without a verdict that wait for no job, as after a restore (cudal1_requeue())';

CREATE FUNCTION @extschema@.cudal1_status()
RETURNS TABLE (item text, value text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	own		pg_extension;
	w		record;			-- the worker
	here	constant text := current_database();
BEGIN
	-- the version, and what others put beside the extension
	SELECT x.* INTO STRICT own FROM pg_extension AS x WHERE x.extname = 'cudal1';
	RETURN QUERY SELECT 'version', own.extversion,
		(SELECT format('Run ALTER EXTENSION cudal1 UPDATE; this server has version %s.',
				a.default_version)
			FROM pg_available_extensions AS a
			WHERE a.name = 'cudal1' AND a.default_version <> own.extversion);

	-- A function that another role puts beside the extension's may be called in a user's query. The
	-- extension's own calls name schema cudal1.
	RETURN QUERY SELECT 'schema', format('%s may create in schema %I', o.roles, o.nspname),
			format('REVOKE CREATE ON SCHEMA %I FROM %s; a function there with the name of one of '
				'cudal1''s may be called in its place.', o.nspname, o.roles)
		FROM (SELECT n.nspname, string_agg(DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC'
					ELSE quote_ident(pg_get_userbyid(a.grantee)) END, ', ') AS roles
				FROM pg_namespace AS n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
				WHERE n.oid = own.extnamespace AND a.privilege_type = 'CREATE'
					AND a.grantee NOT IN (n.nspowner, own.extowner)
				GROUP BY n.nspname) AS o;
	RETURN QUERY SELECT 'foreign functions', left(string_agg(f.oid::regprocedure::text, ', '
				ORDER BY f.oid::regprocedure::text), 2000),
			'They are not the extension''s but bear such names, and may be called in place of its '
			'own: drop them.'
		FROM pg_proc AS f
		WHERE f.pronamespace = own.extnamespace AND starts_with(f.proname::text, 'cudal1_')
			AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass
				AND d.objid = f.oid AND d.deptype = 'e'
				AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = own.oid)
		HAVING count(*) > 0;

	-- the library, the worker, the switches
	RETURN QUERY SELECT 'preload', CASE WHEN p.preloaded THEN 'yes' ELSE 'no' END,
			CASE WHEN NOT p.preloaded
				THEN 'Add cudal1 to shared_preload_libraries in postgresql.conf and restart the '
					'server; without it only agents outside the server measure.' END
		FROM cudal1.preloaded() AS p (preloaded);
	RETURN QUERY SELECT 'server', 'standby', 'Nothing is measured until this server is promoted.'
		WHERE pg_is_in_recovery();
	SELECT s.*, split_part(s.note, '; no requests are sent: ', 1) AS state INTO w
		FROM cudal1.worker_state() AS s WHERE s.database = here;
	IF FOUND THEN
		RETURN QUERY SELECT 'database', format('%s is listed in cudal1.databases', here), NULL;
		IF w.pid IS NULL THEN
			RETURN QUERY SELECT 'worker', coalesce('none: ' || nullif(w.note, ''), 'none'),
				'The launcher starts it within seconds; if it does not, the server''s log says why '
					'(max_worker_processes may be used up).';
		ELSE
			RETURN QUERY SELECT 'worker', format('process %s for %s', w.pid, cudal1.ago(w.since))
					|| coalesce(', ' || nullif(w.note, ''), ''),
				nullif(concat_ws(' ',
					CASE WHEN w.state LIKE 'no device: %'
							AND w.state <> 'no device: looking for devices'
							OR w.state LIKE 'idle, devices: %; %'
						THEN 'Mend what it says (SHOW cudal1.measure_path, cudal1.devices, '
							'cudal1.scratch_dir, cudal1.python); then SELECT pg_reload_conf(); '
							'cudal1-measure --devices on this host shows what it finds.'
						WHEN w.state LIKE 'claims fail %'
						THEN 'Nothing is begun until that is mended; the server''s log has each '
							'error.' END,
					CASE WHEN w.state <> w.note
						THEN 'Models are asked by the program that cudal1.generate_path names '
							'(empty: the one beside the server''s); the server''s log says why it '
							'does not run.' END), '');
		END IF;
	ELSIF NOT cudal1.preloaded() THEN
		RETURN QUERY SELECT 'database', here,
			'Its worker starts once the library is preloaded and cudal1.databases names it '
			'(default: postgres).';
	-- the launcher reads the list after promotion
	ELSIF NOT pg_is_in_recovery() THEN
		RETURN QUERY SELECT 'database', format('%s is not listed in cudal1.databases', here),
			format('ALTER SYSTEM SET cudal1.databases = %L; then SELECT pg_reload_conf();',
				   (SELECT string_agg(quote_ident(n.name), ', ')
					FROM (SELECT s.database AS name FROM cudal1.worker_state() AS s
								JOIN pg_database AS b ON b.datname = s.database
							UNION SELECT here) AS n));
	END IF;
	RETURN QUERY SELECT 'measuring', 'switched off, as are requests to models',
			'ALTER SYSTEM SET cudal1.enabled = on; then SELECT pg_reload_conf();'
		WHERE current_setting('cudal1.enabled', true) = 'off';
	RETURN QUERY SELECT 'requests', 'none are sent, because cudal1.max_requests is 0',
			'ALTER SYSTEM RESET cudal1.max_requests; then SELECT pg_reload_conf();'
		WHERE current_setting('cudal1.max_requests', true) = '0'
			AND EXISTS (SELECT FROM cudal1.request AS x WHERE x.state = 'queued');
	RETURN QUERY SELECT 'isolation', s.setting,
			format('cudal1_wait() needs read committed: ALTER DATABASE %I SET '
				'default_transaction_isolation = ''read committed'';', here)
		FROM current_setting('default_transaction_isolation') AS s (setting)
		WHERE s.setting IN ('repeatable read', 'serializable');
	RETURN QUERY SELECT 'strings', 'standard_conforming_strings is off',
			format('Backslashes of codes and patterns are read otherwise: ALTER DATABASE %I SET '
				'standard_conforming_strings = on;', here)
		WHERE current_setting('standard_conforming_strings') = 'off';

	-- devices, their hosts, tasks that none can measure, or that are bad or weak
	RETURN QUERY SELECT 'devices', 'none',
			'A worker or an agent registers what cudal1-measure --devices prints on its host; run '
				'that by hand to see what it finds.'
		WHERE NOT EXISTS (SELECT FROM cudal1.device);
	RETURN QUERY SELECT 'device ' || d.device_key,
			format('%s, %s, %s core(s), languages: %s; %s; seen %s ago', d.class, d.model, d.cores,
				coalesce(nullif(array_to_string(d.languages, ' '), ''), 'none'),
				CASE WHEN NOT d.enabled THEN 'disabled'
					WHEN EXISTS (SELECT FROM cudal1.job AS j
						WHERE j.device_id = d.device_id AND j.state = 'running') THEN 'measuring'
					WHEN NOT cudal1.is_served(d.last_seen) THEN 'not served'
					ELSE 'idle' END, cudal1.ago(d.last_seen)),
			nullif(concat_ws(' ',
				CASE WHEN NOT d.enabled
					THEN format('Enable it with SELECT cudal1_enable_device(%L, true).',
						d.device_key)
					WHEN NOT cudal1.is_served(d.last_seen)
					THEN 'The worker or agent that served it is gone, or finds it no more.' END,
				CASE WHEN d.lost >= 5
					THEN format('The measurements of %s candidates in a row were lost here: %s.',
						d.lost, coalesce((SELECT rtrim(left(m.detail, 200), '.')
							FROM cudal1.measurement AS m
							WHERE m.candidate_id = d.lost_candidate
								AND m.device_id = d.device_id AND m.outcome = 'lost'
							ORDER BY m.measurement_id DESC LIMIT 1), 'no reason given')) END,
				CASE WHEN (SELECT abs(a.mean) > a.mean_limit FROM cudal1.aa_chart AS a
						WHERE a.device_id = d.device_id ORDER BY a.measurement_id DESC LIMIT 1)
					THEN format('Its A/A measurements drift (cudal1.aa_chart): once it is mended, '
						'SELECT cudal1_trust_device(%L).', d.device_key) END,
				(SELECT 'The last profile failed here: ' || rtrim(x.problem, '.') || '.'
					FROM (SELECT y.problem FROM cudal1.profiler_run AS y
						WHERE y.device_id = d.device_id
						ORDER BY y.measured_at DESC LIMIT 1) AS x),
				CASE jsonb_typeof(d.details -> 'problems') WHEN 'array'
					THEN (SELECT format('Problems: %s.', string_agg(p, '; '))
						FROM jsonb_array_elements_text(d.details -> 'problems') AS p
						HAVING count(*) > 0) END), '')
		FROM cudal1.device AS d ORDER BY d.class, d.device_key;
	RETURN QUERY SELECT v.* FROM (
			SELECT x.host,
					(SELECT string_agg(DISTINCT format('%s %s', e.key, e.value #>> '{}'), ', ')
						FROM cudal1.device AS y, jsonb_each(y.details) AS e
						WHERE y.host = x.host
							AND (e.key IN ('python', 'driver') OR e.key IN (
								SELECT f.tool FROM cudal1.language_facts() AS f))
							AND jsonb_typeof(e.value) IN ('string', 'number')) AS compilers,
					max(x.details ->> 'sandbox') AS sandbox
				FROM cudal1.device AS x GROUP BY x.host) AS h
		CROSS JOIN LATERAL (VALUES
			('compilers on ' || h.host, coalesce(h.compilers, 'none known'),
				CASE WHEN h.compilers IS NULL
					THEN 'The problems of its devices say what to install.' END),
			('sandbox on ' || h.host, coalesce(h.sandbox, 'none'),
				CASE WHEN h.sandbox IS NULL
					THEN 'Install bubblewrap and allow unprivileged user namespaces.' END))
			AS v (item, value, hint)
		ORDER BY h.host, v.item;
	RETURN QUERY SELECT format('tasks in %s on %s', k.language, k.wanted),
			'no device can measure them',
			format('They need an enabled device of class or model "%s" with language %s and %s '
				'core(s).', k.wanted, k.language, k.cores)
		FROM (SELECT DISTINCT coalesce(t.device_model, t.device) AS wanted, t.language, t.cores
				FROM cudal1.task AS t WHERE t.retired_at IS NULL) AS k
		WHERE NOT EXISTS (SELECT FROM cudal1.device AS x
			WHERE x.enabled AND k.wanted IN (x.class, x.model)
				AND k.language = ANY (x.languages) AND x.cores >= k.cores)
		ORDER BY k.wanted, k.language, k.cores;

	RETURN QUERY SELECT 'references', format('%s not checked yet, %s bad',
				count(*) FILTER (WHERE t.reference_state = 'unchecked'),
				count(*) FILTER (WHERE t.reference_state = 'bad')),
			(array_agg(cudal1.reference_problem(t) ORDER BY t.task_id)
				FILTER (WHERE t.reference_state = 'bad'))[1]
				|| ' (cudal1.task.reference_detail; cudal1_check_reference() checks again)'
		FROM cudal1.task AS t WHERE t.retired_at IS NULL AND t.reference_state <> 'good'
		HAVING count(*) > 0;
	RETURN QUERY SELECT 'weak tasks', count(*)::text,
			(array_agg(cudal1.weakness(t) ORDER BY t.task_id))[1]
				|| '. The option weak says what becomes of candidates.'
		FROM cudal1.task AS t WHERE t.retired_at IS NULL AND t.certified = 'weak'
		HAVING count(*) > 0;

	-- jobs that wait, and jobs that were lost
	RETURN QUERY SELECT 'queue', format('%s waiting, %s running', r.waiting, r.running)
				|| coalesce(', the oldest waiting for ' || cudal1.ago(r.oldest), ''),
			CASE WHEN r.silent > 0
				THEN format('%s claim(s) gave no sign of life in time; a living worker takes them '
					'over.', r.silent)
				WHEN r.waiting > 0 THEN (SELECT
					format('%s of them cannot be claimed now; cudal1.queue.waits_for says why.',
						count(*))
					FROM cudal1.queue AS q WHERE q.waits_for IS NOT NULL HAVING count(*) > 0) END
		FROM (SELECT count(*) FILTER (WHERE j.state = 'queued') AS waiting,
					count(*) FILTER (WHERE j.state = 'running') AS running,
					count(*) FILTER (WHERE j.state = 'running'
						AND j.lease_until < clock_timestamp()) AS silent,
					min(j.enqueued_at) FILTER (WHERE j.state = 'queued') AS oldest
				FROM cudal1.job AS j) AS r;
	RETURN QUERY SELECT 'undecided without a job', count(*)::text,
			'After a restore, SELECT cudal1_requeue() queues them again.'
		FROM cudal1.undecided HAVING count(*) > 0;
	RETURN QUERY SELECT 'lost or unverified',
			format('%s of the last 100 measurements, within an hour', count(*)),
			'The last one said: ' || (array_agg(m.detail ORDER BY m.measurement_id DESC))[1]
		FROM (SELECT x.* FROM cudal1.measurement AS x ORDER BY x.measurement_id DESC LIMIT 100) AS m
			JOIN cudal1.candidate AS c USING (candidate_id)
		WHERE m.outcome IN ('lost', 'unverified')
			AND m.measured_at > clock_timestamp() - '1 hour'::interval
			-- a bad reference's check ends so; cudal1.task.reference_state tells it
			AND c.purpose <> 'reference'
		HAVING count(*) > 0;

	-- models
	RETURN QUERY SELECT 'model ' || m.name,
			format('%s request(s) failed within an hour', count(*)),
			format('The last one said: %s. cudal1.request has each with its status.',
				coalesce(rtrim((array_agg(x.error ORDER BY x.request_id DESC))[1], '.'), 'nothing'))
		FROM (SELECT y.* FROM cudal1.request AS y ORDER BY y.request_id DESC LIMIT 1000) AS x
			JOIN cudal1.model AS m USING (model_id)
		WHERE x.state = 'failed' AND x.finished_at > clock_timestamp() - '1 hour'::interval
		GROUP BY m.name ORDER BY m.name;
	-- cudal1.model_use has the same, and reads all requests there ever were
	RETURN QUERY SELECT 'model ' || m.name,
			format('%s request(s) wait for it', q.n)
				|| CASE WHEN NOT m.enabled THEN ', which is disabled'
						WHEN m.not_before > clock_timestamp()
						THEN format(', which asked for %s more', cudal1.in_words(
							extract(epoch FROM m.not_before - clock_timestamp())::float8))
						ELSE ', after a try that failed' END,
			CASE WHEN NOT m.enabled
				THEN format('SELECT cudal1_enable_model(%L, true) sends them.', m.name)
				ELSE format(CASE WHEN m.not_before > clock_timestamp()
						THEN 'Its endpoint told to slow down: %s.'
						ELSE 'The last one said: %s.' END,
					coalesce(rtrim(q.error, '.'), 'it gave no reason')) END
		FROM cudal1.model AS m, LATERAL (
			SELECT count(*) AS n, (array_agg(x.error ORDER BY x.request_id DESC)
					FILTER (WHERE x.error IS NOT NULL))[1] AS error
				FROM cudal1.request AS x
				WHERE x.model_id = m.model_id AND x.state = 'queued') AS q
		WHERE q.n > 0 AND (NOT m.enabled OR m.not_before > clock_timestamp() OR q.error IS NOT NULL)
		ORDER BY m.name;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_status() IS
'why something is or is not being measured: preloading, database and worker, devices, compilers,
sandbox, references, queue, models whose requests failed or wait for more than their turn; hint says
what to do where something is wrong. For every role with a grant';

CREATE VIEW cudal1.stat_device AS
	SELECT d.device_key AS device, d.class, d.model, d.enabled,
			count(m.measurement_id) AS measurements,
			count(*) FILTER (WHERE m.reward > 0) AS successful,
			count(*) FILTER (WHERE m.reward = 0) AS failed,
			count(m.measurement_id) FILTER (WHERE m.reward IS NULL) AS lost,
			count(*) FILTER (WHERE m.wide) AS wide, sum(m.device_seconds) AS device_seconds,
			sum(m.clock_seconds) AS clock_seconds,
			sum(m.clock_seconds) / NULLIF(sum(m.device_seconds), 0) AS clock_share,
			max(m.measured_at) AS last_measured, d.last_seen
		FROM cudal1.device AS d LEFT JOIN cudal1.measurement AS m USING (device_id)
		GROUP BY d.device_id;
COMMENT ON VIEW cudal1.stat_device IS
'one row a device: how much it measured, how that ended, and for how long it was held';
COMMENT ON COLUMN cudal1.stat_device.lost IS
'measurements without a verdict: lost, unverified, unstable, cancelled';
COMMENT ON COLUMN cudal1.stat_device.wide IS
'measurements whose score is an end of a wide interval; many of them tell of a host that does
something else beside';
COMMENT ON COLUMN cudal1.stat_device.clock_share IS 'share of the time held in which the clock ran';

CREATE VIEW cudal1.stat_task AS
	SELECT t.name AS task, t.level, t.device_model AS device, c.candidates, c.waiting, c.successful,
		c.wide, c.failed, c.discarded, c.best, COALESCE(m.measurements, 0::bigint) AS measurements,
		m.device_seconds, c.last_decided
	FROM cudal1.task AS t
		LEFT JOIN LATERAL (
			SELECT count(*) AS candidates, count(*)
					FILTER (WHERE x.state IN ('queued', 'measuring', 'verifying')) AS waiting,
				   count(*) FILTER (WHERE x.state = 'successful') AS successful,
				   count(*) FILTER (WHERE x.wide) AS wide,
				   count(*) FILTER (WHERE x.state = 'failed') AS failed,
				   count(*) FILTER (WHERE x.state = 'discarded') AS discarded,
				   max(x.reward) AS best, max(x.decided_at) AS last_decided
			FROM cudal1.candidate AS x
				WHERE x.task_id = t.task_id AND x.purpose = 'normal') AS c ON true
		LEFT JOIN (
			SELECT x.task_id, count(*) AS measurements, sum(x.device_seconds) AS device_seconds
			FROM cudal1.measurement AS x GROUP BY x.task_id) AS m ON m.task_id = t.task_id;
COMMENT ON VIEW cudal1.stat_task IS
'one row a task: its candidates by what became of them, the best reward, and the device time they
took; measurements of every purpose count';

CREATE VIEW cudal1.cost AS
	SELECT x.profile, x.class, count(*) AS candidates, avg(x.seconds) AS mean_seconds,
		   percentile_cont(0.5) WITHIN GROUP (ORDER BY x.seconds) AS p50_seconds,
		   percentile_cont(0.9) WITHIN GROUP (ORDER BY x.seconds) AS p90_seconds,
		   avg(x.seconds) FILTER (WHERE x.successful) AS successful_seconds
	FROM (SELECT m.profile, d.class, sum(m.device_seconds) AS seconds,
				 bool_or(m.outcome = 'successful') AS successful
		  FROM cudal1.measurement AS m JOIN cudal1.device AS d ON d.device_id = m.device_id
		  WHERE m.device_seconds IS NOT NULL AND m.kind <> 'reverify'
		  -- an evaluation stands by itself, however many a candidate has
		  GROUP BY m.profile, d.class, m.candidate_id,
			CASE WHEN m.kind = 'evaluate' THEN m.measurement_id END) AS x
	GROUP BY x.profile, x.class;
COMMENT ON VIEW cudal1.cost IS
'what a candidate costs: seconds of a device by profile and class, from what was measured here;
failed candidates, other attempts and verifications count';
COMMENT ON COLUMN cudal1.cost.candidates IS
'candidates that were measured; with the profile of an evaluation, evaluations';
COMMENT ON COLUMN cudal1.cost.successful_seconds IS 'the mean of candidates that were successful';

CREATE VIEW cudal1.stat_method AS
	SELECT p.method, count(*) AS proposals, count(DISTINCT p.candidate_id) AS candidates,
		   count(DISTINCT p.task_id) AS tasks,
		   count(*) FILTER (WHERE c.state = 'successful') AS successful,
		   count(*) FILTER (WHERE c.reward > 1) AS faster,
		   count(*) FILTER (WHERE c.failure = 'malformed') AS malformed,
		   count(*) FILTER (WHERE c.failure = 'compile_error') AS compile_error,
		   count(*) FILTER (WHERE c.failure IN ('crash', 'launch_failure', 'timeout'))
			AS not_executable,
		   count(*) FILTER (WHERE c.failure = 'wrong_output') AS wrong_output,
		   count(*) FILTER (WHERE c.failure = 'cheat') AS cheat,
		   count(*) FILTER (WHERE c.state = 'discarded') AS discarded,
		   avg(c.reward) AS mean_reward, max(p.created_at) AS last_proposed
	FROM cudal1.proposal AS p JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
	GROUP BY p.method;
COMMENT ON VIEW cudal1.stat_method IS
'one row a method: its proposals by what became of their candidates';

CREATE FUNCTION cudal1.prunable(latest timestamptz)
RETURNS TABLE (candidate_id bigint) LANGUAGE sql STABLE PARALLEL SAFE
AS $$
	-- only failed candidates: they have a verdict, and are not sampled or shown again; one that was
	-- imported gets its code back when it is to be measured, or is imported again; a score of any
	-- device is a success that reports of that device may show
	SELECT x.candidate_id FROM cudal1.candidate AS x
		WHERE x.state = 'failed' AND x.decided_at < prunable.latest AND x.code <> ''
			AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = x.candidate_id)
			AND x.purpose <> 'reference' AND NOT EXISTS (SELECT FROM cudal1.imported_score AS i
				WHERE i.candidate_id = x.candidate_id AND i.reward > 0);
$$;
COMMENT ON FUNCTION cudal1.prunable IS
'candidates whose big texts cudal1_prune() removes: those that failed before a moment';

CREATE FUNCTION @extschema@.cudal1_prune(older_than interval, dry_run boolean DEFAULT false)
RETURNS TABLE (part text, texts bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	latest	timestamptz;
	ids		bigint[];
BEGIN
	PERFORM cudal1.raise_if(older_than IS NULL OR dry_run IS NULL,
		'22004', 'older_than and dry_run must not be null');
	PERFORM cudal1.raise_if(older_than < '0'::interval, '22023', 'older_than must not be negative');
	-- further back there is nothing, and the first timestamp is not far
	latest := clock_timestamp() - least(older_than, '6000 years'::interval);
	ids := ARRAY(SELECT p.candidate_id FROM cudal1.prunable(latest) AS p);
	-- a standby can lock no row
	IF NOT dry_run THEN
		ids := ARRAY(SELECT c.candidate_id FROM cudal1.candidate AS c
			WHERE c.candidate_id = ANY (ids) ORDER BY c.candidate_id
			FOR NO KEY UPDATE SKIP LOCKED);
		-- an imported one may have been queued, or have got a score, before its lock was free, and
		-- another session may have pruned it
		ids := ARRAY(SELECT p.candidate_id FROM cudal1.prunable(latest) AS p
			WHERE p.candidate_id = ANY (ids));
	END IF;

	RETURN QUERY SELECT 'code', count(*), coalesce(sum(octet_length(c.code)), 0)::bigint
		FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (ids);
	RETURN QUERY SELECT 'responses', count(*), coalesce(sum(octet_length(p.response)), 0)::bigint
		FROM cudal1.proposal AS p WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL;
	RETURN QUERY SELECT 'samples', count(*), coalesce(sum(octet_length(m.samples::text)), 0)::bigint
		FROM cudal1.measurement AS m WHERE m.candidate_id = ANY (ids) AND m.samples IS NOT NULL;
	IF NOT dry_run THEN
		-- Removed texts are taken off the quotas that they counted in. A code counts in that of the
		-- role that proposed it first.
		INSERT INTO cudal1.stored (role, bytes)
			SELECT v.role, -sum(v.bytes) FROM (
				SELECT (SELECT p.created_by FROM cudal1.proposal AS p
					WHERE p.candidate_id = c.candidate_id ORDER BY p.proposal_id LIMIT 1) AS role,
						octet_length(c.code) AS bytes
					FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (ids)
				UNION ALL
				SELECT p.created_by, octet_length(p.response) FROM cudal1.proposal AS p
					WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL) AS v
				WHERE v.role IS NOT NULL GROUP BY v.role HAVING sum(v.bytes) > 0;
		UPDATE cudal1.candidate AS c SET code = '' WHERE c.candidate_id = ANY (ids);
		UPDATE cudal1.proposal AS p SET response = NULL
			WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL;
		UPDATE cudal1.measurement AS m SET samples = NULL
			WHERE m.candidate_id = ANY (ids) AND m.samples IS NOT NULL;
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_prune(interval, boolean) IS
'removes the big texts of candidates that failed longer ago than that: code, the models'' answers,
samples of their measurements; returns how many and how many bytes, with dry_run without removing
them, as a standby can. Verdict, detail and hash stay, so the same code proposed again is known, and
is not measured again, unless it was imported. A candidate that has an imported success of any
device is left as it is. Nothing calls it by itself. Error 22023 where older_than is negative';

CREATE FUNCTION @extschema@.cudal1_check()
RETURNS TABLE (subject text, place text, expected text, found text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT k.* FROM cudal1.check_of_buckets() AS k
	UNION ALL
	SELECT 'code hash', format('candidate %s', c.candidate_id), encode(h.hash, 'hex'),
			encode(c.code_hash, 'hex')
		FROM cudal1.candidate AS c
			CROSS JOIN LATERAL (SELECT CASE WHEN c.purpose = 'reference'
					THEN cudal1.salted_hash('reference', c.code)
				-- an answer without code, which may have been withdrawn
				WHEN c.failure = 'malformed' OR c.failure = 'withdrawn'
					AND c.code_hash = cudal1.salted_hash('malformed', c.code)
					THEN cudal1.salted_hash('malformed', c.code)
				ELSE cudal1.code_hash(c.code) END AS hash) AS h
		WHERE c.code_hash <> h.hash AND c.code <> ''
	UNION ALL
	SELECT 'deciding measurement', format('candidate %s', c.candidate_id),
			format('reward %s, accepted, on %s', c.reward, t.device_model),
			coalesce(format('reward %s%s, on %s, of code %s', m.reward,
				CASE WHEN NOT m.accepted THEN ', not accepted' END, m.device_model,
				encode(m.code_hash, 'hex')), 'none')
		FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id)
			LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
		WHERE c.state = 'successful' AND NOT c.imported
			AND (m.reward IS DISTINCT FROM c.reward OR m.task_id <> c.task_id OR NOT m.accepted
				OR m.wide <> c.wide
				-- it may be that of another code that compiles to the same
				OR NOT EXISTS (SELECT FROM cudal1.measurement AS o
					WHERE o.candidate_id = c.candidate_id AND o.code_hash = c.code_hash
						AND (o.measurement_id = m.measurement_id OR o.code_key = m.code_key))
				-- a reference is checked before the task is pinned to a model
				OR c.purpose <> 'reference' AND m.device_model IS DISTINCT FROM t.device_model)
	UNION ALL
	SELECT 'imported score', format('candidate %s', c.candidate_id), i.reward::text, c.reward::text
		FROM cudal1.candidate AS c
			LEFT JOIN cudal1.imported_score AS i ON i.candidate_id = c.candidate_id
				AND i.device = c.import_device
		WHERE c.imported AND i.reward IS DISTINCT FROM c.reward
	UNION ALL
	SELECT 'undecided without a job', format('candidate %s', u.candidate_id), 'a job', u.state
		FROM cudal1.undecided AS u
	UNION ALL
	SELECT 'tokens and cost', format('lane %s of campaign %s', l.lane_id, l.campaign_id),
		format('%s, %s', n.tokens, n.cost), format('%s, %s', l.tokens, l.cost)
	FROM cudal1.campaign_lane AS l
		CROSS JOIN LATERAL (SELECT COALESCE(sum(q.prompt_tokens + q.completion_tokens),
			0) AS tokens, COALESCE(sum(q.cost), 0) AS cost
							FROM cudal1.request AS q WHERE q.lane_id = l.lane_id) AS n
	WHERE l.tokens <> n.tokens OR abs(l.cost - n.cost) > 1e-9 * abs(n.cost) + 1e-12;
END;
COMMENT ON FUNCTION @extschema@.cudal1_check() IS
'recounts every derived number that no constraint holds, buckets, verdicts, hashes, tokens and cost
of campaigns, and says what is off: one row a difference, none where all agree. Changes nothing;
reads every candidate and measurement. The extension''s owner repairs a code''s buckets by
cudal1.place_candidate(), an operator undecided candidates by cudal1_requeue()';
