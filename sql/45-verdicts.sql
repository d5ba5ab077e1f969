/*
 * Verdicts: everything that moves a candidate is here, cudal1.finish() and what it calls. The order
 * of locks is at the top of 40-queue.sql.
 */

CREATE FUNCTION cudal1.read_result(result jsonb)
RETURNS cudal1.measurement LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
	r		cudal1.measurement;
	wrong	text;
BEGIN
	BEGIN
		PERFORM cudal1.raise_if(jsonb_typeof(result) IS DISTINCT FROM 'object'
			OR octet_length(result::text) > 33554432, '22023',
			'it is no JSON object of at most 32 MB');
		r := jsonb_populate_record(r, result - '{detail,code_key,accepted}'::text[]);
		-- a text is no number, though a column takes it for one
		SELECT format('member %s is no %s in its range', m.name, m.type) INTO wrong
			FROM (SELECT e.key AS name, jsonb_typeof(e.value) AS type, e.value #>> '{}' AS value
				FROM jsonb_each(jsonb_strip_nulls(to_jsonb(r) - 'samples'::text)) AS e) AS m
			WHERE jsonb_typeof(result -> m.name) <> m.type
				OR CASE m.type WHEN 'number' THEN m.value::numeric NOT BETWEEN 0
						AND CASE WHEN m.name LIKE '%seconds' THEN 1e9 ELSE 1e300 END
					WHEN 'object' THEN octet_length(m.value) > 65536 END
			LIMIT 1;
		r.code_key := decode(result ->> 'code_key', 'hex');
		r.detail := left(result ->> 'detail', 2000);
		r.wide := coalesce(r.wide, false);
		r.environment := coalesce(r.environment, '{}');
		wrong := coalesce(wrong, CASE
			WHEN r.outcome IS NULL OR r.outcome NOT IN ('successful', 'unstable', 'compile_error',
				'launch_failure', 'timeout', 'crash', 'wrong_output', 'cheat', 'unverified', 'lost',
				'cancelled') THEN 'its outcome is unknown'
			WHEN r.outcome = 'successful' AND r.score IS NULL THEN 'a successful one needs a score'
			WHEN r.score NOT BETWEEN 1e-9 AND 1e9 THEN 'its score is out of range'
			WHEN r.wide AND r.half_width IS NULL THEN 'a wide one needs a half_width'
			WHEN r.lower > r.upper THEN 'its interval is empty'
			WHEN octet_length(r.code_key) <> 32 THEN 'its code_key is no SHA-256'
			WHEN array_ndims(r.bucket_means) > 1 OR (0 < ALL (r.bucket_means)) IS NOT TRUE
				AND cardinality(r.bucket_means) > 0
				THEN 'member bucket_means has an element that is no positive number'
			WHEN 'object' <> ANY (ARRAY[jsonb_typeof(r.environment), jsonb_typeof(r.evidence)])
				THEN 'environment and evidence must be objects'
			WHEN jsonb_typeof(r.samples) <> 'array'
				OR jsonb_path_exists(r.samples, 'strict $[*] ? (@.type() != "array")')
				OR jsonb_path_exists(r.samples, 'strict $[*][*] ? (@.type() != "number")')
				THEN 'member samples is no array of arrays of numbers' END);
	EXCEPTION WHEN data_exception THEN
		wrong := SQLERRM;
	END;
	IF wrong IS NOT NULL THEN
		r := NULL;
		r.outcome := 'lost';
		r.wide := false;
		r.environment := '{}';
		r.detail := left('malformed result: ' || wrong, 2000);
	END IF;
	RETURN r;
END
$$;
COMMENT ON FUNCTION cudal1.read_result IS
'a result as the columns of a measurement; a malformed one has the outcome lost';

