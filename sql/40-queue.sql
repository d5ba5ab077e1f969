/*
 * The queue: how devices register, claim, show that they live and report. What a result does to a
 * candidate is in 45-verdicts.sql.
 *
 * Order of locks, everywhere: job, candidate, task, the task's islands; several candidates in the
 * order of their ids. FOR NO KEY UPDATE where rows stay: foreign keys of other sessions' inserts
 * need not wait.
 */

CREATE FUNCTION cudal1.register_device(host text, device jsonb)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	id		bigint;
	problem	text;
BEGIN
	problem := CASE
		WHEN register_device.host IS NULL OR NOT cudal1.is_name(register_device.host, 200)
			THEN 'host must be a name of 1 to 200 characters'
		WHEN jsonb_typeof(device) IS DISTINCT FROM 'object' THEN 'device must be a JSON object'
		WHEN jsonb_typeof(device -> 'key') IS DISTINCT FROM 'string'
			OR NOT cudal1.is_name(device ->> 'key', 200)
			THEN 'key of device must be a string of 1 to 200 characters'
		WHEN coalesce(device ->> 'class', '') <> ALL (cudal1.classes())
			THEN 'class of device must be ' || array_to_string(cudal1.classes(), ' or ')
		WHEN jsonb_typeof(device -> 'model') IS DISTINCT FROM 'string'
			OR NOT cudal1.is_name(device ->> 'model', 200)
			OR device ->> 'model' = ANY (cudal1.classes())
				THEN 'model of device must be a string of 1 to 200 characters, and no class'
		WHEN device ? 'cores' AND cudal1.json_int(device -> 'cores', 1, 1024) IS NULL
			THEN 'cores of device must be an integer between 1 and 1024'
		WHEN jsonb_typeof(device -> 'languages') IS DISTINCT FROM 'array'
			OR EXISTS (SELECT FROM jsonb_array_elements(device -> 'languages') AS l
					   WHERE jsonb_typeof(l) <> 'string' OR l #>> '{}' <> ALL (cudal1.languages()))
			THEN 'languages of device must be an array of '
				|| array_to_string(cudal1.languages(), ', ')
		WHEN device ? 'details' AND jsonb_typeof(device -> 'details') <> 'object'
			THEN 'details of device must be a JSON object'
		WHEN octet_length(device::text) > 65536 THEN 'device must not take more than 64 kB' END;
	PERFORM cudal1.raise_if(problem IS NOT NULL, '22023', problem);
	INSERT INTO cudal1.device AS d (device_key, host, class, model, cores, languages, details)
		SELECT register_device.host || ' ' || (device ->> 'key'), register_device.host,
			device ->> 'class', device ->> 'model',
				coalesce(cudal1.json_int(device -> 'cores', 1, 1024), 1)::int,
				ARRAY(SELECT DISTINCT l FROM jsonb_array_elements_text(device -> 'languages') AS l
					ORDER BY l),
				coalesce(device -> 'details', '{}')
		ON CONFLICT (device_key) DO UPDATE
			SET class = excluded.class, model = excluded.model, cores = excluded.cores,
				languages = excluded.languages,
				details = excluded.details, last_seen = clock_timestamp(),
				owner = CASE WHEN cudal1.is_operator() THEN excluded.owner ELSE d.owner END
			WHERE cudal1.owns(d.owner)
		RETURNING d.device_id INTO id;
	PERFORM cudal1.check_owner(format('device "%s"', d.device_key), d.owner,
			'That role, its members and operators may use it. '
				'Others name the host otherwise (cudal1-agent --host).')
		FROM cudal1.device AS d
		WHERE d.device_key = register_device.host || ' ' || (device ->> 'key') AND id IS NULL;
	PERFORM cudal1.wake();
	RETURN id;
END
$$;
COMMENT ON FUNCTION cudal1.register_device IS
'inserts or refreshes a device, a line of cudal1-measure --devices; its switch stays';

CREATE FUNCTION @extschema@.cudal1_enable_device(device_key text, enabled boolean)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
	SELECT cudal1.raise_if(enabled IS NULL, '22004', 'enabled must not be null'),
		cudal1.check_name('device', device_key);
	UPDATE cudal1.device AS d
		SET enabled = cudal1_enable_device.enabled, lost = 0, lost_candidate = NULL
		WHERE d.device_key = cudal1_enable_device.device_key;
	SELECT cudal1.wake();
$$;
COMMENT ON FUNCTION @extschema@.cudal1_enable_device(text, boolean) IS
'an operator''s switch: a disabled device gets no new jobs; what it measures now is completed. A
device that lost five candidates in a row is disabled until it is switched on here';

CREATE FUNCTION cudal1.is_claimed(job_id bigint, attempt int)
RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	PERFORM cudal1.check_owner(format('claim %s of job %s', x.attempt, x.job_id), x.login)
		FROM cudal1.job AS x
		WHERE x.job_id = is_claimed.job_id AND x.state = 'running'
			AND x.attempt = is_claimed.attempt;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION cudal1.is_claimed IS
'whether a job is claimed under that number; error 42501 where another role claimed it';

CREATE FUNCTION cudal1.take_mates(j cudal1.job, most int)
RETURNS cudal1.job[] LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	ahead	CONSTANT int := 512;	-- jobs that are looked at
	room	int := least(most,
		(SELECT p.group_most FROM cudal1.profile AS p WHERE p.name = j.profile));
	idle	bigint;
BEGIN
	-- what was claimed before may be what ended its heat, so it is measured by itself
	IF j.kind NOT IN ('measure', 'verify') OR j.attempt > 0 OR coalesce(room, 0) < 2 THEN
		RETURN '{}';
	END IF;
	idle := (SELECT count(*) FROM cudal1.device AS d
		WHERE d.device_id <> j.device_id AND j.device IN (d.class, d.model, d.device_key)
			AND j.language = ANY (d.languages) AND d.cores >= j.cores AND d.enabled
			AND d.last_seen > clock_timestamp() - interval '20 seconds'
			AND NOT EXISTS (SELECT FROM cudal1.job AS x
				WHERE x.state = 'running' AND x.device_id = d.device_id));
	IF idle > 0 THEN
		-- one that has work leaves full heats to those that have none
		room := least(room, (SELECT CASE WHEN EXISTS (SELECT FROM cudal1.job AS x
					WHERE x.state = 'running' AND x.device_id = j.device_id)
				THEN greatest(count(*) - room * idle, 1) ELSE ceil(count(*) / (idle + 1.0)) END
			FROM (SELECT FROM cudal1.job AS x
				WHERE x.device = j.device AND x.language = j.language AND x.cores = j.cores
					AND x.state = 'queued' LIMIT ahead) AS x));
	END IF;
	RETURN ARRAY(
		SELECT x FROM (SELECT y.job_id FROM cudal1.job AS y
				WHERE y.device = j.device AND y.language = j.language AND y.cores = j.cores
					AND y.state = 'queued' AND y.trainer = j.trainer AND y.priority = j.priority
				ORDER BY y.job_id LIMIT ahead) AS near
				JOIN cudal1.job AS x USING (job_id) JOIN cudal1.candidate AS c USING (candidate_id)
			WHERE x.state = 'queued' AND x.task_id = j.task_id AND x.candidate_id <> j.candidate_id
				AND x.kind = j.kind AND x.profile = j.profile AND x.attempt = 0 AND NOT c.imported
				AND c.state = CASE j.kind WHEN 'measure' THEN 'queued' ELSE 'verifying' END
			ORDER BY x.job_id
			LIMIT room - 1
			FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED);
END
$$;
COMMENT ON FUNCTION cudal1.take_mates IS
'locks the jobs to be measured together with one, as many as leave work to each idle device';

CREATE FUNCTION cudal1.describe_claim(jobs cudal1.job[], d cudal1.device)
RETURNS jsonb LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	j		CONSTANT cudal1.job := jobs[1];
	t		cudal1.task;
BEGIN
	SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = j.task_id;
	RETURN jsonb_build_object(
		'job_id', j.job_id, 'attempt', j.attempt + 1, 'kind', j.kind,
		'task', jsonb_build_object('task_id', t.task_id, 'name', t.name, 'language', t.language,
			-- a baseline is timed against, but it is itself checked against the reference
			'reference', CASE WHEN t.baseline = 'reference' OR j.kind = 'measure'
					AND (SELECT c.purpose = 'reference' FROM cudal1.candidate AS c
						WHERE c.candidate_id = j.candidate_id)
				THEN t.reference ELSE cudal1.baseline_code(t, t.baseline) END,
			'signature', t.signature, 'cores', t.cores, 'rtol', t.rtol, 'atol', t.atol,
			'probes', t.options -> 'probes', 'certify', t.certified IS NULL),
		'profile', (SELECT to_jsonb(x) FROM cudal1.profile AS x WHERE x.name = j.profile),
		'device', jsonb_build_object('key', substr(d.device_key, length(d.host) + 2),
			'class', d.class))
		|| CASE WHEN cardinality(jobs) = 1
			THEN (SELECT jsonb_build_object('candidate',
						jsonb_build_object('candidate_id', c.candidate_id, 'code', c.code))
					FROM cudal1.candidate AS c WHERE c.candidate_id = j.candidate_id)
			ELSE (SELECT jsonb_build_object('candidates', jsonb_agg(
						jsonb_build_object('job_id', x.job_id, 'attempt', x.attempt + 1,
							'candidate_id', c.candidate_id, 'code', c.code) ORDER BY x.job_id))
					FROM unnest(jobs) AS x JOIN cudal1.candidate AS c USING (candidate_id)) END;
END
$$;
COMMENT ON FUNCTION cudal1.describe_claim IS 'the job document of what a device is about to claim';

CREATE FUNCTION cudal1.claim(device_id bigint, worker text, lease interval DEFAULT '60 seconds',
	most int DEFAULT 1)
RETURNS TABLE (job_id bigint, attempt int, job jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- the claim reads the head of an ordered index, also where the queue has grown since the table was
-- last analysed (30-submit.sql). To plan for the values takes longer than to run the same plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
	SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	moment	CONSTANT timestamptz := clock_timestamp();	-- as in cudal1.end_waiting()
	d		cudal1.device;
	next	record;
	j		cudal1.job;
	members	cudal1.job[];
BEGIN
	PERFORM cudal1.raise_if(worker IS NULL OR worker = '', '22023', 'worker must be a name');
	PERFORM cudal1.raise_if(lease IS NULL OR lease <= '0'::interval, '22023',
		'lease must be a positive interval');
	SELECT x.* INTO d FROM cudal1.device AS x WHERE x.device_id = claim.device_id;
	PERFORM cudal1.raise_if(NOT FOUND, '42704', format('device %s does not exist', device_id),
		'Register it with cudal1.register_device().');
	PERFORM cudal1.check_owner(format('device "%s"', d.device_key), d.owner);
	UPDATE cudal1.device AS x SET last_seen = moment
		WHERE x.device_id = d.device_id AND x.last_seen < moment - '10 seconds'::interval;
	PERFORM cudal1.end_waiting() WHERE EXISTS (SELECT FROM cudal1.job AS x
		WHERE x.state = 'queued' AND x.deadline <= moment);
	PERFORM cudal1.place_waiting() WHERE EXISTS (SELECT FROM cudal1.pool_code AS s WHERE s.waiting)
		OR EXISTS (SELECT FROM cudal1.pool AS p
			WHERE p.seeded_in < pg_snapshot_xmin(pg_current_snapshot()));
	-- what is claimed ahead is to be built meanwhile, not to wait for 20 minutes of an evaluation
	IF NOT d.enabled OR EXISTS (SELECT FROM cudal1.job AS x WHERE x.state = 'running'
			AND x.device_id = d.device_id AND x.kind = 'evaluate') THEN
		RETURN;
	END IF;
	next := cudal1.next_job(d);
	j := next.j;
	IF j.job_id IS NULL THEN
		PERFORM cudal1.use_idle(d)
			WHERE coalesce(nullif(current_setting('cudal1.certify', true), ''), 'on')::boolean;
		RETURN;
	END IF;
	j.device_id := d.device_id;
	members := ARRAY[j] || cudal1.take_mates(j, most);
	-- puts the trainer off by the jobs that are claimed of it
	INSERT INTO cudal1.turn AS t (device_id, trainer, started, due, claimed_at)
		VALUES (d.device_id, j.trainer, next.due, next.due + cardinality(members) / coalesce(
				(SELECT w.weight FROM cudal1.weight AS w WHERE w.trainer = j.trainer),
				CASE j.trainer WHEN '' THEN 0.125 ELSE 1 END), clock_timestamp())
		ON CONFLICT (device_id, trainer) DO UPDATE
			SET started = excluded.started, due = excluded.due, claimed_at = excluded.claimed_at;
	UPDATE cudal1.job AS x
		SET state = 'running', attempt = x.attempt + 1, worker = claim.worker,
			login = cudal1.caller(), device_id = d.device_id, claimed_at = clock_timestamp(),
			heat = CASE WHEN cardinality(members) > 1 THEN j.job_id END,
			lease_until = clock_timestamp() + claim.lease, progress = NULL
		WHERE x.job_id = ANY (ARRAY(SELECT m.job_id FROM unnest(members) AS m));
	-- one that was discarded was proposed again by a transaction that did not see it yet
	UPDATE cudal1.candidate AS c
		SET state = 'measuring', failure = NULL, detail = NULL, score = NULL,
			decided_at = NULL, measurement_id = NULL
		WHERE c.candidate_id = ANY (ARRAY(SELECT m.candidate_id FROM unnest(members) AS m))
			AND c.state IN ('queued', 'discarded') AND j.kind = 'measure';
	RETURN QUERY
		SELECT (members[n]).job_id, (members[n]).attempt + 1,
			CASE WHEN n = 1 THEN cudal1.describe_claim(members, d) END
			FROM generate_subscripts(members, 1) AS n ORDER BY n;
END
$$;
COMMENT ON FUNCTION cudal1.claim IS
'gives a device its next job under a lease (docs/protocol.md, section 1); where there is none, it
queues the check of a reference (setting cudal1.certify)';

CREATE FUNCTION cudal1.heartbeat(job_id bigint, attempt int,
	progress jsonb DEFAULT NULL, lease interval DEFAULT '60 seconds')
RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	device	bigint;
	cancel	boolean;
BEGIN
	-- it does not wait for who changes the job, and may leave that transaction open
	-- (cudal1_cancel): the next one prolongs the lease
	UPDATE cudal1.job AS j
		SET lease_until = clock_timestamp() + coalesce(heartbeat.lease, '60 seconds'::interval),
			progress = CASE WHEN heartbeat.progress IS NULL THEN j.progress
				ELSE coalesce(j.progress - 'held_by', '{}') || jsonb_strip_nulls(jsonb_build_object(
					'phase', CASE jsonb_typeof(heartbeat.progress -> 'phase') WHEN 'string'
						THEN left(heartbeat.progress ->> 'phase', 40) END,
					'held_by', CASE jsonb_typeof(heartbeat.progress -> 'held_by') WHEN 'string'
						THEN left(heartbeat.progress ->> 'held_by', 200) END,
					'pairs', cudal1.json_int(heartbeat.progress -> 'pairs'),
					'rounds', cudal1.json_int(heartbeat.progress -> 'rounds'),
					'estimate', cudal1.json_float(heartbeat.progress -> 'estimate'),
					'lower', cudal1.json_float(heartbeat.progress -> 'lower'),
					'upper', cudal1.json_float(heartbeat.progress -> 'upper'),
					'seconds_left', cudal1.json_float(heartbeat.progress -> 'seconds_left')))
				END
		FROM (SELECT x.job_id FROM cudal1.job AS x
			  WHERE x.job_id = heartbeat.job_id AND x.attempt = heartbeat.attempt
				AND x.state = 'running' AND cudal1.owns(x.login)
			  FOR NO KEY UPDATE SKIP LOCKED) AS mine
		WHERE j.job_id = mine.job_id
		RETURNING j.device_id, j.cancel_requested INTO device, cancel;
	IF NOT FOUND THEN
		RETURN CASE WHEN cudal1.is_claimed(job_id, attempt) THEN 'continue' ELSE 'lost' END;
	END IF;
	UPDATE cudal1.device AS d SET last_seen = clock_timestamp()
		WHERE d.device_id = device AND d.last_seen < clock_timestamp() - '10 seconds'::interval;
	RETURN CASE WHEN cancel THEN 'cancel' ELSE 'continue' END;
END
$$;
COMMENT ON FUNCTION cudal1.heartbeat IS
'prolongs a lease and stores progress; returns continue, cancel or lost (docs/protocol.md)';

CREATE FUNCTION cudal1.lock_claim(job_id bigint, attempt int)
RETURNS cudal1.job LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	j		cudal1.job;
BEGIN
	SELECT x.* INTO j FROM cudal1.job AS x JOIN cudal1.candidate AS c USING (candidate_id)
		WHERE x.job_id = lock_claim.job_id AND x.state = 'running'
			AND x.attempt = lock_claim.attempt AND cudal1.owns(x.login)
		FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED;
	IF NOT FOUND AND cudal1.is_claimed(job_id, attempt) THEN
		j.state := 'later';
	END IF;
	RETURN j;
END
$$;
COMMENT ON FUNCTION cudal1.lock_claim IS
'locks a claimed job and its candidate without waiting. The state that it returns is running, later
where another transaction has one of them, or NULL (fenced off)';

CREATE FUNCTION cudal1.release(job_id bigint, attempt int)
RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	j		cudal1.job := cudal1.lock_claim(job_id, attempt);
BEGIN
	PERFORM cudal1.retry_job(j), cudal1.wake_waiters() WHERE j.state = 'running';
	RETURN CASE j.state WHEN 'running' THEN 'released' ELSE coalesce(j.state, 'lost') END;
END
$$;
COMMENT ON FUNCTION cudal1.release IS
'gives a claim back, which is no failure; released, lost (fenced off), or later as in finish()';

CREATE FUNCTION cudal1.end_waiting(task_id bigint DEFAULT NULL, problem text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	-- the index of deadlines ends at a value, but at a volatile function it is read to its end
	moment	CONSTANT timestamptz := clock_timestamp();
	-- by that index first: asked for in the order of locks, the planner may walk the whole queue
	ids		CONSTANT bigint[] := CASE WHEN task_id IS NULL
		THEN ARRAY(SELECT x.job_id FROM cudal1.job AS x
			WHERE x.state = 'queued' AND x.deadline <= moment
			ORDER BY x.deadline LIMIT 1000)
		ELSE ARRAY(SELECT x.job_id FROM cudal1.job AS x
			WHERE x.task_id = end_waiting.task_id AND x.state = 'queued') END;
BEGIN
	PERFORM cudal1.end_job(w.j,
			CASE WHEN end_waiting.task_id IS NULL THEN 'cancelled' ELSE 'unverified' END, NULL,
			coalesce(problem, 'its deadline passed before a device was free')),
			cudal1.wake_waiters()
		FROM (SELECT x AS j FROM cudal1.job AS x JOIN cudal1.candidate AS c USING (candidate_id)
			WHERE x.job_id = ANY (ids) AND x.state = 'queued'
				AND CASE WHEN end_waiting.task_id IS NULL THEN x.deadline <= moment
					ELSE c.purpose <> 'reference' END
			ORDER BY x.candidate_id, x.job_id
			FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED) AS w;
END
$$;
COMMENT ON FUNCTION cudal1.end_waiting IS
'discards what waits for a task that has a problem, its reference''s check apart; without a task:
what waits beyond its deadline';

CREATE FUNCTION cudal1.take_back(server text, worker text)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	n		bigint;
BEGIN
	-- A dead worker is no failure of its candidate. But a job that was claimed again and again
	-- without ever failing may be what kills the workers: from then on it counts, so that it ends.
	PERFORM cudal1.retry_job(w.j,
			CASE WHEN server IS NULL OR (w.j).attempt - (w.j).failures >= 10 THEN 'lost' END, NULL,
			format('the worker %s was lost while it measured', (w.j).worker))
		-- one that a session is changing just now waits for its lease to end, or for the next call
		FROM (SELECT x AS j FROM cudal1.job AS x JOIN cudal1.candidate AS c USING (candidate_id)
			WHERE x.state = 'running' AND CASE WHEN server IS NULL
				THEN x.lease_until < clock_timestamp()
				ELSE starts_with(x.worker, server || ' ') AND x.worker <> take_back.worker
					AND cudal1.owns(x.login) END
			ORDER BY x.candidate_id, x.job_id
			FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED) AS w;
	GET DIAGNOSTICS n = ROW_COUNT;
	PERFORM cudal1.wake_waiters() WHERE n > 0;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.take_back IS
'requeues what former workers of a server (the beginning of their names) were measuring when they
died; returns the number of jobs. Without a server: jobs whose lease ended, each a failure';

CREATE FUNCTION cudal1.expire_leases()
RETURNS bigint LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
	SELECT cudal1.end_waiting(), cudal1.place_waiting();
	SELECT cudal1.take_back(NULL, NULL);
$$;
COMMENT ON FUNCTION cudal1.expire_leases IS
'requeues running jobs whose lease ended, cancels what is overdue, places what waits for it';

CREATE FUNCTION cudal1.preloaded() RETURNS boolean LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_preloaded';
COMMENT ON FUNCTION cudal1.preloaded IS
'whether the server has cudal1 in shared_preload_libraries, so that it measures by itself';

CREATE FUNCTION cudal1.wake() RETURNS void LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_wake';
COMMENT ON FUNCTION cudal1.wake IS
'when the transaction commits, wakes this database''s worker; agents look every second';

CREATE FUNCTION cudal1.wake_waiters() RETURNS void LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_wake_waiters';
COMMENT ON FUNCTION cudal1.wake_waiters IS
'when the transaction commits, wakes the sessions that wait for a verdict';

CREATE FUNCTION cudal1.sleep_until_verdict(seconds float8) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_sleep_until_verdict';
COMMENT ON FUNCTION cudal1.sleep_until_verdict IS
'sleeps until a transaction that decided something commits, at most so long';

CREATE FUNCTION cudal1.is_own(row_xmin xid) RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'cudal1_is_own';
COMMENT ON FUNCTION cudal1.is_own IS
'whether the current transaction wrote a row with this xmin, subtransactions included';

CREATE FUNCTION cudal1.worker_state(OUT database text, OUT pid int, OUT since timestamptz,
	OUT note text) RETURNS SETOF record LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED ROWS 4
AS 'MODULE_PATHNAME', 'cudal1_worker_state';
COMMENT ON FUNCTION cudal1.worker_state IS
'each database in cudal1.databases: its worker''s process (NULL: none), since when, its note';

CREATE FUNCTION cudal1.check_database() RETURNS boolean LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_check_database';
COMMENT ON FUNCTION cudal1.check_database IS
'whether this database has a worker; warns if not, and says why';

SELECT cudal1.check_database();
