/*
 * Mistakes taken back. Nothing is deleted: a retired task keeps its history, a withdrawn candidate its measurements.
 */

CREATE FUNCTION cudal1.stop_jobs(task_id bigint, candidate_id bigint, detail text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	j		cudal1.job;
BEGIN
	FOR j IN
		SELECT x.* FROM cudal1.job AS x
			WHERE (x.task_id = stop_jobs.task_id OR x.candidate_id = stop_jobs.candidate_id) AND NOT x.cancel_requested
			ORDER BY x.candidate_id, x.job_id
			FOR UPDATE
	LOOP
		IF j.state = 'running' THEN
			UPDATE cudal1.job AS x SET cancel_requested = true WHERE x.job_id = j.job_id;
		ELSE
			PERFORM cudal1.end_job(j, 'cancelled', NULL, stop_jobs.detail);
		END IF;
	END LOOP;
	PERFORM cudal1.wake();
	PERFORM cudal1.wake_waiters();
END
$$;
COMMENT ON FUNCTION cudal1.stop_jobs(bigint, bigint, text) IS
'ends all jobs of a task or of a candidate: waiting ones at once, running ones as soon as their worker has stopped';

CREATE FUNCTION cudal1.check_reason(reason text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF reason IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'reason must not be null';
	ELSIF NOT cudal1.matches(reason, '[^[:space:]]', 1900) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'reason must be a text of 1 to 1900 bytes';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_reason(text) IS 'error 22004 or 22023 for a reason that says nothing, or too much';

CREATE FUNCTION cudal1.own_task(task text)
RETURNS cudal1.task
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task;
BEGIN
	SELECT x.* INTO t FROM cudal1.task AS x WHERE x.name = own_task.task;
	IF NOT FOUND THEN
		t := cudal1.find_task(task);	-- raises the error
	END IF;
	PERFORM cudal1.check_owner(format('task "%s"', t.name), t.created_by);
	RETURN t;
END
$$;
COMMENT ON FUNCTION cudal1.own_task(text) IS 'the caller''s task of this name, retired or not; error 42704 where there is none, 42501 where it is another role''s';

CREATE FUNCTION @extschema@.cudal1_retire_task(task text, reason text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task := cudal1.own_task(task);
BEGIN
	PERFORM cudal1.check_reason(reason);
	-- jobs are locked before tasks, as everywhere
	PERFORM cudal1.stop_jobs(t.task_id, NULL, 'the task is retired: ' || reason);
	UPDATE cudal1.task AS x SET retired_at = clock_timestamp(), retired_by = cudal1.caller(), retired_reason = reason
		WHERE x.task_id = t.task_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_retire_task(text, text) IS
'takes a task out of draws, prompts, submissions, campaigns, data sets, the queue and reports, with a reason; its candidates and measurements stay. What waits is discarded, what runs is stopped. For the role that added it and operators. The name stays taken; cudal1_restore_task() takes it back. Errors: 42704 unknown task, 42501 another role''s, 22004 and 22023 no reason';

CREATE FUNCTION @extschema@.cudal1_restore_task(task text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task := cudal1.own_task(task);
BEGIN
	UPDATE cudal1.task AS x SET retired_at = NULL, retired_by = NULL, retired_reason = NULL
		WHERE x.task_id = t.task_id AND x.retired_at IS NOT NULL;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_restore_task(text) IS
'brings a retired task back; codes that were discarded as it was retired are measured when they are submitted again. A task that is not retired stays as it is. Errors: 42704 unknown task, 42501 another role''s';

CREATE FUNCTION @extschema@.cudal1_withdraw(candidate_id bigint, reason text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	c		cudal1.candidate;
BEGIN
	PERFORM cudal1.check_ids('candidate_id', ARRAY[cudal1_withdraw.candidate_id]);
	PERFORM cudal1.check_candidates(ARRAY[cudal1_withdraw.candidate_id]);
	PERFORM cudal1.check_reason(reason);
	PERFORM cudal1.stop_jobs(NULL, cudal1_withdraw.candidate_id, 'withdrawn');
	SELECT x.* INTO STRICT c FROM cudal1.candidate AS x WHERE x.candidate_id = cudal1_withdraw.candidate_id FOR NO KEY UPDATE;
	PERFORM cudal1.reject_candidate(c, 'withdrawn', c.measurement_id, format('withdrawn by an operator: %s', reason));
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_withdraw(bigint, text) IS
'an operator''s verdict on a code that should not have counted: the candidate has failed (reward 0, failure withdrawn, the reason in detail), leaves buckets, islands and reports, its evaluations included, and is not measured again when it is proposed again. Its measurements stay. Operators only. Errors: 42704 unknown candidate, 22004 and 22023 no reason';