CREATE FUNCTION cudal1.give_verdict(c cudal1.candidate, failure text, measurement_id bigint,
	detail text, paid cudal1.measurement DEFAULT NULL, import_device text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	ends	CONSTANT text := CASE WHEN failure IS NULL THEN 'successful'
		WHEN failure IN ('unverified', 'lost', 'cancelled') THEN 'discarded' ELSE 'failed' END;
BEGIN
	UPDATE cudal1.candidate AS x
		SET state = ends, failure = give_verdict.failure,
			detail = left(give_verdict.detail, 2000), score = paid.score,
			reward = CASE ends WHEN 'successful' THEN cudal1.conservative_round(paid.score)
				WHEN 'failed' THEN 0 END,
			wide = coalesce(paid.wide, false), half_width = paid.half_width,
			import_device = give_verdict.import_device,
			measurement_id = give_verdict.measurement_id, decided_at = clock_timestamp()
		WHERE x.candidate_id = c.candidate_id;
	-- Other roles wait for it by jobs of their own. One that is locked by its role, or not
	-- committed yet, is dropped when its turn comes.
	DELETE FROM cudal1.job AS x
		WHERE x.job_id = ANY (ARRAY(
			SELECT y.job_id FROM cudal1.job AS y
				WHERE y.candidate_id = c.candidate_id AND y.kind IN ('measure', 'verify')
					AND y.state = 'queued'
				FOR UPDATE SKIP LOCKED));
	PERFORM cudal1.place_candidate(c.candidate_id) WHERE 'successful' IN (ends, c.state);
	-- the reference as its own candidate is good, bad or unchecked then
	PERFORM cudal1.note_reference(t.task_id,
			CASE WHEN failure IS NULL THEN 'good' WHEN failure IN ('lost', 'cancelled')
				THEN 'unchecked' ELSE 'bad' END,
			CASE ends WHEN 'failed' THEN format('%s it fails (%s)%s: %s',
				CASE t.baseline WHEN 'reference' THEN 'as its own candidate'
					ELSE format('as baseline "%s"', t.baseline) END, failure,
				', and its runs change ' || (SELECT m.evidence ->> 'restored'
					FROM cudal1.measurement AS m WHERE m.candidate_id = c.candidate_id
					ORDER BY m.measurement_id DESC LIMIT 1), left(detail, 2000))
				ELSE left(detail, 2000) END, true)
		FROM cudal1.task AS t WHERE c.purpose = 'reference' AND t.task_id = c.task_id;
END
$$;
COMMENT ON FUNCTION cudal1.give_verdict IS
'makes a locked candidate successful (failure NULL), failed, or, for unverified, lost and cancelled,
discarded. import_device: where an imported score was measured';

CREATE FUNCTION cudal1.end_job(j cudal1.job, failure text, measurement_id bigint, detail text)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	c		cudal1.candidate;
BEGIN
	DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
	PERFORM cudal1.store_profile(j, jsonb_build_object('detail', detail))
		WHERE j.kind = 'profile' AND failure = 'lost';
	IF j.kind IN ('measure', 'verify') THEN
		SELECT x.* INTO c FROM cudal1.candidate AS x WHERE x.candidate_id = j.candidate_id
			FOR NO KEY UPDATE;
		IF failure = 'cancelled'
			AND EXISTS (SELECT FROM cudal1.job AS x
						WHERE x.candidate_id = j.candidate_id
							AND x.kind IN ('measure', 'verify')) THEN
			UPDATE cudal1.candidate AS x SET state = 'queued'
				WHERE x.candidate_id = j.candidate_id AND x.state IN ('measuring', 'verifying')
					AND NOT EXISTS (SELECT FROM cudal1.job AS y
									WHERE y.candidate_id = j.candidate_id AND y.state = 'running'
										AND y.kind IN ('measure', 'verify'));
		ELSIF c.state IN ('queued', 'measuring', 'verifying') THEN
			PERFORM cudal1.give_verdict(c, failure, measurement_id, detail);
		END IF;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.end_job IS
'ends a job without a verdict: an undecided candidate is discarded, unless the job was cancelled and
another role has one';

CREATE FUNCTION cudal1.requeue_job(j cudal1.job, failures int, device text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	-- what waits or runs there already does the work; of this one nothing is left to requeue
	DELETE FROM cudal1.job AS x
		WHERE x.job_id = j.job_id AND requeue_job.device <> x.device
			AND EXISTS (SELECT FROM cudal1.job AS y
						WHERE y.candidate_id = x.candidate_id AND y.kind = x.kind
							AND y.profile = x.profile
							AND y.device = requeue_job.device AND y.trainer = x.trainer);
	UPDATE cudal1.job AS x
		SET state = 'queued', failures = requeue_job.failures,
			device = coalesce(requeue_job.device, x.device),
			worker = NULL, device_id = NULL, claimed_at = NULL, lease_until = NULL, progress = NULL
		WHERE x.job_id = j.job_id;
	-- the attempts are the candidate's, whatever role's job they were made by
	UPDATE cudal1.job AS x SET failures = requeue_job.failures
		WHERE x.job_id = ANY (ARRAY(
			SELECT y.job_id FROM cudal1.job AS y
				WHERE y.candidate_id = j.candidate_id AND y.kind = j.kind AND y.state = 'queued'
					AND j.kind = 'measure' AND y.failures < requeue_job.failures
				FOR UPDATE SKIP LOCKED));
	UPDATE cudal1.candidate AS c SET state = 'queued' WHERE c.candidate_id = j.candidate_id
		AND c.state = 'measuring' AND j.kind = 'measure';
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION cudal1.requeue_job IS
'queues a running job again, for another device where given, unless that has it already';

CREATE FUNCTION cudal1.retry_job(j cudal1.job, failure text DEFAULT NULL,
	measurement_id bigint DEFAULT NULL, detail text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	IF j.cancel_requested THEN
		PERFORM cudal1.end_job(j, 'cancelled', measurement_id, 'cancelled while it was measured');
	ELSIF failure IS NULL OR j.failures + 1 < (SELECT p.attempts FROM cudal1.profile AS p
		WHERE p.name = j.profile) THEN
		PERFORM cudal1.requeue_job(j, j.failures + (failure IS NOT NULL)::int);
	ELSE
		PERFORM cudal1.end_job(j, failure, measurement_id, detail);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.retry_job IS
'queues a locked job again, or ends it after the profile''s attempts, or as it is being cancelled';

-- A device whose host is in disorder (a full disk, a driver that is gone) loses what it is given
-- within no time, so it is always the idle one and would spend the attempts of job after job.
CREATE FUNCTION cudal1.note_device(j cudal1.job, d cudal1.device, r cudal1.measurement,
	is_lost boolean)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	most	CONSTANT int := 5;
	n		int;
BEGIN
	UPDATE cudal1.device AS x
		SET lost = CASE WHEN is_lost THEN x.lost + 1 ELSE 0 END,
			lost_candidate = CASE WHEN is_lost THEN j.candidate_id END,
			enabled = x.enabled AND NOT (is_lost AND x.lost + 1 >= most)
		WHERE x.device_id = d.device_id
			AND CASE WHEN is_lost THEN j.failures = 0
				ELSE x.lost > 0 AND r.outcome NOT IN ('lost', 'cancelled') END
		RETURNING x.lost INTO n;
	IF n = most THEN
		RAISE LOG '% candidates in a row were lost on device %, which is disabled: %', n,
			d.device_key, coalesce(r.detail, 'no reason given');
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.note_device IS
'notes whether a job''s first attempt was lost, of which five in a row disable its device';

CREATE FUNCTION cudal1.conclude_without_score(j cudal1.job, c cudal1.candidate,
	r cudal1.measurement, t cudal1.task, model text, is_last boolean)
RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	IF j.cancel_requested OR r.outcome IN ('unverified', 'lost') THEN
		PERFORM cudal1.retry_job(j, r.outcome, r.measurement_id, r.detail);
	ELSIF r.outcome = 'cancelled' THEN
		-- no session asked for it, or the candidate was submitted again since
		PERFORM cudal1.retry_job(j, 'lost', r.measurement_id,
								 coalesce(r.detail, 'the worker gave the measurement up'));
	ELSIF r.outcome = 'unstable' THEN
		-- above a profile's limit on the variance (CUDA-L1, 2.4.4)
		PERFORM cudal1.end_job(j, 'unverified', r.measurement_id, r.detail);
	ELSIF j.kind = 'evaluate'
		OR (j.kind = 'reverify' AND c.state IN ('queued', 'measuring', 'verifying')) THEN
		-- an evaluation adds its row, no more; so does a re-measurement that a submission overtook
		DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
	ELSIF t.device_model <> model THEN
		-- the task was pinned to another model while this one measured
		PERFORM cudal1.requeue_job(j, j.failures, t.device_model);
	ELSIF r.outcome = 'successful' AND j.kind <> 'reverify' AND c.purpose <> 'reference'
		AND t.certified = 'weak' AND cudal1.reference_problem(t) IS NOT NULL THEN
		PERFORM cudal1.end_job(j, 'unverified', r.measurement_id, cudal1.reference_problem(t));
	ELSIF r.outcome = 'successful' THEN
		RETURN false;
	ELSIF j.kind = 'reverify' AND NOT is_last AND r.outcome NOT IN ('wrong_output', 'cheat') THEN
		-- it worked before: that a host is in disorder is likelier than that the code is
		PERFORM cudal1.requeue_job(j, j.failures + 1);
	ELSE
		DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
		UPDATE cudal1.measurement AS m SET accepted = true
			WHERE m.measurement_id = r.measurement_id;
		PERFORM cudal1.give_verdict(c, r.outcome, r.measurement_id, r.detail);
	END IF;
	RETURN true;
END
$$;
COMMENT ON FUNCTION cudal1.conclude_without_score IS
'ends a claim whose score does not count; false: the score counts';

CREATE FUNCTION cudal1.finish(job_id bigint, attempt int, result jsonb)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	j		cudal1.job;
	c		cudal1.candidate;
	t		cudal1.task;
	p		cudal1.profile;
	d		cudal1.device;
	r		cudal1.measurement;
	s		float8;
	paid	cudal1.measurement;	-- the one that decides the candidate
	found	text;				-- of the reference, where nothing was known
BEGIN
	j := cudal1.lock_claim(job_id, attempt);
	IF j.state IS DISTINCT FROM 'running' THEN
		RETURN coalesce(j.state, 'lost');
	END IF;
	IF j.kind = 'profile' THEN
		PERFORM cudal1.store_profile(j, result);
		RETURN 'stored';
	END IF;
	SELECT x.* INTO STRICT c FROM cudal1.candidate AS x WHERE x.candidate_id = j.candidate_id;
	SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = j.task_id;
	SELECT x.* INTO STRICT p FROM cudal1.profile AS x WHERE x.name = j.profile;
	SELECT x.* INTO STRICT d FROM cudal1.device AS x WHERE x.device_id = j.device_id;
	r := cudal1.read_result(result);
	s := CASE WHEN r.outcome = 'successful' THEN r.score END;
	-- What a first result, or one of a check, tells of the task is written to its row, which a
	-- session that retires the task holds. No other result writes to it but what can wait.
	IF c.purpose = 'reference' OR (s IS NOT NULL AND t.device_model IS NULL)
		OR (t.reference_state = 'unchecked' AND result ->> 'reference' IS NOT NULL)
		OR (t.certified IS NULL AND r.evidence ?| '{bytes,weak}') THEN
		SELECT x.* INTO t FROM cudal1.task AS x
			WHERE x.task_id = j.task_id FOR NO KEY UPDATE SKIP LOCKED;
		IF t.task_id IS NULL THEN
			RETURN 'later';
		END IF;
	END IF;
	r.reward := CASE WHEN r.outcome IN ('unverified', 'lost', 'cancelled', 'unstable') THEN NULL
					 WHEN s IS NULL THEN 0 ELSE cudal1.conservative_round(s) END;
	r.measurement_id := nextval('cudal1.measurement_measurement_id_seq');
	r.task_id := j.task_id;
	r.candidate_id := j.candidate_id;
	r.kind := j.kind;
	r.attempt := j.attempt;
	r.device_id := d.device_id;
	r.login := j.login;
	r.device_model := d.model;
	r.profile := j.profile;
	r.accepted := false;
	r.same_device := (SELECT x.hardware = d.hardware
		FROM cudal1.measurement AS m JOIN cudal1.device AS x USING (device_id)
		WHERE m.measurement_id = j.first_measurement);
	r.code_hash := c.code_hash;
	r.measured_at := now();
	INSERT INTO cudal1.measurement VALUES (r.*);
	IF t.certified IS NULL AND r.evidence ?| '{bytes,weak}' THEN
		UPDATE cudal1.task AS x
			SET certified = CASE jsonb_typeof(r.evidence -> 'weak')
					WHEN 'string' THEN 'weak' WHEN 'boolean' THEN 'passed' END,
				certified_detail = CASE jsonb_typeof(r.evidence -> 'weak')
					WHEN 'string' THEN r.evidence ->> 'weak' END,
				bytes = cudal1.json_float(r.evidence -> 'bytes'),
				operations = cudal1.json_float(r.evidence -> 'operations')
			WHERE x.task_id = t.task_id
			RETURNING x.* INTO t;
		PERFORM cudal1.end_waiting(t.task_id, cudal1.reference_problem(t))
			WHERE cudal1.reference_problem(t) IS NOT NULL;
	END IF;
	-- a result that could not be read says nothing of the device
	PERFORM cudal1.note_device(j, d, r, r.outcome = 'lost' AND result ->> 'outcome' = 'lost');
	PERFORM cudal1.wake_waiters();
	-- the reference as its own candidate is judged with that candidate
	-- a baseline is good once it agreed with the reference
	found := CASE WHEN t.reference_state = 'unchecked' AND c.purpose <> 'reference'
			AND (t.baseline = 'reference' OR result ->> 'reference' = 'bad')
		THEN result ->> 'reference' END;
	IF cudal1.conclude_without_score(j, c, r, t, d.model, j.failures + 1 >= p.attempts) THEN
		-- bad, where the attempts are used up
		PERFORM cudal1.note_reference(j.task_id, found, r.detail, false)
			WHERE found = 'good' OR found = 'bad' AND r.outcome = 'unverified'
				AND NOT EXISTS (SELECT FROM cudal1.job AS x WHERE x.job_id = j.job_id);
		RETURN 'stored';
	END IF;

	-- where rewards are measured is not for the reference's check to decide
	IF t.device_model IS NULL AND c.purpose <> 'reference' THEN
		UPDATE cudal1.task AS x SET device_model = d.model WHERE x.task_id = j.task_id;
		-- so that devices of other models need not look at them; what is being claimed right now is
		-- sorted out when it ends
		UPDATE cudal1.job AS x SET device = d.model
			WHERE x.job_id = ANY (ARRAY(SELECT y.job_id FROM cudal1.job AS y
				WHERE y.task_id = j.task_id AND y.kind <> 'evaluate' AND y.state = 'queued'
					AND y.device <> d.model
				FOR UPDATE SKIP LOCKED));
	END IF;
	PERFORM cudal1.note_reference(j.task_id, found, NULL, false) WHERE found = 'good';
	DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
	-- what decided another candidate of the task that compiles to the same
	IF j.kind IN ('measure', 'verify') AND c.purpose <> 'reference' THEN
		SELECT m.* INTO paid
			FROM cudal1.measurement AS m JOIN cudal1.candidate AS x USING (candidate_id)
			WHERE m.task_id = j.task_id AND m.code_key = r.code_key AND m.accepted
				AND m.candidate_id <> j.candidate_id AND m.measurement_id = x.measurement_id
				AND m.device_model = d.model AND m.profile = j.profile
				AND m.protocol IS NOT DISTINCT FROM r.protocol
				AND x.state = 'successful' AND x.purpose <> 'reference'
			ORDER BY m.measurement_id DESC LIMIT 1;
	END IF;
	IF paid.measurement_id IS NULL THEN
		-- a re-measurement that is no higher than the score it repeats is that score's second
		IF j.kind <> 'verify' AND s > p.verify_above
			AND NOT (j.kind = 'reverify' AND c.state = 'successful' AND NOT c.imported
				AND s <= c.score) THEN
			PERFORM cudal1.enqueue('verify', t, j.candidate_id, j.priority + 1000, j.trainer,
				j.profile, d.model, first_measurement => r.measurement_id);
			UPDATE cudal1.candidate AS x SET state = 'verifying'
				WHERE x.candidate_id = j.candidate_id AND x.state IN ('queued', 'measuring');
			PERFORM cudal1.wake();
			RETURN 'stored';
		END IF;
		UPDATE cudal1.measurement AS m SET accepted = true
			WHERE m.measurement_id IN (r.measurement_id, j.first_measurement);
		SELECT m.* INTO STRICT paid FROM cudal1.measurement AS m
			WHERE m.measurement_id IN (r.measurement_id, j.first_measurement)
			ORDER BY m.score, m.measurement_id LIMIT 1;
	END IF;
	PERFORM cudal1.give_verdict(c, NULL, paid.measurement_id, paid.detail, paid);
	RETURN 'stored';
END
$$;
COMMENT ON FUNCTION cudal1.finish IS
'stores the result of a claim and what follows of it; returns stored, lost (fenced off), or later,
where an open transaction has the job or its task: then nothing is written';

CREATE FUNCTION cudal1.is_correct(c cudal1.candidate)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN c.state = 'successful' OR c.state = 'discarded' AND c.failure = 'unverified'
	AND EXISTS (SELECT FROM cudal1.measurement AS m
		WHERE m.measurement_id = c.measurement_id AND m.outcome IN ('successful', 'unstable'));
COMMENT ON FUNCTION cudal1.is_correct IS
'whether a candidate passed all checks, with or without a time (CUDA-L1, 2.2 and 2.3)';
