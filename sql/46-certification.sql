/*
 * Certification: does a task tell work from the lack of it, and can its reference be measured?
 * docs/tasks.md has the questions, and runner/supervisor/checks/weak.c asks the first one.
 *
 * A reference that is checked is a candidate like others, but without a proposal. Its purpose keeps
 * it out of buckets and reports, and its hash is salted, so that a proposal of the same text is a
 * candidate of its own. Each measurement tells this of its reference, too, so a task whose first
 * candidate comes before the check needs none.
 */

CREATE FUNCTION cudal1.note_reference(task_id bigint, verdict text, detail text, checked boolean)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	problem	text;
BEGIN
	-- what was good once stays so but for another check: a host in disorder is likelier
	UPDATE cudal1.task AS t
		SET reference_state = note_reference.verdict,
			reference_detail = CASE WHEN note_reference.verdict <> 'good'
									THEN coalesce(note_reference.detail, 'no reason given') END
		WHERE t.task_id = note_reference.task_id
			AND (t.reference_state = 'unchecked'
				 OR note_reference.checked AND note_reference.verdict <> 'unchecked')
		RETURNING cudal1.reference_problem(t) INTO problem;
	PERFORM cudal1.end_waiting(note_reference.task_id, problem) WHERE problem IS NOT NULL;
END
$$;
COMMENT ON FUNCTION cudal1.note_reference IS
'writes a verdict on a reference, if there is none or this one comes from a check; candidates that
wait for a bad one are discarded';

CREATE FUNCTION cudal1.enqueue_reference(t cudal1.task)
RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	code	CONSTANT text := CASE
		WHEN t.baseline <> 'reference' THEN cudal1.baseline_code(t, t.baseline)
		WHEN t.signature IS NULL THEN t.reference
			|| E'\n\n\n# the reference as its own candidate\nclass ModelNew(Model):\n    pass\n'
		ELSE t.reference || E'\n/* the reference as its own candidate */\n' END;
	id		bigint;
BEGIN
	INSERT INTO cudal1.candidate AS c (task_id, code, code_hash, purpose)
		VALUES (t.task_id, code, cudal1.salted_hash('reference', code), 'reference')
		ON CONFLICT (task_id, code_hash) DO UPDATE
			SET state = 'queued', failure = NULL, detail = NULL, reward = NULL, score = NULL,
				wide = false, half_width = NULL, decided_at = NULL, measurement_id = NULL
			WHERE c.state IN ('successful', 'failed', 'discarded')
		RETURNING c.candidate_id INTO id;
	-- the task is not locked, because its verdicts would wait for this transaction
	PERFORM cudal1.enqueue('measure', t, id, -1000000000, '', 'certify'), cudal1.wake()
		WHERE id IS NOT NULL;
	RETURN id IS NOT NULL;
END
$$;
COMMENT ON FUNCTION cudal1.enqueue_reference IS
'queues the check of a task''s reference, or baseline; false: it is queued already';

CREATE FUNCTION cudal1.use_idle(d cudal1.device)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET lock_timeout = '20ms'
AS $$
DECLARE
	t		cudal1.task;
BEGIN
	SELECT x.* INTO t FROM cudal1.task AS x
		WHERE x.reference_state = 'unchecked' AND x.reference_detail IS NULL
			AND x.retired_at IS NULL AND (x.options ->> 'certify') IS DISTINCT FROM 'false'
			AND coalesce(x.device_model, x.device) IN (d.class, d.model, d.device_key)
			AND x.cores <= d.cores AND x.language = ANY (d.languages)
			-- a measurement under way will tell
			AND NOT EXISTS (SELECT FROM cudal1.job AS j
				WHERE j.state = 'running' AND j.task_id = x.task_id)
			AND NOT EXISTS (SELECT FROM cudal1.candidate AS c
				WHERE c.task_id = x.task_id AND c.purpose = 'reference' AND c.state = 'queued')
		ORDER BY x.task_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
	PERFORM cudal1.enqueue_reference(t) WHERE FOUND;
EXCEPTION WHEN lock_not_available THEN
	RETURN;
END
$$;
COMMENT ON FUNCTION cudal1.use_idle IS
'gives an idle device the check of a reference of which nothing is known';

CREATE FUNCTION @extschema@.cudal1_check_reference(task text)
RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	queued	boolean;
BEGIN
	PERFORM cudal1.check_owner(format('task "%s"', t.name), t.created_by);
	queued := cudal1.enqueue_reference(t);
	PERFORM cudal1.warn_no_device(t) WHERE queued;
	RETURN queued;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_check_reference(text) IS
'has the reference of a task checked (again), behind all other work: it loads, runs, fits the
memory, agrees with itself in two processes and two orders of inputs, answers to its inputs, and is
measured as its own candidate. Without being asked, a device that has nothing to do checks a task
that is unchecked, unless the setting cudal1.certify is off or the task''s option certify is false;
so does the first measurement of a candidate. False: its check is queued already. For the role that
added the task and operators. Errors: 42704 unknown task, 42501 another role''s';

CREATE FUNCTION @extschema@.cudal1_certify_task(task text)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	queued	boolean := t.certified IS NULL AND cudal1.enqueue_reference(t);
BEGIN
	PERFORM cudal1.warn_no_device(t) WHERE queued;
	RETURN queued::int;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_certify_task(text) IS
'queues, behind all other work, the measurement of a task''s reference as its own candidate, if the
task is not certified and this does not wait already; returns the number of jobs, 1 or 0. Each first
measurement of a task certifies it: it tells whether zeros, a copy of an input, the output for other
inputs, work on half of an input, on its means or on the later half of its steps, or means of the
outputs would be right. Probes do not count for them. cudal1.task.certified then says weak and
certified_detail what is right, or passed. cudal1_check_reference() says when that is done without
being asked. Error 42704: unknown task';
