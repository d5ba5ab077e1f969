/*
 * What a trainer does with a submission: wait for it, or take it back.
 */

CREATE FUNCTION @extschema@.cudal1_reward(candidate_id bigint)
RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
RETURN (SELECT c.reward FROM cudal1.candidate AS c
	WHERE c.candidate_id = cudal1_reward.candidate_id);
COMMENT ON FUNCTION @extschema@.cudal1_reward(bigint) IS
'the reward of a candidate: conservatively rounded speedup, 0 unsuccessful, NULL unknown, undecided
or discarded';

/*
 * A waiting session sleeps until a transaction that decided something commits, then looks again
 * with a new snapshot. Two waits would never end, so they are errors.
 */
CREATE FUNCTION @extschema@.cudal1_wait(candidate_ids bigint[],
	timeout interval DEFAULT '30 seconds')
RETURNS TABLE (candidate_id bigint, state text, reward float8)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	pending	bigint[] := candidate_ids;
	until	timestamptz;
	seconds	float8;			-- that are left
BEGIN
	PERFORM cudal1.raise_if(timeout IS NULL, '22004', 'timeout must not be null');
	PERFORM cudal1.raise_if(timeout < '0'::interval, '22023', 'timeout must not be negative');
	until := clock_timestamp() + least(timeout, '30 years'::interval);
	PERFORM cudal1.raise_if(
		current_setting('transaction_isolation') IN ('repeatable read', 'serializable'), '25001',
		'cudal1_wait() needs transaction isolation level read committed',
		'Call it outside of a transaction, with default_transaction_isolation '
			'''read committed''.', 'The snapshot of this transaction never shows a verdict.');
	PERFORM cudal1.check_candidates(candidate_ids);
	PERFORM cudal1.raise_if(true, '25001', format('cannot wait for candidate %s, which this '
			'transaction wrote', c.candidate_id), 'Commit first, then call cudal1_wait().',
			'No worker sees it before the transaction commits.')
		FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (candidate_ids)
			AND (cudal1.is_own(c.xmin) OR EXISTS (SELECT FROM cudal1.job AS j
				WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify')
					AND cudal1.is_own(j.xmin)));
	LOOP
		pending := ARRAY(SELECT c.candidate_id FROM cudal1.candidate AS c
			WHERE c.candidate_id = ANY (pending)
				AND (c.state IN ('queued', 'measuring', 'verifying')
					-- a session that submits an imported code waits for its measurement
					OR c.imported AND EXISTS (SELECT FROM cudal1.job AS j
						WHERE j.candidate_id = c.candidate_id
							AND j.kind IN ('measure', 'verify'))));
		seconds := extract(epoch FROM until - clock_timestamp());
		EXIT WHEN pending = '{}' OR seconds <= 0;
		PERFORM cudal1.sleep_until_verdict(seconds);
	END LOOP;
	RETURN QUERY SELECT c.candidate_id, c.state, c.reward
		FROM unnest(candidate_ids) WITH ORDINALITY AS u (id, n)
			JOIN cudal1.candidate AS c ON c.candidate_id = u.id
		ORDER BY u.n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_wait(bigint[], interval) IS
'one row per element, in order, as soon as all candidates are final or, at the timeout, as they
stand; call it in a loop, with a timeout of tens of seconds: a call keeps its snapshot, so that
until it returns VACUUM cannot clean up behind the queue. A candidate with an imported score is
final once no measurement of it is queued. Its own columns are fresh; a table that the same
statement reads is as it was when the statement began. Errors: 42704 unknown id; 25001 for
candidates written by the current transaction, or above READ COMMITTED';

CREATE FUNCTION cudal1.decides(j cudal1.job)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN j.kind = 'measure'
	OR j.kind = 'verify' AND EXISTS (SELECT FROM cudal1.candidate AS c
		WHERE c.candidate_id = j.candidate_id
			AND (c.state IN ('queued', 'measuring', 'verifying') OR c.imported));
COMMENT ON FUNCTION cudal1.decides IS 'whether a candidate''s verdict waits for a job';

CREATE FUNCTION @extschema@.cudal1_cancel(candidate_ids bigint[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	id		bigint;
	jobs	bigint[];
	hit		boolean;
	n		bigint := 0;
BEGIN
	PERFORM cudal1.check_candidates(candidate_ids);
	PERFORM cudal1.raise_if(true, '42501',
			format('candidate %s was not proposed by role "%s"', u.id, cudal1.caller()),
			'A role cancels what it proposed, or what a role proposed that it is a member of.',
			(SELECT coalesce('It was proposed by '
				|| string_agg(DISTINCT format('role "%s"', p.created_by), ', ') || '.',
				'No role proposed it.') FROM cudal1.proposal AS p WHERE p.candidate_id = u.id))
		FROM unnest(cudal1_cancel.candidate_ids) AS u(id)
		-- an operator cancels what no role proposed, too
		WHERE NOT cudal1.is_operator() AND NOT EXISTS (SELECT FROM cudal1.proposal AS p
			WHERE p.candidate_id = u.id AND cudal1.owns(p.created_by));
	FOR id IN SELECT DISTINCT u.id FROM unnest(cudal1_cancel.candidate_ids) AS u(id)
		ORDER BY u.id LOOP
		hit := false;
		UPDATE cudal1.proposal AS p SET wanted = false
			WHERE p.candidate_id = id AND p.wanted AND cudal1.owns(p.created_by);
		-- Jobs of another role that wants the candidate are not locked, because they would wait for
		-- this transaction. Two roles that cancel at the same moment each see the other's proposal,
		-- so the measurement goes on.
		IF EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.candidate_id = id AND p.wanted) THEN
			DELETE FROM cudal1.job AS x
				WHERE x.candidate_id = id AND x.kind = 'measure' AND x.state = 'queued'
					AND cudal1.owns(x.trainer)
					AND EXISTS (SELECT FROM cudal1.job AS y
								WHERE y.candidate_id = id AND y.kind IN ('measure', 'verify')
									AND NOT cudal1.owns(y.trainer));
			CONTINUE;
		END IF;
		-- The session that holds the job may replace it by a verification, so this looks until no
		-- job is left.
		LOOP
			jobs := ARRAY(SELECT x.job_id FROM cudal1.job AS x
				WHERE x.candidate_id = id AND cudal1.decides(x) AND NOT x.cancel_requested);
			EXIT WHEN jobs = '{}' OR EXISTS (SELECT FROM cudal1.proposal AS p
				WHERE p.candidate_id = id AND p.wanted);
			hit := cudal1.stop_jobs(jobs, 'cancelled before it was measured', true) > 0 OR hit;
		END LOOP;
		-- after a restore a candidate may be undecided without a job
		PERFORM cudal1.give_verdict(w.c, 'cancelled', NULL, 'cancelled before it was measured')
			FROM (SELECT x AS c FROM cudal1.candidate AS x
				WHERE x.candidate_id = id AND x.state IN ('queued', 'measuring', 'verifying')
					AND NOT EXISTS (SELECT FROM cudal1.job AS y
						WHERE y.candidate_id = x.candidate_id AND y.kind IN ('measure', 'verify'))
				FOR NO KEY UPDATE) AS w WHERE NOT hit;
		n := n + (hit OR FOUND)::int;
	END LOOP;
	PERFORM cudal1.wake_waiters() WHERE n > 0;
	IF n = 0 AND candidate_ids <> '{}' THEN
		RAISE NOTICE 'nothing was cancelled: the candidates have their verdicts, or other '
			'roles want them';
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_cancel(bigint[]) IS
'withdraws the caller''s proposals of candidates and cancels their measurement; returns how many
were cancelled. A candidate that another role proposed, too, goes on and does not count. Waiting
ones are discarded at once, running ones as soon as their worker has stopped, whatever it reports.
Decided candidates stay as they are and don''t count (a NOTICE where that is so for all); a
submission with another proposal_key, or none, queues a cancelled one again. Errors: 42704 unknown
id, 42501 a candidate that the caller did not propose: then none is cancelled';
